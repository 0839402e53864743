// Package benchmark holds the metrics and the verdict of a round of a Benchmark, as they are stored. The packages below decide about it;
// all of them are pure: recorded state in, decision out. From the lowest to the highest:
//
//   - cells: the combinations of a spec's axes, and the specs of their runs
//   - blocks: the order of a block's runs, and the runs of a round by their places
//   - search: the next load of a capacity search
//   - schedule: the times at which rounds begin
//   - trend: medians over rounds, and changes of their level
//   - inference: estimates, effects and their intervals, and which runs can't be compared
//   - verdict: the outcome of a round in words
//   - plan: what a round does next
//   - objects: the runs and the artifact of a round, and what tells them from others of the same name
//   - lifecycle: the status of a Benchmark from one round to the next
//
// Cells, blocks, replacements and trials are numbered from 0, as clients are.
package benchmark

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

// Unacceptable returns why later rounds could not be compared with a round, or "".
func (r *Round) Unacceptable() string {
	switch {
	case r.Reason == ReasonIncomparable:
		return fmt.Sprintf("The runs of round %d were made under different conditions, so that no later round could be compared with them. %s", r.Number, r.Message)
	case len(r.Stored()) == 0:
		return fmt.Sprintf("Round %d has no block in which every cell has a valid run.", r.Number)
	}
	return ""
}

const (
	// SchemaVersion is the version of the JSON format of Round. It changes if a reader of the old format
	// would misread the new one.
	SchemaVersion = 1
	// ArtifactKey is the key of a ConfigMap's binaryData under which a round is kept.
	ArtifactKey = "round.json.gz"
)

// Round is everything about a round that has ended, as it is stored.
type Round struct {
	// SchemaVersion is SchemaVersion.
	SchemaVersion int `json:"schemaVersion"`
	// Namespace and Benchmark identify the Benchmark.
	Namespace string `json:"namespace"`
	Benchmark string `json:"benchmark"`
	// Number is the round's number, Trigger its cause. Seed determined the order of its runs.
	Number  int64                 `json:"number"`
	Trigger v1alpha1.RoundTrigger `json:"trigger"`
	Seed    int64                 `json:"seed"`
	// Hash identifies what the round measured, Spec has it whole.
	Hash string                 `json:"hash"`
	Spec v1alpha1.BenchmarkSpec `json:"spec"`
	// Started and Ended are the times of the round's begin and end.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Cells are by index.
	Cells []cells.Cell `json:"cells"`
	// Runs are all runs of the round, trials and invalid ones included.
	Runs []Run `json:"runs"`
	// Omitted has the metrics that are missing in Runs, because they didn't fit.
	Omitted []v1alpha1.BenchmarkMetric `json:"omitted,omitempty"`
	// LevelsOmitted reports whether Levels are missing, because they didn't fit.
	LevelsOmitted bool `json:"levelsOmitted,omitempty"`
	// ForeignRuns is the number of runs of others that the lane admitted between those of the round.
	ForeignRuns int `json:"foreignRuns,omitempty"`
	Evaluation
	// Capacities are the results of the capacity searches.
	Capacities []Capacity `json:"capacities,omitempty"`
	// Baseline is the round that this one was compared with by comparison.baseline.lastPassed; nil if there is none.
	Baseline *v1alpha1.RoundReference `json:"baseline,omitempty"`
	// Trend has the medians of this round and those before; nil without a gate, or if it didn't fit.
	Trend   *Trend                    `json:"trend,omitempty"`
	Verdict v1alpha1.BenchmarkVerdict `json:"verdict"`
	Reason  string                    `json:"reason"`
	Message string                    `json:"message"`
}

// Forms is the number of forms in which a round can be stored.
const Forms = 5

