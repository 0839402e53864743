package result

import (
	"cmp"
	"slices"
)

// shortestPoint is the length in seconds below which a last point joins the one before it: rates and percentiles of
// a few milliseconds would look like those of a second.
const shortestPoint = 0.5

// Points returns the series for writers of reports. The last point has its true length, since measurements end within a
// second. One that is shorter than half a second is joined to the point before it.
func (r *Result) Points() []Second {
	points := slices.Clone(r.Series)
	if r.DurationMicroseconds <= 0 {
		return points
	}
	length := func(s *Second) float64 { return float64(r.DurationMicroseconds-s.Second*1_000_000) / 1e6 }
	n := len(points)
	if n > 1 && length(&points[n-1]) < shortestPoint {
		n--
		last := &points[n-1]
		last.Join(&points[n])
		if last.P50 == Unknown && last.Phases != nil { // of the sketches, where they are kept
			if p := last.Sketch.percentiles(last.Phases[Total].Count, last.Max); p != nil {
				last.P50, last.P90, last.P99 = p.P50, p.P90, p.P99
			}
		}
	}
	if n > 0 {
		last := &points[n-1]
		last.TrueSeconds = max(0, min(length(last), float64(last.Seconds)))
	}
	return points[:n]
}

// Length returns the length of a point of Points in seconds.
func (s *Second) Length() float64 { return cmp.Or(s.TrueSeconds, float64(max(1, s.Seconds))) }

// Level returns a point as a level of the load, whose usage is in percent of limits. The CPU time of clients is their mean.
func (s *Second) Level(clients int) *Level {
	return &Level{
		Start: s.Second, End: s.Second + s.Seconds, TrueSeconds: s.TrueSeconds, ClientCPU: s.ClientCPU / int64(max(clients, 1)), ServerCPU: s.ServerCPU,
		TargetUsage: TargetUsage{Server: s.Server, Backends: s.Backends, Node: s.Node},
	}
}
