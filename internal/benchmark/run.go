package benchmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// MaxLevels is the largest number of levels of a load.
const MaxLevels = 20

// RunLevel holds a run's metrics of one level of its load.
type RunLevel struct {
	// Load is the number of connections, or the arrival rate per second if PerSecond is set, or the
	// number of users if Users is set, over all clients.
	Load             int64
	PerSecond, Users bool
	// Metrics are by the positions of result.LevelMetrics, in their units, and negative where the level has none. They
	// are small, because the manager holds those of all runs of a round. A float32 has the 7 digits that Run.Metrics
	// have.
	Metrics []float32
}

// levelsOf returns the metrics of a result's levels.
func levelsOf(r *result.Result) []RunLevel {
	if len(r.Levels) == 0 {
		return nil
	}
	levels := make([]RunLevel, 0, min(len(r.Levels), MaxLevels))
	for i := range r.Levels[:min(len(r.Levels), MaxLevels)] {
		l := &r.Levels[i]
		level := RunLevel{Load: l.Load(), PerSecond: l.TargetRatePerSecond > 0, Users: r.Run.UserConnections > 0, Metrics: make([]float32, len(result.LevelMetrics))}
		for n, m := range result.LevelMetrics {
			level.Metrics[n] = -1
			if value, exists := m.Of(r, l); exists && value >= 0 && value <= math.MaxFloat32 {
				level.Metrics[n] = float32(value)
			}
		}
		levels = append(levels, level)
	}
	return levels
}

// counts reports whether a run is a valid one of a block.
func (r *Run) counts() bool { return !r.Trial && r.Valid && !r.Ended.IsZero() }

// Run holds the metrics and the state of a round's run.
type Run struct {
	RunKey
	// Name is the BenchmarkRun's name.
	Name string `json:"name"`
	// Started is the time of its creation, Ended that of its end: zero while it is under way.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Valid reports whether its metrics count: of a trial, whether it says if the load was sustained.
	Valid bool `json:"valid,omitempty"`
	// Message says why a run isn't valid, or why a trial failed; empty otherwise.
	Message string `json:"message,omitempty"`
	// Warnings are the reasons of the findings that warn, such as NetworkLimited: the run is valid with a reservation.
	Warnings []string `json:"warnings,omitempty"`
	// Metrics are those that the run has.
	Metrics map[v1alpha1.BenchmarkMetric]float64 `json:"metrics,omitempty"`
	// Levels are the metrics of the load's levels. A stored round has their medians only.
	Levels []RunLevel `json:"-"`
	// Conditions must be the same for runs to be compared.
	Conditions Conditions `json:"conditions,omitzero"`
	// Load is the load that a trial tried; 0 for other runs.
	Load int64 `json:"load,omitempty"`
	// Outcome is the outcome of a trial; empty for other runs, and for a trial that isn't valid.
	Outcome Outcome `json:"outcome,omitempty"`
	// Achieved is a trial's rate over all clients: of open load the rate at which requests started, of
	// closed load that of successful requests.
	Achieved float64 `json:"achievedPerSecond,omitempty"`
	// Connections is the number of concurrent connections of closed load over all clients; 0 for other
	// loads.
	Connections int64 `json:"connections,omitempty"`
}

const (
	// keptBytes is what a run takes in addition to its values: keys and places in maps, and room in lists that grow.
	keptBytes = 400
	// metricBytes is what a metric takes in a map, without its name.
	metricBytes = 36
)

// Bytes returns about how many bytes of memory the run takes, without its conditions: runs share their texts.
func (r *Run) Bytes() int64 {
	bytes := keptBytes + int(unsafe.Sizeof(*r)) + len(r.Name) + len(r.Message) + metricBytes*len(r.Metrics)
	for _, warning := range r.Warnings {
		bytes += int(unsafe.Sizeof(warning)) + len(warning)
	}
	bytes += cap(r.Levels) * int(unsafe.Sizeof(RunLevel{}))
	for i := range r.Levels {
		bytes += 5 * cap(r.Levels[i].Metrics) // of 4 bytes, and what an allocation is larger
	}
	return int64(bytes)
}

// Outcome is the outcome of a trial of a capacity search.
type Outcome string

