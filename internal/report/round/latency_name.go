package round

import (
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// AxisTitle is like MetricTitle, but says of a latency whether it is the service time or the response time: "p99 (service time), ms".
func (r *Report) AxisTitle(metric v1alpha1.BenchmarkMetric) string {
	name := r.latencyName()
	if name == "" || !strings.HasPrefix(string(metric), "Latency") {
		return MetricTitle(metric)
	}
	return MetricName(metric) + " (" + name + "), " + MetricUnit(metric)
}

// latencyName returns what the latencies of all cells are; empty if they aren't the same, or the spec doesn't say.
func (r *Report) latencyName() string {
	cells, err := benchmark.Cells(&r.Spec)
	if err != nil {
		return ""
	}
	all := ""
	for i := range cells {
		spec, err := cells[i].Spec(&r.Spec.Template.Spec)
		if err != nil {
			return ""
		}
		name := latencyNameOf(spec)
		if i > 0 && name != all {
			return ""
		}
		all = name
	}
	return all
}

func latencyNameOf(spec *v1alpha1.BenchmarkRunSpec) string {
	load := &spec.Load
	switch {
	case spec.Script != nil:
		return "service time as k6 measures it"
	case load.Open != nil, load.Stages != nil && len(load.Stages.Levels) > 0 && load.Stages.Levels[0].RequestsPerSecond != nil:
		return "response time"
	case load.Closed != nil, load.Stages != nil:
		return "service time"
	}
	return ""
}
