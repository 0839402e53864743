package result

// BreakingMetrics are the metrics that are breaking points, with the kinds of each. A value is the load of all
// clients as planned, in connections or in requests per second, at which one of the kinds was first met. A result
// whose load met none has no such metric: the breaking point is above its load.
var BreakingMetrics = map[string][]BreakingPointKind{
	"BreakingPointCPU":            {BreakingCPU, BreakingPodCPU},
	"BreakingPointFailedRequests": {BreakingFailedRequests},
	"BreakingPointErrorRate":      {BreakingErrorRate},
	"BreakingPointLatencyP99":     {BreakingLatencyP99},
	"BreakingPointThroughput":     {BreakingThroughput},
}

// firstBroken returns the load at which a breaking point of one of some kinds was first met.
func firstBroken(kinds []BreakingPointKind) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		var first *BreakingPoint
		for i := range r.BreakingPoints {
			p := &r.BreakingPoints[i]
			for _, kind := range kinds {
				if p.Reached && p.Kind == kind && (first == nil || p.Second < first.Second) {
					first = p
				}
			}
		}
		if first == nil {
			return 0, false
		}
		return float64(first.Load()), true
	}
}