// The outcomes.
const (
	// OutcomePassed: the target sustained the load.
	OutcomePassed Outcome = "Passed"
	// OutcomeFailed: the target didn't sustain it.
	OutcomeFailed Outcome = "Failed"
	// OutcomeSaturated: the clients couldn't make the load, so that the trial says nothing about the target.
	OutcomeSaturated Outcome = "Saturated"
)

// Conditions must be the same in runs whose metrics are compared. Empty ones are unknown, which
// equals unknown.
type Conditions struct {
	// NodeType is the type of the target's node, its label node.kubernetes.io/instance-type, followed by its machine.
	NodeType string `json:"nodeType,omitempty"`
	// Kernel is the release of that node's kernel.
	Kernel string `json:"kernel,omitempty"`
	// Image has the digest of the target's image, followed by those of its backends.
	Image string `json:"image,omitempty"`
	// CPUExclusivity is Exclusive, Shared or Unknown, followed by that of its backends.
	CPUExclusivity string `json:"cpuExclusivity,omitempty"`
	// Placement is Together if all clients ran on the target's node, Apart if none did, and Mixed otherwise.
	Placement string `json:"placement,omitempty"`
}

// MetricsOf returns the metrics of a result, in the units of result.Metrics, and those of single requests that named has. Those that
// it doesn't have are omitted. Others are rounded to 7 significant digits, so that a round's artifact has room for all, and
// has exactly the metrics by which the round was decided.
func MetricsOf(r *result.Result, named ...v1alpha1.BenchmarkMetric) map[v1alpha1.BenchmarkMetric]float64 {
	metrics := make(map[v1alpha1.BenchmarkMetric]float64, len(MetricNames)+len(named))
	for _, key := range slices.Concat(MetricNames, named) {
		metric, request := SplitMetric(key)
		if value, exists := r.Metric(string(metric), request); exists && value >= 0 && !math.IsInf(value, 0) {
			metrics[key] = Rounded(value)
		}
	}
	return metrics
}

// Rounded returns a value with 7 significant digits, as a round stores it.
func Rounded(value float64) float64 {
	value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 7, 64), 64)
	return value
}

// ConditionsOf returns the conditions of a result. nodeType is the type of the target's node.
func ConditionsOf(r *result.Result, nodeType string) Conditions {
	e := &r.Environment
	images, exclusivity := []string{e.TargetImageID}, []string{e.CPUExclusivity}
	for _, b := range e.Backends {
		images = append(images, b.Name+" "+b.ImageID)
		exclusivity = append(exclusivity, b.Name+" "+b.CPUExclusivity)
	}
	return Conditions{
		NodeType: withMachine(nodeType, e.Machine), Kernel: e.Kernel, Image: strings.Join(images, ", "), CPUExclusivity: strings.Join(exclusivity, ", "), Placement: placementOf(r),
	}
}

// withMachine returns the type of a node with what is known of its machine, as in "c5.large, 2 × Xeon E5, 4 GiB": a type of a cloud has
// machines of several kinds, and elsewhere nodes have no type.
func withMachine(nodeType string, m *result.Machine) string {
	var parts []string
	if nodeType != "" {
		parts = append(parts, nodeType)
	}
	if m != nil && m.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("%d × %.60s", m.CPUs, cmp.Or(m.CPUModel, "unknown CPU")))
	}
	if m != nil && m.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%.0f GiB", float64(m.MemoryBytes)/(1<<30)))
	}
	return strings.Join(parts, ", ")
}

// placementMixed is the placement of clients some of which ran on the target's node.
const placementMixed = "Mixed"

// placementOf returns where clients ran relative to the target, or "" if a node is unknown, as that of an external target.
func placementOf(r *result.Result) string {
	apart, together := 0, 0
	for i := range r.Clients {
		switch r.Clients[i].Node {
		case "":
			return ""
		case r.Environment.TargetNode:
			together++
		default:
			apart++
		}
	}
	switch {
	case r.Environment.TargetNode == "", len(r.Clients) == 0:
		return ""
	case together == 0:
		return validity.PlacementApart
	case apart == 0:
		return validity.PlacementTogether
	}
	return placementMixed
}

