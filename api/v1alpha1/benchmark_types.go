package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Benchmark makes BenchmarkRuns and answers questions with them: which variant is faster, whether something got
// worse, where a server breaks.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bm,categories=assay
// +kubebuilder:printcolumn:name="Round",type=integer,JSONPath=`.status.round.number`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Cells",type=integer,JSONPath=`.status.round.cells`
// +kubebuilder:printcolumn:name="Blocks",type=integer,JSONPath=`.status.round.completedBlocks`
// +kubebuilder:printcolumn:name="Runs",type=integer,JSONPath=`.status.round.finishedRuns`
// +kubebuilder:printcolumn:name="Expected end",type=date,priority=1,JSONPath=`.status.round.expectedCompletionTime`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Succeeded")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,32}[a-z0-9])?$')",message="metadata.name must have at most 34 characters, lowercase letters, digits and '-' only: the names of the runs begin with it"
type Benchmark struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what to run, what to compare and when.
	// +required
	Spec BenchmarkSpec `json:"spec,omitempty,omitzero"`

	// status reports the round under way, and the conclusions of the last one.
	// +default={"observedGeneration": -1}
	// +optional
	Status BenchmarkStatus `json:"status,omitempty,omitzero"`
}

// BenchmarkList is a list of Benchmarks.
//
// +kubebuilder:object:root=true
type BenchmarkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Benchmark `json:"items"`
}

// AnnotationRunRound asks for a round of a Benchmark: whenever its value changes, a round begins.
const AnnotationRunRound = "assay.dev/run-round"

// AnnotationCancelRound cancels the round of a Benchmark whose number is its value. The run under way is
// deleted.
const AnnotationCancelRound = "assay.dev/cancel-round"

// AnnotationAcceptRound accepts the round of a Benchmark whose number is its value as the baseline of later
// rounds, whatever its verdict: the newest completed round that has an artifact. Each value is answered once, in
// status.acceptance. A space and any text may follow the number, such as the time: another text is another request.
const AnnotationAcceptRound = "assay.dev/accept-round"

// AnnotationNote is the annotation of a BenchmarkRun or Benchmark whose value stands as a note in its reports.
const AnnotationNote = "assay.dev/note"

// BenchmarkSpec says what to run, what to compare and when. A change of anything but suspend, schedule,
// rerun, history and onInconclusive cancels the round under way.
//
// +kubebuilder:validation:XValidation:rule="!has(self.comparison) || !has(self.comparison.baseline.cell) || has(self.axes)",fieldPath=".comparison.baseline.cell",message="comparison.baseline.cell needs axes: a single cell can only be compared with other rounds or runs"
// +kubebuilder:validation:XValidation:rule="!has(self.comparison) || !has(self.capacity) || has(self.repetitions)",fieldPath=".repetitions",message="repetitions must be set when comparison is set beside capacity: a search repeats nothing to compare"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.alternation)",fieldPath=".template.spec.alternation",message="template.spec.alternation must not be set: use repetitions.order Alternating"
// +kubebuilder:validation:XValidation:rule="!has(self.claims) || has(self.axes)",fieldPath=".claims",message="claims need axes: a claim compares two cells"
// +kubebuilder:validation:XValidation:rule="!has(self.repetitions)||!has(self.repetitions.max)||has(self.claims)||has(self.comparison)&&self.comparison.metrics.exists(m,!has(m.role)||m.role=='Gate')",fieldPath=".repetitions.max",message="max needs claims or gate metrics, which it waits for"
// +kubebuilder:validation:XValidation:rule="!has(self.claims) || !has(self.capacity) || has(self.repetitions)",fieldPath=".repetitions",message="repetitions must be set when claims are set beside capacity: a search repeats nothing to compare"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>1||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*100<=(100-self.confidencePercent)",message="need 2 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>2||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*100<=(100-self.confidencePercent)*2",message="need 3 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>3||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)",message="need 4 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>4||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*2",message="need 5 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>5||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*4",message="need 6 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>6||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*8",message="need 7 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>7||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*16",message="need 8 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>8||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*32",message="need 9 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>9||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*64",message="need 10 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>10||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*128",message="need 11 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>11||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*256",message="need 12 blocks"
// +kubebuilder:validation:XValidation:rule="self.?repetitions.max.or(self.?repetitions.min).orValue(10)>12||(self.?claims.orValue([]).size()+(has(self.comparison)?self.comparison.metrics.filter(m,!has(m.role)||m.role=='Gate').size():0))*25<=(100-self.confidencePercent)*512",message="need 13 blocks"
type BenchmarkSpec struct {
	// template is the BenchmarkRun that the axes vary.
	// +required
	Template BenchmarkRunTemplate `json:"template,omitempty,omitzero"`

	// axes vary the template. Each combination of their values is a cell. Without axes there is one
	// cell, the template itself.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Axes []Axis `json:"axes,omitempty"`

	// exclude leaves out cells: every combination that has all values of an entry.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Exclude []CellSelector `json:"exclude,omitempty"`

	// repetitions say how often each cell is run, and in which order. Defaults to 10 blocks, unless
	// capacity is set.
	// +optional
	Repetitions *Repetitions `json:"repetitions,omitempty"`

	// claims are the questions of the Benchmark. Each ends Confirmed, Contradicted or Undecided. A round without
	// claims and without gate metrics ends as Measured.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Claims []Claim `json:"claims,omitempty"`

	// comparison compares the cells with a baseline. Its gate metrics are claims as well: that no compared cell is
	// worse than its baseline by more than the tolerance.
	// +optional
	Comparison *Comparison `json:"comparison,omitempty"`

	// confidencePercent is the probability with which all verdicts on claims and gate metrics of a round are right, in
	// percent. Each other interval has it by itself. Defaults to 95.
	// +default=95
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=99
	// +optional
	ConfidencePercent *int32 `json:"confidencePercent,omitempty"`

	// onInconclusive is the exit code of kubectl assay for an inconclusive round: 5, which fails a
	// pipeline (Fail), or that of one that passed, 0 (Pass). Defaults to Fail.
	// +default="Fail"
	// +optional
	OnInconclusive InconclusivePolicy `json:"onInconclusive,omitempty"`

	// capacity searches for the largest load that each cell sustains.
	// +optional
	Capacity *Capacity `json:"capacity,omitempty"`

	// rerun says whether a change of the spec begins a round: OnChange or Never. Defaults to OnChange.
	// +default="OnChange"
	// +optional
	Rerun Rerun `json:"rerun,omitempty"`

	// schedule begins rounds at given times.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`

	// suspend keeps rounds from beginning, and the round under way from creating further runs, while
	// true. The run under way is completed. Defaults to false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// history says how many completed rounds are kept. Defaults to 3 that passed and 3 others.
	// +default={"passed": 3, "failed": 3}
	// +optional
	History History `json:"history,omitempty,omitzero"`
}

