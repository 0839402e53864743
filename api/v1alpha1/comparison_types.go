package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Repetitions say how often each cell is run. A block has every cell once.
//
// +kubebuilder:validation:XValidation:rule="!has(self.max) || self.max >= self.min",fieldPath=".max",message="max must be at least min"
type Repetitions struct {
	// min is the number of blocks after which the round may end, the first at which it looks. Defaults to 10.
	// +default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Min *int32 `json:"min,omitempty"`

	// max is the number of blocks after which the round ends in any case. Between min and max it ends at the first whole
	// block at which all claims and gate metrics are decided. If not set, it ends after min.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Max *int32 `json:"max,omitempty"`

	// order is the order of the runs. RandomizedBlocks runs the cells of a block one after the other, in random
	// order. Alternating runs the two to four cells of a block at the same time, and alternates the load between
	// them each second: drift of the machine is then the same for all. Defaults to RandomizedBlocks.
	// +default="RandomizedBlocks"
	// +optional
	Order RunOrder `json:"order,omitempty"`

	// invalidRuns says what happens with runs that have no valid result.
	// +default={"replace": 3}
	// +optional
	InvalidRuns InvalidRuns `json:"invalidRuns,omitempty,omitzero"`

	// pauseSeconds is the time between the end of a run and the creation of the next, in seconds.
	// Defaults to 0.
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	PauseSeconds *int32 `json:"pauseSeconds,omitempty"`
}

// RunOrder is the order of a round's runs.
//
// +kubebuilder:validation:Enum=RandomizedBlocks;Alternating
type RunOrder string

// The values of RunOrder.
const (
	OrderRandomizedBlocks RunOrder = "RandomizedBlocks"
	OrderAlternating      RunOrder = "Alternating"
)

// InvalidRuns says what happens with runs that have no valid result.
type InvalidRuns struct {
	// replace is the number of such runs in a round that are made again. After that the round ends
	// as Inconclusive. Defaults to 3.
	// +default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	// +optional
	Replace *int32 `json:"replace,omitempty"`
}

// Comparison compares cells with a baseline.
//
// +kubebuilder:validation:XValidation:rule="has(self.baseline.cell) ? self.measure == 'Rerun' : self.measure == 'Stored'",fieldPath=".measure",message="measure must be Rerun with baseline.cell, which each block measures again, and Stored with any other baseline"
type Comparison struct {
	// baseline selects the results that the cells are compared with.
	// +required
	Baseline Baseline `json:"baseline,omitempty,omitzero"`

	// measure says whether the baseline is measured again in each block (Rerun), or its metrics are
	// those of earlier runs (Stored), which is less certain: machines change. Defaults to Rerun.
	// +default="Rerun"
	// +optional
	Measure BaselineMeasure `json:"measure,omitempty"`

	// metrics are the compared metrics.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(m, self.exists_one(o, o.name == m.name && has(o.request) == has(m.request) && (!has(o.request) || o.request == m.request)))",message="metrics must not have the same metric of the same request twice"
	// +required
	Metrics []ComparedMetric `json:"metrics,omitempty"`
}

// Baseline selects the metrics that cells are compared with.
//
// +kubebuilder:validation:ExactlyOneOf=cell;lastPassed;runs;benchmark
type Baseline struct {
	// cell selects a value of one or more axes, such as {connector: nio}. Each cell is compared with the
	// one that differs from it only on those axes.
	// +optional
	Cell CellSelector `json:"cell,omitempty"`

	// lastPassed compares each cell with the same cell in the last round that passed or was accepted by
	// hand. The first round has nothing to be compared with, and passes.
	// +optional
	LastPassed *LastPassed `json:"lastPassed,omitempty"`

	// runs compares each cell with finished BenchmarkRuns of the namespace, all taken together.
	// +optional
	Runs *RunSelector `json:"runs,omitempty"`

	// benchmark compares each cell with the same cell in the last completed round of another
	// Benchmark of the namespace.
	// +optional
	Benchmark *BenchmarkReference `json:"benchmark,omitempty"`
}

// LastPassed selects the last round that passed. It has no settings.
type LastPassed struct{}

// RunSelector selects BenchmarkRuns by their labels.
type RunSelector struct {
	// selector selects the runs.
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}

// BenchmarkReference names a Benchmark.
type BenchmarkReference struct {
	// name is the Benchmark's name, in the same namespace.
	// +required
	Name ObjectName `json:"name,omitempty"`
}

// BaselineMeasure says when a baseline is measured.
//
// +kubebuilder:validation:Enum=Rerun;Stored
type BaselineMeasure string

// The values of BaselineMeasure.
const (
	MeasureRerun  BaselineMeasure = "Rerun"
	MeasureStored BaselineMeasure = "Stored"
)

