package loadplan

import (
	"cmp"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/steady"
)

// maxConnections returns how many connections a client of open load has at most if the spec doesn't
// set it: 1000, or fewer where that would be more than 20000 streams.
func maxConnections(streams int) int32 { return int32(min(1000, 20_000/max(streams, 1))) }

// split returns a client's part of a total. Parts differ by at most one, and add up to the total.
func split(total int64, index, clients int) int64 {
	part := total / int64(clients)
	if int64(index) < total%int64(clients) {
		part++
	}
	return part
}

// sharing says what a number in a spec is for one client of all.
type sharing struct {
	per            v1alpha1.LoadIsPer
	index, clients int
}

// own is the client's part of a number.
func (s sharing) own(n int64) int64 {
	if s.per == v1alpha1.LoadPerRun {
		return split(n, s.index, s.clients)
	}
	return n
}

// all returns a number of the spec as the sum over all clients.
func (s sharing) all(n int64) int64 {
	if s.per == v1alpha1.LoadPerRun {
		return n
	}
	return n * int64(s.clients)
}

func (s sharing) amount(requests *int64, seconds *int32) session.Amount {
	return session.Amount{
		Requests:             s.own(ptr.Deref(requests, 0)),
		DurationMicroseconds: int64(ptr.Deref(seconds, 0)) * microsecondsPerSecond,
	}
}

func shape(p *session.Plan, spec *v1alpha1.BenchmarkRunSpec, s sharing) {
	var warm profile.Profile
	switch load := &spec.Load; {
	case load.Open != nil:
		warm = open(p, load.Open, s)
	case load.Stages != nil:
		warm = stages(p, load.Stages, s)
	case load.Closed != nil:
		closed(p, load.Closed, s)
	}
	if w := spec.Load.Warmup; w != nil {
		amount := s.amount(w.RequestCount, warmupSeconds(w))
		amount.Profile = warm
		p.Warmup = &amount
	}
}

func closed(p *session.Plan, load *v1alpha1.ClosedLoad, s sharing) {
	p.Connections = int(s.own(busy(load)))
	p.ThinkTime = thinkTime(load.ThinkTime)
	p.Measurement = s.amount(load.RequestCount, load.DurationSeconds)
	if ramp := ptr.Deref(load.RampSeconds, 0); ramp > 0 {
		p.Measurement.Profile = profile.Profile{{To: int64(p.Connections), DurationMicroseconds: int64(ramp) * microsecondsPerSecond}}
	}
}

// open returns the profile of the warm-up, as stages does.
func open(p *session.Plan, load *v1alpha1.OpenLoad, s sharing) profile.Profile {
	arrivals(p, load.MaxConnections, load.InterArrivalTimes, s)
	p.Measurement = s.amount(load.RequestCount, load.DurationSeconds)
	var from int64
	if load.Ramp != nil {
		from = ptr.Deref(load.Ramp.From, "").Thousandths()
	}
	to, scale := load.RequestsPerSecond.Thousandths(), int64(1000)
	for scale > 1 && from%10 == 0 && to%10 == 0 {
		from, to, scale = from/10, to/10, scale/10
	}
	if scale > 1 {
		p.Arrivals.Scale = int(scale)
	}
	rate := s.all(to)
	steady := profile.Profile{{From: rate, To: rate}}
	p.Measurement.Profile = steady
	if r := load.Ramp; r != nil {
		p.Measurement.Profile = profile.Profile{
			{From: s.all(from), To: rate, DurationMicroseconds: int64(r.Seconds) * microsecondsPerSecond},
		}
	}
	return steady
}

func stages(p *session.Plan, load *v1alpha1.StagesLoad, s sharing) profile.Profile {
	p.Measurement.Profile = segments(load, func(l *v1alpha1.LoadLevel) int64 {
		if n := held(l); n != nil {
			return s.own(int64(*n))
		}
		return s.all(int64(ptr.Deref(l.RequestsPerSecond, 0)))
	})
	p.Measurement.DurationMicroseconds = p.Measurement.Profile.Duration().Microseconds()
	p.ThinkTime = thinkTime(load.ThinkTime)
	if held(&load.Levels[0]) != nil {
		p.Connections = int(p.Measurement.Profile.Max())
	} else {
		arrivals(p, load.MaxConnections, load.InterArrivalTimes, s)
	}
	first := p.Measurement.Profile.Levels()[0].Load
	return profile.Profile{{From: first, To: first}}
}

// segments returns the profile of stages, given the load at each level.
func segments(load *v1alpha1.StagesLoad, at func(*v1alpha1.LoadLevel) int64) profile.Profile {
	var segments profile.Profile
	var before int64
	for i := range load.Levels {
		l := &load.Levels[i]
		n := at(l)
		if ramp := ptr.Deref(l.RampSeconds, 0); ramp > 0 {
			segments = append(segments, profile.Segment{From: before, To: n, DurationMicroseconds: int64(ramp) * microsecondsPerSecond})
		}
		segments = append(segments, profile.Segment{From: n, To: n, DurationMicroseconds: int64(l.HoldSeconds) * microsecondsPerSecond, Level: true})
		before = n
	}
	return segments
}