// BenchmarkRunTemplate describes the runs of a Benchmark.
type BenchmarkRunTemplate struct {
	// metadata has labels and annotations of the runs.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the runs, which axes change; kubectl explain benchmarkrun.spec describes its
	// fields. Runs of a round are created one at a time, so that the order of the lane is that of the round.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitempty,omitzero"`
}

// TemplateMetadata is the metadata that a template gives to objects.
type TemplateMetadata struct {
	// labels are added to those that the operator sets.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are the runs' annotations.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// CellSelector selects cells by the names of axes' values, by the axes' names. The name of a plain value is
// the value as a string, or its position, as in "#2", if it is an object or a list.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=8
type CellSelector map[string]string

// InconclusivePolicy says how pipelines take an inconclusive round.
//
// +kubebuilder:validation:Enum=Fail;Pass
type InconclusivePolicy string

// The values of InconclusivePolicy.
const (
	InconclusiveFails  InconclusivePolicy = "Fail"
	InconclusivePasses InconclusivePolicy = "Pass"
)

// Rerun says whether a change of the spec begins a round.
//
// +kubebuilder:validation:Enum=OnChange;Never
type Rerun string

// The values of Rerun.
const (
	RerunOnChange Rerun = "OnChange"
	RerunNever    Rerun = "Never"
)

// Schedule begins rounds at given times, as a CronJob does. A round that is due while another is under
// way is skipped.
type Schedule struct {
	// cron has the times: minute, hour, day of the month, month and day of the week, such as "0 2 * * *".
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=128
	// +required
	Cron string `json:"cron,omitempty"`

	// timeZone is the name of the time zone of cron, such as Europe/Berlin. Defaults to UTC.
	// +default="UTC"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// startingDeadlineSeconds is the time after which a round that could not begin at its time is
	// skipped, in seconds. Defaults to 3600.
	// +default=3600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	// +optional
	StartingDeadlineSeconds *int32 `json:"startingDeadlineSeconds,omitempty"`
}

// History says how many completed rounds are kept, with their runs and artifacts. The last one that
// passed is kept in any case.
type History struct {
	// passed is the number of rounds that passed, or were measured. Defaults to 3.
	// +default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Passed *int32 `json:"passed,omitempty"`

	// failed is the number of rounds with another verdict. Defaults to 3.
	// +default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Failed *int32 `json:"failed,omitempty"`
}