// EncodeForm returns the round in one of its forms, numbered from 0: gzip-compressed JSON of at most limit bytes. The same round always
// gives the same bytes. The first form has everything. In the next, runs only keep the metrics that claims and the comparison
// name; then only those of claims and of the gate; then it has no trend, and at last no levels. The estimates of all metrics are kept. The round
// itself is not changed. Errors wrap artifact.ErrTooLarge if the form doesn't fit.
func (r *Round) EncodeForm(form, limit int) ([]byte, error) {
	kept := *r
	kept.SchemaVersion = SchemaVersion
	switch {
	case form == 1:
		kept.omit(r.named)
	case form >= 2:
		kept.omit(func(m v1alpha1.BenchmarkMetric) bool { return r.claimed(m) || r.Gated(m) })
	}
	if form >= 3 {
		kept.Trend = nil
	}
	if form >= 4 && len(kept.Levels) > 0 {
		kept.Levels, kept.LevelsOmitted = nil, true
	}
	packed, err := artifact.Pack(&kept, limit)
	if err == nil {
		if _, unreadable := artifact.Unpack(packed); unreadable != nil {
			err = artifact.ErrTooLarge
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encode round of %d runs in %d bytes: %w", len(r.Runs), limit, err)
	}
	return packed, nil
}

// Encode returns the round in the first of its forms that fits. Errors wrap artifact.ErrTooLarge if none does.
func (r *Round) Encode(limit int) (encoded []byte, err error) {
	for form := range Forms {
		if encoded, err = r.EncodeForm(form, limit); !errors.Is(err, artifact.ErrTooLarge) {
			break
		}
	}
	return encoded, err
}

// What the parts of a round take at most in its last form, in bytes, if no two of their numbers are the same: TestTheLargestRoundIsStored.
const (
	runStored      = 16.0
	trialStored    = 48.0 // with why it failed
	valueStored    = 5.5  // of a metric of the gate in a run
	cellStored     = 600.0
	effectStored   = 60.0
	claimStored    = 74.0
	capacityStored = 90.0
	invalidStored  = 200.0 // the message of a run that is replaced
	anyRoundStored = 8 << 10
)

// Extent holds the numbers on which depends how much a round takes when it is stored.
type Extent struct {
	// Spec is the length of the spec as JSON, in bytes.
	Spec int
	// Cells, Blocks and Trials, of each cell, are those that the round has at most. Invalid is the number of runs that are replaced.
	Cells, Blocks, Trials, Invalid int
	// Compared is the number of the comparison's metrics, Gate that of those which decide.
	Compared, Gate int
}

// StoredBytes returns what a round takes at most in its last form, in bytes.
func (e Extent) StoredBytes() int {
	runs, trials := float64(e.Cells*e.Blocks+e.Invalid), float64(e.Cells*e.Trials)
	values, cell := valueStored*float64(e.Gate), cellStored+effectStored*float64(max(0, e.Compared-e.Gate))+claimStored*float64(e.Gate)
	if e.Trials > 0 {
		cell += capacityStored
	}
	return anyRoundStored + e.Spec + int(runs*(runStored+values)+trials*(trialStored+values)+invalidStored*float64(e.Invalid)+
		cell*float64(e.Cells))
}

// omit omits metrics of runs, and says which.
func (r *Round) omit(keep func(v1alpha1.BenchmarkMetric) bool) {
	omitted := map[v1alpha1.BenchmarkMetric]bool{}
	r.Runs = slices.Clone(r.Runs)
	for i := range r.Runs {
		metrics := maps.Clone(r.Runs[i].Metrics)
		maps.DeleteFunc(metrics, func(m v1alpha1.BenchmarkMetric, _ float64) bool {
			if keep(m) {
				return false
			}
			omitted[m] = true
			return true
		})
		r.Runs[i].Metrics = metrics
	}
	r.Omitted = slices.Sorted(maps.Keys(omitted))
}

// named reports whether a claim is of a metric, or it is compared.
func (r *Round) named(metric v1alpha1.BenchmarkMetric) bool {
	c := r.Spec.Comparison
	return r.claimed(metric) || c != nil && slices.ContainsFunc(c.Metrics, func(m v1alpha1.ComparedMetric) bool { return KeyOf(&m) == metric })
}

// claimed reports whether a claim of the spec is of a metric.
func (r *Round) claimed(metric v1alpha1.BenchmarkMetric) bool {
	return slices.ContainsFunc(r.Spec.Claims, func(c v1alpha1.Claim) bool { return c.Level == nil && MetricKey(c.Metric, c.Request) == metric })
}

// Gated reports whether a metric decides.
func (r *Round) Gated(metric v1alpha1.BenchmarkMetric) bool {
	c := r.Spec.Comparison
	return c != nil && slices.ContainsFunc(c.Metrics, func(m v1alpha1.ComparedMetric) bool {
		return KeyOf(&m) == metric && RoleOf(&m) == v1alpha1.RoleGate
	})
}

// DecodeRound is the inverse of Round.Encode, but for what that has omitted. It rejects other schema versions
// than its own, JSON that is larger than any round's, and rounds of which a part is about a cell that
// doesn't exist. Cells have no changes then: they can't make specs.
func DecodeRound(data []byte) (*Round, error) {
	plain, err := artifact.Unpack(data)
	if err != nil {
		return nil, fmt.Errorf("decode round: %w", err)
	}
	if err := artifact.CheckSize(plain, Round{}); err != nil {
		return nil, fmt.Errorf("decode round: %w", err)
	}
	var schema struct {
		Version int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(plain, &schema); err != nil {
		return nil, fmt.Errorf("decode round: %w", err)
	}
	if schema.Version != SchemaVersion {
		return nil, fmt.Errorf("decode round: its schema version is %d, this program reads %d: use the version of Assay that wrote it", schema.Version, SchemaVersion)
	}
	var r Round
	if err := json.Unmarshal(plain, &r); err != nil {
		return nil, fmt.Errorf("decode round: %w", err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("decode round: %w", err)
	}
	return &r, nil
}

// check returns an error if a part of the round is about a cell that doesn't exist.
func (r *Round) check() error {
	if len(r.Cells) > cells.Max {
		return fmt.Errorf("%d cells, must be at most %d", len(r.Cells), cells.Max)
	}
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Index != i || c.Baseline < cells.NoBaseline || c.Baseline >= len(r.Cells) {
			return fmt.Errorf("cell %d has the index %d and the baseline %d", i, c.Index, c.Baseline)
		}
	}
	for _, indexes := range [][]int{
		cellsOf(r.Runs, func(x *Run) int { return x.Cell }), cellsOf(r.Estimates, func(x *Estimate) int { return x.Cell }),
		cellsOf(r.Effects, func(x *Effect) int { return x.Cell }), cellsOf(r.Claims, func(x *Claim) int { return x.Cell }),
		cellsOf(r.Claims, func(x *Claim) int { return max(0, x.Than) }), cellsOf(r.Capacities, func(x *Capacity) int { return x.Cell }),
		cellsOf(r.Levels, func(x *LevelEstimate) int { return x.Cell }),
	} {
		for _, cell := range indexes {
			if cell < 0 || cell >= len(r.Cells) {
				return fmt.Errorf("there is no cell %d", cell)
			}
		}
	}
	return r.Trend.check()
}

func cellsOf[T any](all []T, cell func(*T) int) []int {
	cells := make([]int, len(all))
	for i := range all {
		cells[i] = cell(&all[i])
	}
	return cells
}

// Stored returns the runs with which a later round compares each of its cells, by the names of the cells: the
// valid ones of the whole blocks, the last of them if they are more than statistics can take.
func (r *Round) Stored() map[string][]Run {
	stored, named := map[string][]Run{}, RequestMetrics(&r.Spec)
	for i := range r.Runs {
		if run := &r.Runs[i]; !run.Trial && run.Valid && !run.Ended.IsZero() && run.Number < r.Blocks {
			name, kept := r.Cells[run.Cell].Name, *run
			kept.Metrics = shared(run.Metrics, named)
			stored[name] = append(stored[name], kept)
		}
	}
	for name, runs := range stored {
		stored[name] = Newest(runs)
	}
	return stored
}

// shared returns the metrics that are known, with the texts of their names in MetricNames and named: decoding makes one for each.
func shared(metrics map[v1alpha1.BenchmarkMetric]float64, named []v1alpha1.BenchmarkMetric) map[v1alpha1.BenchmarkMetric]float64 {
	known := make(map[v1alpha1.BenchmarkMetric]float64, len(metrics))
	for _, names := range [][]v1alpha1.BenchmarkMetric{MetricNames, named} {
		for _, name := range names {
			if value, exists := metrics[name]; exists {
				known[name] = value
			}
		}
	}
	return known
}

// Newest returns the runs that ended last, in the order of their end: as many as a stored baseline can have.
func Newest(runs []Run) []Run {
	sorted := slices.SortedStableFunc(slices.Values(runs), func(a, b Run) int { return a.Ended.Compare(b.Ended) })
	return sorted[max(0, len(sorted)-statistics.MaxRuns):]
}

// NoneUpTo returns the highest level that the runs of a cell came to, where a breaking point that has no estimate is
// above it. It returns 0 if the load has no levels, or it isn't known whether runs looked for the breaking point.
func (r *Round) NoneUpTo(cell int, metric v1alpha1.BenchmarkMetric) int64 {
	known := IsBreakingPoint(metric) && metric != v1alpha1.MetricBreakingPointCPU
	if metric == v1alpha1.MetricBreakingPointLatencyP99 { // without a bound, no run has it
		known = slices.ContainsFunc(r.Estimates, func(e Estimate) bool { return e.Metric == metric })
	}
	highest := int64(0)
	for i := range r.Levels {
		l := &r.Levels[i]
		if l.Cell != cell {
			continue
		}
		highest = max(highest, l.Load)
		if _, has := l.Medians["TargetCPU"]; has && metric == v1alpha1.MetricBreakingPointCPU {
			known = true
		}
	}
	if !known {
		return 0
	}
	return highest
}

// PeakLevels returns the highest level that the runs of two cells came to both, of each cell; nil if there is none.
func (r *Round) PeakLevels(a, b int) (ofA, ofB *LevelEstimate) {
	for i := range r.Levels {
		x := &r.Levels[i]
		if x.Cell != a || ofA != nil && x.Load <= ofA.Load {
			continue
		}
		at := slices.IndexFunc(r.Levels, func(y LevelEstimate) bool { return y.Cell == b && y.Load == x.Load && y.PerSecond == x.PerSecond })
		if at >= 0 {
			ofA, ofB = x, &r.Levels[at]
		}
	}
	return ofA, ofB
}

// Values returns the values of a metric of a cell in each whole block of the round: NaN where the run doesn't have it.
func (r *Round) Values(cell int, metric v1alpha1.BenchmarkMetric) []float64 {
	values := make([]float64, r.Blocks)
	for i := range values {
		values[i] = math.NaN()
	}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.counts() && run.Cell == cell && run.Number >= 0 && run.Number < r.Blocks {
			values[run.Number] = run.Metric(metric)
		}
	}
	return values
}

// The reasons of the end of a round.
const (
	// ReasonCompleted: all blocks and capacity searches are complete.
	ReasonCompleted = "Completed"
	// ReasonInvalidRuns: more runs were invalid than are replaced.
	ReasonInvalidRuns = "InvalidRuns"
	// ReasonIncomparable: runs that must be compared were made under different conditions.
	ReasonIncomparable = "Incomparable"
	// ReasonBaselineMissing: no stored run is there to compare with.
	ReasonBaselineMissing = "BaselineMissing"
	// ReasonRunRejected: a run could not be created.
	ReasonRunRejected = "RunRejected"
)
