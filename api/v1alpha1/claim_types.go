package v1alpha1

// Claim is a statement about a metric of two cells, such as: the p99 of cell is lower than that of than by at least
// 10%.
//
// +kubebuilder:validation:XValidation:rule="!has(self.request) || self.metric.startsWith('Latency') || self.metric in ['ErrorRate', 'RequestsPerSecond', 'BytesPerSecond']",fieldPath=".request",message="a request has latencies, ErrorRate, RequestsPerSecond and BytesPerSecond only: omit request"
// +kubebuilder:validation:XValidation:rule="!has(self.level) || !has(self.request)",fieldPath=".level",message="level and request must not both be set: levels have metrics of all requests only"
// +kubebuilder:validation:XValidation:rule="!has(self.level) || !self.metric.startsWith('BreakingPoint') && !(self.metric in ['TargetCPUPerRequest', 'ClientCPUPerRequest'])",fieldPath=".level",message="a level has neither breaking points nor CPU times per request: omit level"
// +kubebuilder:validation:XValidation:rule="self.is != 'Same' || !has(self.byAtLeastPercent)",fieldPath=".byAtLeastPercent",message="byAtLeastPercent belongs to Lower and Higher: use withinPercent with Same"
// +kubebuilder:validation:XValidation:rule="self.is == 'Same' || !has(self.withinPercent)",fieldPath=".withinPercent",message="withinPercent belongs to Same: use byAtLeastPercent with Lower and Higher"
// +kubebuilder:validation:XValidation:rule="self.is != 'Lower' || self.?byAtLeastPercent.orValue(0) < 100",fieldPath=".byAtLeastPercent",message="byAtLeastPercent must be below 100 with Lower: no value is lower by more than 100%"
// +kubebuilder:validation:XValidation:rule="self.cell != self.than",fieldPath=".than",message="than must be another cell"
type Claim struct {
	// name is the claim's name in reports and in the status.
	// +required
	Name DNSLabel `json:"name,omitempty"`

	// metric is the metric of which the claim is.
	// +required
	Metric BenchmarkMetric `json:"metric,omitempty"`

	// request is the name of one of load.requests, whose metric it is. If not set, the metric is of all requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Request string `json:"request,omitempty"`

	// level is the number of one of load.stages.levels, from 1, whose metric it is. If not set, the metric is of the
	// whole measurement.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	// +optional
	Level *int32 `json:"level,omitempty"`

	// cell selects the cell that the claim is about: one value of each axis. Axes with a single value may be omitted.
	// +required
	Cell CellSelector `json:"cell,omitempty"`

	// than selects the cell that it is compared with, as cell does.
	// +required
	Than CellSelector `json:"than,omitempty"`

	// is says how cell's metric compares with than's: Lower, Higher or Same.
	// +required
	Is ClaimRelation `json:"is,omitempty"`

	// byAtLeastPercent is the least difference with Lower and Higher, in percent of than's metric. Defaults to 0: any
	// difference.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	ByAtLeastPercent *int32 `json:"byAtLeastPercent,omitempty"`

	// withinPercent is the largest difference with Same, in percent of than's metric. Defaults to 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	// +optional
	WithinPercent *int32 `json:"withinPercent,omitempty"`
}

// ClaimRelation says how a metric compares with another.
//
// +kubebuilder:validation:Enum=Lower;Higher;Same
type ClaimRelation string

// The values of ClaimRelation.
const (
	ClaimLower  ClaimRelation = "Lower"
	ClaimHigher ClaimRelation = "Higher"
	ClaimSame   ClaimRelation = "Same"
)

// ClaimVerdict is the outcome of a claim.
//
// +kubebuilder:validation:Enum=Confirmed;Contradicted;Undecided
type ClaimVerdict string

// The values of ClaimVerdict.
const (
	ClaimConfirmed    ClaimVerdict = "Confirmed"
	ClaimContradicted ClaimVerdict = "Contradicted"
	ClaimUndecided    ClaimVerdict = "Undecided"
)

// ClaimStatus is the answer to a claim.
type ClaimStatus struct {
	// name is the claim's name or, of a gate metric, not-worse/METRIC/CELL.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1200
	// +required
	Name string `json:"name,omitempty"`

	// verdict is Confirmed (the whole interval agrees with the claim), Contradicted (none of it does) or Undecided.
	// +required
	Verdict ClaimVerdict `json:"verdict,omitempty"`

	// percent is the estimated difference of cell from than in percent of than, such as "-3.2".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Percent string `json:"percent,omitempty"`

	// lowPercent is the lower end of the confidence interval.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	LowPercent string `json:"lowPercent,omitempty"`

	// highPercent is the upper end of the confidence interval.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	HighPercent string `json:"highPercent,omitempty"`

	// detectablePercent is the smallest difference that a round like this one finds in 4 of 5 cases.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	DetectablePercent string `json:"detectablePercent,omitempty"`

	// blocks is the number of whole blocks that decided.
	// +optional
	Blocks *int32 `json:"blocks,omitempty"`

	// blocksToDecide is the number of blocks that would probably decide, from the spread seen.
	// +optional
	BlocksToDecide *int32 `json:"blocksToDecide,omitempty"`

	// message says why the cells could not be compared.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}
