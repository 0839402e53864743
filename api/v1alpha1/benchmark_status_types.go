package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkStatus reports the round under way, and the conclusions of the last one.
//
// +kubebuilder:validation:MinProperties=1
type BenchmarkStatus struct {
	// conditions are Finished, Succeeded, Reconciling and Stalled. Finished is True when no round is under
	// way. The reason of Succeeded is the state of the round. Rounds of a schedule don't make Reconciling
	// True.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about. It is -1 until the
	// operator has seen the Benchmark.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// verdict is the verdict of the last completed round: Passed (all claims are confirmed), Failed (one is
	// contradicted), Inconclusive, Measured (there are no claims) or Error.
	// +optional
	Verdict BenchmarkVerdict `json:"verdict,omitempty"`

	// round is the round under way, or else the last one.
	// +optional
	Round *RoundStatus `json:"round,omitempty"`

	// lastPassed is the last round that passed, or without claims was measured, or that was accepted as the baseline
	// since.
	// +optional
	LastPassed *RoundReference `json:"lastPassed,omitempty"`

	// acceptance is the outcome of the last request to accept a round as the baseline. It is removed with the
	// annotation assay.dev/accept-round.
	// +optional
	Acceptance *Acceptance `json:"acceptance,omitempty"`

	// trend has the changes of level over the rounds up to the last completed one, the newest first. They
	// are information and decide nothing. The artifact has all, with the medians of all rounds.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Trend []LevelChange `json:"trend,omitempty"`

	// history has the completed rounds that are kept, the newest first.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +optional
	History []RoundReference `json:"history,omitempty"`

	// lastScheduleTime is the last time of the schedule at which a round began or was skipped.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// nextScheduleTime is the next time of the schedule.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastRequest is the value of the annotation assay.dev/run-round for which a round began last.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=256
	// +optional
	LastRequest *string `json:"lastRequest,omitempty"`

	// hash identifies what rounds measure: the spec without suspend, rerun, schedule, history and
	// onInconclusive.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Hash string `json:"hash,omitempty"`
}

// BenchmarkVerdict is the outcome of a round.
//
// +kubebuilder:validation:Enum=Passed;Failed;Inconclusive;Measured;Error
type BenchmarkVerdict string

// The values of BenchmarkVerdict.
const (
	BenchmarkPassed       BenchmarkVerdict = "Passed"
	BenchmarkFailed       BenchmarkVerdict = "Failed"
	BenchmarkInconclusive BenchmarkVerdict = "Inconclusive"
	BenchmarkMeasured     BenchmarkVerdict = "Measured"
	BenchmarkError        BenchmarkVerdict = "Error"
)

// RoundTrigger is the cause of a round.
//
// +kubebuilder:validation:Enum=Created;Changed;Scheduled;Requested
type RoundTrigger string

// The values of RoundTrigger.
const (
	TriggerCreated   RoundTrigger = "Created"
	TriggerChanged   RoundTrigger = "Changed"
	TriggerScheduled RoundTrigger = "Scheduled"
	TriggerRequested RoundTrigger = "Requested"
)