// achievedShare is the share of the target rate that a trial must achieve to pass.
const achievedShare = 0.99

// Complete sets what the result of a finished run says: metrics, conditions, validity, the outcome of a
// trial. nodeType is the type of the target's node, named are the keys of metrics of single requests: see RequestMetrics.
func (r *Run) Complete(res *result.Result, nodeType string, named ...v1alpha1.BenchmarkMetric) {
	r.Metrics, r.Levels, r.Conditions = MetricsOf(res, named...), levelsOf(res), ConditionsOf(res, nodeType)
	if res.Run.Load == result.LoadClosed {
		r.Connections = res.Connections()
	}
	r.Warnings = nil
	var reasons, messages []string
	for _, f := range res.Findings {
		switch f.Severity {
		case result.Invalidates:
			reasons, messages = append(reasons, f.Reason), append(messages, f.Message)
		case result.Warns:
			if !slices.Contains(r.Warnings, f.Reason) {
				r.Warnings = append(r.Warnings, f.Reason)
			}
		}
	}
	r.Valid, r.Message = len(reasons) == 0, strings.Join(messages, " ")
	if r.Trial {
		r.completeTrial(res, reasons)
	}
	r.Message = beginning(r.Message)
}

// maxMessage is the largest number of bytes of a run's message: a round may have 10,000 trials that failed.
const maxMessage = 1 << 10

// beginning returns the first maxMessage bytes of a text, without a partial character.
func beginning(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxMessage], ""))
}

// overload holds the findings that invalidate a run, but say of a trial that the target didn't sustain
// the load.
var overload = []string{validity.ReasonNothingSucceeded, validity.ReasonErrorsDominate, validity.ReasonRateNotAchieved, validity.ReasonNotKeepingUp}

func (r *Run) completeTrial(res *result.Result, invalidating []string) {
	achieved := res.RequestsPerSecond()
	if a := res.Arrivals; a != nil {
		achieved = a.AchievedPerSecond(res.Merged.Dropped)
	}
	r.Achieved = Rounded(achieved)
	r.Outcome, r.Valid = "", true
	switch {
	case slices.Contains(invalidating, validity.ReasonClientSaturated), slices.Contains(invalidating, validity.ReasonClientThrottled):
		r.Outcome = OutcomeSaturated
	case slices.ContainsFunc(invalidating, func(reason string) bool { return !slices.Contains(overload, reason) }):
		r.Valid = false
	case len(invalidating) > 0:
		r.Outcome = OutcomeFailed
	default:
		if missed := missed(res, achieved); len(missed) > 0 {
			r.Outcome, r.Message = OutcomeFailed, strings.Join(missed, "; ")
		} else {
			r.Outcome = OutcomePassed
		}
	}
}

// missed returns what keeps a trial from passing.
func missed(res *result.Result, achieved float64) (missed []string) {
	for _, t := range res.Thresholds {
		if !t.Met {
			missed = append(missed, fmt.Sprintf("%s is %s, must be %s", t.Name(), t.Actual, t.Bound))
		}
	}
	if n := res.Merged.Dropped; n > 0 {
		missed = append(missed, fmt.Sprintf("%d requests were dropped", n))
	}
	if a := res.Arrivals; a != nil && achieved < achievedShare*a.TargetRatePerSecond() {
		missed = append(missed, fmt.Sprintf("%.2f requests/s were started of %.2f", achieved, a.TargetRatePerSecond()))
	}
	return missed
}

// Fail records that a run ended without a result, with the reason and the message of its condition
// Succeeded. It isn't valid. But a trial whose target crashed has failed.
func (r *Run) Fail(reason, message string) {
	r.Valid, r.Message = false, beginning(strings.TrimSpace(reason+": "+message))
	if r.Trial && reason == v1alpha1.ReasonTargetCrashed {
		r.Valid, r.Outcome = true, OutcomeFailed
	}
}

// Metric returns the value of a metric of the run, or NaN if it has none.
func (r *Run) Metric(metric v1alpha1.BenchmarkMetric) float64 {
	if v, ok := r.Metrics[metric]; ok && v >= 0 && !math.IsInf(v, 0) {
		return v
	}
	return math.NaN()
}
