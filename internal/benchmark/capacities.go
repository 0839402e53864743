package benchmark

import (
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Capacity is the largest load that a cell sustains, as far as its search has come.
type Capacity struct {
	Cell int `json:"cell"`
	// Sustained is the largest load that was sustained, Failed the smallest above it that wasn't; 0 for
	// none. Both are in the unit of the field that is searched for.
	Sustained int64 `json:"sustained,omitempty"`
	Failed    int64 `json:"failed,omitempty"`
	// Limit says what ended the search; empty while it goes on.
	Limit v1alpha1.CapacityLimit `json:"limit,omitempty"`
	// Trials is the number of valid trials.
	Trials int `json:"trials"`
	// AchievedPerSecond is the rate over all clients at Sustained: the median of the trials that passed. The
	// figures below are medians of the same trials; 0 if they are unknown.
	AchievedPerSecond float64 `json:"achievedPerSecond,omitempty"`
	// RequestsPerDay is that rate over 24 hours.
	RequestsPerDay float64 `json:"requestsPerDay,omitempty"`
	// BytesPerSecond is the bandwidth that the clients received.
	BytesPerSecond float64 `json:"bytesPerSecond,omitempty"`
	// CPUSecondsPerMillionRequests is the CPU time of the target.
	CPUSecondsPerMillionRequests float64 `json:"cpuSecondsPerMillionRequests,omitempty"`
	// BytesPerConnection is the largest memory of the target divided by the connections of closed load.
	BytesPerConnection float64 `json:"bytesPerConnection,omitempty"`
}

// Capacities returns the results of the capacity searches that have begun, by cell.
func (p *Planner) Capacities(runs []Run) []Capacity {
	return p.capacities(p.ledger(runs))
}

func (p *Planner) capacities(l *ledger) (capacities []Capacity) {
	if p.Spec.Capacity == nil {
		return nil
	}
	for cell := range p.Cells {
		if len(l.trials[cell]) == 0 {
			continue
		}
		runs := l.trialsOf(cell)
		step := Search(p.Spec.Capacity, trialsOf(runs))
		c := Capacity{Cell: cell, Sustained: step.Sustained, Failed: step.Failed, Limit: step.Limit, Trials: len(runs)}
		c.derive(slices.DeleteFunc(runs, func(r *Run) bool { return r.Load != step.Sustained || r.Outcome != OutcomePassed }))
		capacities = append(capacities, c)
	}
	return capacities
}

const secondsPerDay = 24 * 60 * 60

// derive sets the figures at the sustained load from the trials that passed there.
func (c *Capacity) derive(passed []*Run) {
	c.AchievedPerSecond = middle(passed, func(r *Run) float64 { return r.Achieved })
	c.RequestsPerDay = secondsPerDay * c.AchievedPerSecond
	c.BytesPerSecond = middle(passed, func(r *Run) float64 { return r.Figures[v1alpha1.MetricBytesPerSecond] })
	// Microseconds per request are seconds per million requests.
	c.CPUSecondsPerMillionRequests = middle(passed, func(r *Run) float64 { return r.Figures[v1alpha1.MetricTargetCPUPerRequest] })
	c.BytesPerConnection = middle(passed, func(r *Run) float64 {
		return r.Figures[v1alpha1.MetricTargetPeakMemory] / float64(max(1, r.Connections))
	})
	if len(passed) == 0 || passed[0].Connections == 0 {
		c.BytesPerConnection = 0
	}
}

// middle returns the median of a figure; 0 without runs.
func middle(runs []*Run, of func(*Run) float64) float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// obstacle says why a search that has ended found no capacity.
func (c Capacity) obstacle() string {
	if c.Limit == v1alpha1.LimitClients {
		return "the clients were saturated at " + strconv.FormatInt(c.Failed, 10) + ". Increase clients.resources.cpu or clients.replicas."
	}
	return "the trials contradict each other after " + strconv.Itoa(c.Trials) + " of them. Increase capacity.trialSeconds or precisionPercent."
}

// CapacityStatuses returns capacities as the status has them: at most 64 of 24 KiB as JSON.
func CapacityStatuses(cells []Cell, capacities []Capacity) []v1alpha1.CapacityStatus {
	statuses := make([]v1alpha1.CapacityStatus, min(len(capacities), maxStatus))
	for i := range statuses {
		c := &capacities[i]
		statuses[i] = v1alpha1.CapacityStatus{Cell: cells[c.Cell].Name, Limit: c.Limit, Trials: ptr.To(int32(c.Trials))}
		if c.Sustained > 0 {
			statuses[i].Sustained = &c.Sustained
			statuses[i].Achieved = strconv.FormatFloat(c.AchievedPerSecond, 'f', 2, 64)
		}
		if c.Failed > 0 {
			statuses[i].Failed = &c.Failed
		}
	}
	return fitting(statuses, maxCapacitiesBytes)
}