// ComparedMetric is a metric that is compared with the baseline's.
//
// +kubebuilder:validation:XValidation:rule="!has(self.better) || !has(self.role) || self.role == 'Gate'",fieldPath=".better",message="better belongs to gate metrics: omit it with role Report"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerancePercent) || !has(self.role) || self.role == 'Gate'",fieldPath=".tolerancePercent",message="tolerancePercent belongs to gate metrics: omit it with role Report"
// +kubebuilder:validation:XValidation:rule="!has(self.request) || self.name.startsWith('Latency') || self.name in ['ErrorRate', 'RequestsPerSecond', 'BytesPerSecond']",fieldPath=".request",message="a request has latencies, ErrorRate, RequestsPerSecond and BytesPerSecond only: omit request"
type ComparedMetric struct {
	// name is the metric.
	// +required
	Name BenchmarkMetric `json:"name,omitempty"`

	// request is the name of one of load.requests, whose metric it is. If not set, the metric is of all requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Request string `json:"request,omitempty"`

	// better says which direction of a gate metric is an improvement: Lower or Higher. Defaults to Higher for
	// RequestsPerSecond, BytesPerSecond, PagesPerSecond, RoundsPer10Seconds and the breaking points, and
	// to Lower for all others.
	// +optional
	Better Direction `json:"better,omitempty"`

	// tolerancePercent is the difference up to which a gate metric is not worse, in percent of the baseline.
	// Defaults to 5.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	// +optional
	TolerancePercent *int32 `json:"tolerancePercent,omitempty"`

	// role says whether the metric decides (Gate) or is reported only (Report). Defaults to Gate.
	// +optional
	Role MetricRole `json:"role,omitempty"`
}

// Direction is the direction in which a metric improves.
//
// +kubebuilder:validation:Enum=Lower;Higher
type Direction string

// The values of Direction.
const (
	LowerIsBetter  Direction = "Lower"
	HigherIsBetter Direction = "Higher"
)

// MetricRole says whether a metric decides.
//
// +kubebuilder:validation:Enum=Gate;Report
type MetricRole string

// The values of MetricRole.
const (
	RoleGate   MetricRole = "Gate"
	RoleReport MetricRole = "Report"
)

// BenchmarkMetric is a metric of a run.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Enum=LatencyMean;LatencyP50;LatencyP90;LatencyP95;LatencyP99;LatencyP999;LatencyP9999;LatencyMax;ErrorRate;RequestsPerSecond;BytesPerSecond;TargetCPUPerRequest;TargetPeakMemory;ClientCPUPerRequest;BreakingPointCPU;BreakingPointFailedRequests;BreakingPointErrorRate;BreakingPointLatencyP99;BreakingPointThroughput;PageTimeMean;PageTimeP50;PageTimeP90;PageTimeP99;PageTimeMax;PagesPerSecond;PageErrorRate;RoundsPer10Seconds
type BenchmarkMetric string

// The metrics that only Benchmarks name; the others are those of thresholds.
const (
	MetricBytesPerSecond      BenchmarkMetric = "BytesPerSecond"
	MetricTargetCPUPerRequest BenchmarkMetric = "TargetCPUPerRequest"
	MetricTargetPeakMemory    BenchmarkMetric = "TargetPeakMemory"
	MetricClientCPUPerRequest BenchmarkMetric = "ClientCPUPerRequest"
)

// The metrics of a load of pages.
const (
	MetricPageTimeMean       BenchmarkMetric = "PageTimeMean"
	MetricPageTimeP50        BenchmarkMetric = "PageTimeP50"
	MetricPageTimeP90        BenchmarkMetric = "PageTimeP90"
	MetricPageTimeP99        BenchmarkMetric = "PageTimeP99"
	MetricPageTimeMax        BenchmarkMetric = "PageTimeMax"
	MetricPagesPerSecond     BenchmarkMetric = "PagesPerSecond"
	MetricPageErrorRate      BenchmarkMetric = "PageErrorRate"
	MetricRoundsPer10Seconds BenchmarkMetric = "RoundsPer10Seconds"
)

// The breaking points of a load with stages: the load of all clients at which each was first met.
const (
	MetricBreakingPointCPU            BenchmarkMetric = "BreakingPointCPU"
	MetricBreakingPointFailedRequests BenchmarkMetric = "BreakingPointFailedRequests"
	MetricBreakingPointErrorRate      BenchmarkMetric = "BreakingPointErrorRate"
	MetricBreakingPointLatencyP99     BenchmarkMetric = "BreakingPointLatencyP99"
	MetricBreakingPointThroughput     BenchmarkMetric = "BreakingPointThroughput"
)

// Capacity searches for the largest load that a cell sustains: a trial passes if the run's thresholds are
// met, no request was dropped, and at least 99 % of the asked rate was achieved.
//
// +kubebuilder:validation:XValidation:rule="self.max > self.from",fieldPath=".max",message="max must be greater than from"
type Capacity struct {
	// path is the field that is searched for, as a JSON pointer into the template's spec: a rate or a
	// number of connections, such as /load/open/requestsPerSecond.
	// +required
	Path JSONPointer `json:"path,omitempty"`

	// from is the first trial's value.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	// +required
	From int64 `json:"from,omitempty"`

	// max is the largest value that is tried.
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=10000000
	// +required
	Max int64 `json:"max,omitempty"`

	// precisionPercent is the largest distance between the bounds of the capacity, in percent of the
	// lower one. Defaults to 5.
	// +default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +optional
	PrecisionPercent *int32 `json:"precisionPercent,omitempty"`

	// trialSeconds is the duration of a trial's measurement, in seconds. It replaces that of the
	// template's load. Defaults to 30.
	// +default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TrialSeconds *int32 `json:"trialSeconds,omitempty"`
}