// arrivals makes a client send requests at their intended start times.
func arrivals(p *session.Plan, connections *int32, times v1alpha1.InterArrivalTimes, s sharing) {
	p.Connections = int(s.own(int64(ptr.Deref(connections, maxConnections(p.Streams)))))
	p.Arrivals = &session.Arrivals{Share: s.index, Shares: s.clients, Poisson: times == v1alpha1.InterArrivalPoisson}
}

func thinkTime(t *v1alpha1.ThinkTime) *session.ThinkTime {
	if t == nil {
		return nil
	}
	return &session.ThinkTime{
		MinMicroseconds: int64(t.MinMilliseconds) * 1000,
		MaxMicroseconds: int64(ptr.Deref(t.MaxMilliseconds, t.MinMilliseconds)) * 1000,
	}
}

// Shape is the shape of a load, as results name it.
func Shape(spec *v1alpha1.BenchmarkRunSpec) string {
	load := &spec.Load
	if spec.Script != nil {
		return result.LoadScript
	}
	if load.Open != nil || load.Stages != nil && load.Stages.Levels[0].RequestsPerSecond != nil {
		return result.LoadOpen
	}
	return result.LoadClosed
}

// TargetRatePerSecond returns the highest arrival rate of an open load over all clients, else 0.
func TargetRatePerSecond(spec *v1alpha1.BenchmarkRunSpec) float64 {
	s := sharing{per: spec.Load.LoadIsPer, clients: Replicas(spec)}
	if spec.Load.Open != nil {
		return float64(s.all(spec.Load.Open.RequestsPerSecond.Thousandths())) / 1000
	}
	var most int64
	if spec.Load.Stages != nil {
		for _, l := range spec.Load.Stages.Levels {
			most = max(most, s.all(int64(ptr.Deref(l.RequestsPerSecond, 0))))
		}
	}
	return float64(most)
}

// Extent is the size of a load: requests over all clients, or else seconds. A script has neither.
type Extent struct{ Requests, Seconds int64 }

// Extents returns the extents of the warm-up and of the measurement by the clock, which the loads of a block take together.
func Extents(spec *v1alpha1.BenchmarkRunSpec) (warmup, measurement Extent) {
	s := sharing{per: spec.Load.LoadIsPer, clients: Replicas(spec)}
	extent := func(requests *int64, seconds *int32) Extent {
		by := Slices(spec).Extent(time.Duration(ptr.Deref(seconds, 0)) * time.Second)
		return Extent{Requests: s.all(ptr.Deref(requests, 0)), Seconds: int64(by / time.Second)}
	}
	if w := spec.Load.Warmup; w != nil {
		warmup = extent(w.RequestCount, warmupSeconds(w))
	}
	switch load := &spec.Load; {
	case load.Open != nil:
		measurement = extent(load.Open.RequestCount, load.Open.DurationSeconds)
	case load.Stages != nil:
		for _, l := range load.Stages.Levels {
			measurement.Seconds += int64(ptr.Deref(l.RampSeconds, 0)) + int64(l.HoldSeconds)
		}
	case load.Closed != nil:
		measurement = extent(load.Closed.RequestCount, load.Closed.DurationSeconds)
	}
	return warmup, measurement
}

// Slices returns the times at which the load of a run of a block runs, or nil for other runs.
func Slices(spec *v1alpha1.BenchmarkRunSpec) *profile.Slices {
	a := spec.Alternation
	if a == nil {
		return nil
	}
	return &profile.Slices{Variant: int(ptr.Deref(a.Variant, 0)), Variants: int(a.Variants)}
}

// Steady returns the criterion by which a target counts as steady.
func Steady(s *v1alpha1.SteadyState) steady.Criterion {
	given := func(n *int32, byDefault int64) int64 { return cmp.Or(int64(ptr.Deref(n, 0)), byDefault) }
	d := steady.Defaults
	return steady.Criterion{
		WindowSeconds: given(s.WindowSeconds, d.WindowSeconds), Windows: given(s.Windows, d.Windows),
		ThroughputPercent: given(s.ThroughputPercent, d.ThroughputPercent), P99Percent: given(s.P99Percent, d.P99Percent),
		TimeoutSeconds: given(s.TimeoutSeconds, d.TimeoutSeconds),
	}
}

// warmupSeconds returns the length or the timeout of a warm-up, or nil for a number of requests.
func warmupSeconds(w *v1alpha1.Warmup) *int32 {
	if w.Steady != nil {
		return ptr.To(int32(Steady(w.Steady).TimeoutSeconds))
	}
	return w.DurationSeconds
}