// RoundStatus is one execution of a Benchmark.
type RoundStatus struct {
	// number counts the Benchmark's rounds from 1.
	// +kubebuilder:validation:Minimum=1
	// +required
	Number int64 `json:"number,omitempty"`

	// trigger is the cause of the round.
	// +required
	Trigger RoundTrigger `json:"trigger,omitempty"`

	// seed determines the order of the runs.
	// +required
	Seed *int64 `json:"seed,omitempty"`

	// hash identifies what the round measures.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Hash string `json:"hash,omitempty"`

	// startTime is the time at which the round began.
	// +required
	StartTime metav1.Time `json:"startTime,omitempty,omitzero"`

	// completionTime is the time at which the round ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// expectedCompletionTime is the time at which the round will end, from what its runs took so far. All
	// blocks up to repetitions.max are assumed to be needed.
	// +optional
	ExpectedCompletionTime *metav1.Time `json:"expectedCompletionTime,omitempty"`

	// cells is the number of cells.
	// +optional
	Cells *int32 `json:"cells,omitempty"`

	// completedBlocks is the number of blocks in which every cell has a valid result.
	// +optional
	CompletedBlocks *int32 `json:"completedBlocks,omitempty"`

	// finishedRuns is the number of runs that have ended, including invalid ones and trials.
	// +optional
	FinishedRuns *int32 `json:"finishedRuns,omitempty"`

	// invalidRuns is the number of runs without a valid result.
	// +optional
	InvalidRuns *int32 `json:"invalidRuns,omitempty"`

	// foreignRuns is the number of runs of others that the lane admitted between those of the round.
	// +optional
	ForeignRuns *int32 `json:"foreignRuns,omitempty"`

	// currentRun is the run under way.
	// +optional
	CurrentRun *CurrentRun `json:"currentRun,omitempty"`

	// verdict is the round's verdict.
	// +optional
	Verdict BenchmarkVerdict `json:"verdict,omitempty"`

	// reason is the reason of Succeeded with which the round ended.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`

	// claims are the answers to the claims and gate metrics, those that are contradicted first, then those that are
	// undecided. The artifact has all.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Claims []ClaimStatus `json:"claims,omitempty"`

	// effects are the differences from the baseline of metrics that are reported only. The artifact has all.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Effects []EffectStatus `json:"effects,omitempty"`

	// capacities are the results of the capacity search. The artifact has all, with their trials.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Capacities []CapacityStatus `json:"capacities,omitempty"`

	// artifact refers to all metrics of the round's runs.
	// +optional
	Artifact *ArtifactReference `json:"artifact,omitempty"`
}

// CurrentRun is the run under way.
type CurrentRun struct {
	// name is the BenchmarkRun's name.
	// +required
	Name ObjectName `json:"name,omitempty"`

	// cell is the name of its cell.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Cell string `json:"cell,omitempty"`

	// block is the index of its block, from 0, as in the run's name. It is not set for a trial.
	// +optional
	Block *int32 `json:"block,omitempty"`

	// trial is the value that it tries.
	// +optional
	Trial *int64 `json:"trial,omitempty"`
}

// EffectStatus is the difference of a cell from the baseline in a metric that is reported only.
type EffectStatus struct {
	// cell is the name of the cell.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Cell string `json:"cell,omitempty"`

	// metric is the compared metric.
	// +required
	Metric BenchmarkMetric `json:"metric,omitempty"`

	// request is the name of the request whose metric it is. It is not set for a metric of all requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Request string `json:"request,omitempty"`

	// percent is the estimated difference from the baseline in percent, such as "-3.2".
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

	// message says why the runs could not be compared.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// CapacityStatus is the largest load that a cell sustains.
type CapacityStatus struct {
	// cell is the name of the cell.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Cell string `json:"cell,omitempty"`

	// sustained is the largest load that was sustained. It is not set if none was.
	// +optional
	Sustained *int64 `json:"sustained,omitempty"`

	// failed is the smallest load above it that was not. It is not set if the search ended at max.
	// +optional
	Failed *int64 `json:"failed,omitempty"`

	// achieved is the rate at the largest load that was sustained.
	// +optional
	Achieved Rate `json:"achieved,omitempty"`

	// limit says what ended the search: Server, Clients (they were saturated by more than the sustained
	// load), Maximum (it was sustained) or Trials (there were too many of them).
	// +optional
	Limit CapacityLimit `json:"limit,omitempty"`

	// trials is the number of trials.
	// +optional
	Trials *int32 `json:"trials,omitempty"`
}

// CapacityLimit says what ended a capacity search.
//
// +kubebuilder:validation:Enum=Server;Clients;Maximum;Trials
type CapacityLimit string

// The values of CapacityLimit.
const (
	LimitServer  CapacityLimit = "Server"
	LimitClients CapacityLimit = "Clients"
	LimitMaximum CapacityLimit = "Maximum"
	LimitTrials  CapacityLimit = "Trials"
)
