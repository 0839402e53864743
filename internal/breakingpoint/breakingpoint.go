// Package breakingpoint finds the load at which a target begins to be overloaded: the users at which its CPU
// passes a bound, requests fail, latencies are too long or the throughput no longer rises. It reads the seconds
// of a measurement whose load changes, levels and the steps between them alike. It is pure: seconds in,
// breaking points out.
package breakingpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// SustainedSeconds is the time for which the CPU usage or a latency must be above its bound without a
	// break. A single second may show a garbage collection.
	SustainedSeconds = 3
	// ErrorRequests is the number of requests of which the share of failed ones is computed: those of
	// the last seconds that have that many. So a share of 5% is no single request.
	ErrorRequests = 100
)

// Bounds are the conditions to look for. A bound of 0 is not looked for.
type Bounds struct {
	// CPUPercent is the CPU usage in percent of the limit that a container, or all containers of the
	// target together, must be above.
	CPUPercent float64
	// FailedRequests is the number of failed requests since the start.
	FailedRequests int64
	// ErrorPercent is the share of failed requests in percent that the failed requests must be above.
	ErrorPercent float64
	// LatencyP99 is the 99th percentile in microseconds that requests of a second must be above.
	LatencyP99 int64
	// ThroughputGainPercent is the least by which the throughput rises, in percent, when the load rises
	// by LoadGainPercent.
	ThroughputGainPercent float64
}

// Defaults are the bounds of runs that set none: those of R5, "CPU over 90%" and "5% of users failing", the
// first failed request, and a throughput that rises by a quarter of what the load does.
var Defaults = Bounds{CPUPercent: 90, FailedRequests: 1, ErrorPercent: 5, ThroughputGainPercent: 5}

// Or returns the bounds, with those of others for the ones that are not set.
func (b Bounds) Or(others Bounds) Bounds {
	return Bounds{
		CPUPercent: cmp.Or(b.CPUPercent, others.CPUPercent), FailedRequests: cmp.Or(b.FailedRequests, others.FailedRequests),
		ErrorPercent: cmp.Or(b.ErrorPercent, others.ErrorPercent), LatencyP99: cmp.Or(b.LatencyP99, others.LatencyP99),
		ThroughputGainPercent: cmp.Or(b.ThroughputGainPercent, others.ThroughputGainPercent),
	}
}

// Load is the load of all clients, and the limits of the target.
type Load struct {
	// Profile is the number of connections, or the arrival rate if Rate is set, over time.
	Profile profile.Profile
	Rate    bool
	// End is the end of the load in whole seconds from the start.
	End int64
	// Containers are the target's containers with their limits; none if their usage is unknown.
	Containers []result.Container
	// SharedCPULimit limits them together, in thousandths of a CPU; 0 if only their own limits do.
	SharedCPULimit int64
}

// entry is a second of the series, or several joined ones, and its place in the load.
type entry struct {
	*result.Second
	// load is the mean load. segment is the segment of the profile that the entry is a part of, or -1 if it
	// is a part of several, or after the load's end. step reports whether the load changed meanwhile.
	load    float64
	segment int
	step    bool
}

// search is a search in one series.
type search struct {
	load    *Load
	entries []entry
}

// Find returns the breaking points of a series, which may be that of the load's beginning: one for each
// bound, whether it was reached or not, in a fixed order.
//
//   - CPU of a container, CPU of the pod: the first entry from which on the usage is above the bound for
//     SustainedSeconds. One whose usage isn't known in any entry is omitted. A target of one container has
//     no CPU of the pod.
//   - Failed requests: the first entry up to which that many requests have failed.
//   - Error rate: the first entry at which, of the last ErrorRequests requests or those of the entry if
//     they are more, more than the bound's share has failed.
//   - 99th percentile: the first entry from which on it is above the bound for SustainedSeconds. Entries
//     without a successful request don't count.
//   - Throughput: see throughput.
//
// Failed requests belong to the time at which they failed, which is their timeout after their start if they
// timed out.
func Find(series []result.Second, load *Load, b Bounds) []result.BreakingPoint {
	s := newSearch(series, load)
	var points []result.BreakingPoint
	add := func(p result.BreakingPoint, known bool) {
		if known {
			points = append(points, p)
		}
	}
	if b.CPUPercent > 0 {
		for i := range load.Containers {
			add(s.cpu(load.Containers[i:i+1], result.BreakingPoint{Kind: result.BreakingCPU, Container: load.Containers[i].Name}, b.CPUPercent))
		}
		if len(load.Containers) > 1 {
			add(s.cpu(load.Containers, result.BreakingPoint{Kind: result.BreakingPodCPU}, b.CPUPercent))
		}
	}
	if b.FailedRequests > 0 {
		add(s.failedRequests(b.FailedRequests), true)
	}
	if b.ErrorPercent > 0 {
		add(s.errorRate(b.ErrorPercent), true)
	}
	if b.LatencyP99 > 0 {
		add(s.latency(b.LatencyP99), true)
	}
	if b.ThroughputGainPercent > 0 {
		add(s.throughput(b.ThroughputGainPercent), true)
	}
	return points
}

// First returns the breaking point that was reached first, or nil if none was.
func First(points []result.BreakingPoint) *result.BreakingPoint {
	reached := slices.DeleteFunc(slices.Clone(points), func(p result.BreakingPoint) bool { return !p.Reached })
	if len(reached) == 0 {
		return nil
	}
	first := slices.MinFunc(reached, func(a, b result.BreakingPoint) int { return cmp.Compare(a.Second, b.Second) })
	return &first
}

func newSearch(series []result.Second, load *Load) *search {
	s := &search{load: load}
	bounds := load.Profile.Bounds()
	for i := range series {
		e := entry{Second: &series[i], segment: -1}
		from, to := time.Duration(e.Second.Second)*time.Second, time.Duration(e.Second.Second+e.Seconds)*time.Second
		if end := time.Duration(load.End) * time.Second; from >= end {
			from, to = end-time.Second, end
		} else {
			to = min(to, end)
			if e.Second.Second+e.Seconds <= load.End {
				e.segment = slices.IndexFunc(bounds, func(b profile.Period) bool { return from >= b.Start && to <= b.End })
			}
		}
		for n, b := range bounds {
			e.step = e.step || !load.Profile[n].Level && from < b.End && to > b.Start
		}
		e.load = (load.Profile.Area(to) - load.Profile.Area(from)) / (to - from).Seconds()
		s.entries = append(s.entries, e)
	}
	return s
}

// at sets the time and the load of a point that was reached at an entry.
func (s *search) at(p result.BreakingPoint, i int, actual string) result.BreakingPoint {
	e := &s.entries[i]
	p.Reached, p.Second, p.Seconds, p.Actual = true, e.Second.Second, e.Seconds, actual
	load := int64(e.load + 0.5)
	if s.load.Rate {
		p.RatePerSecond = load
	} else {
		p.Connections = load
	}
	p.Step = e.step
	return p
}

// sustained returns the first of the entries from which on a metric is above a bound for SustainedSeconds, or
// -1. Entries of which it is unknown don't count.
func (s *search) sustained(bound float64, of func(e *entry) (value float64, known bool)) int {
	first, seconds := -1, int64(0)
	for i := range s.entries {
		e := &s.entries[i]
		if e.Second.Second >= s.load.End {
			break
		}
		value, known := of(e)
		switch {
		case !known:
			continue
		case value <= bound:
			first, seconds = -1, 0
			continue
		case first < 0:
			first = i
		}
		if seconds += e.Seconds; seconds >= SustainedSeconds {
			return first
		}
	}
	return -1
}

// cpu returns the breaking point of the CPU time of some containers together. known reports whether their usage
// is known in any entry.
func (s *search) cpu(containers []result.Container, p result.BreakingPoint, bound float64) (of result.BreakingPoint, known bool) {
	shared := s.load.SharedCPULimit
	if p.Kind == result.BreakingCPU {
		shared = 0 // the container's own limit
	}
	limit := result.PodCPULimit(containers, shared)
	percent := func(e *entry) (float64, bool) {
		used := int64(0)
		for i := range containers {
			time := e.CPUOf(containers[i].Name)
			if time < 0 || limit <= 0 {
				return 0, false
			}
			used += time
		}
		// CPU µs, divided by limit/1000 CPUs and Seconds·1,000,000 µs, in percent
		return 100 * float64(used) / (float64(limit) * 1000 * float64(e.Seconds)), true
	}
	known = slices.ContainsFunc(s.entries, func(e entry) bool { _, known := percent(&e); return known })
	p.Bound = fmt.Sprintf("above %g%%", bound)
	if i := s.sustained(bound, percent); i >= 0 {
		value, _ := percent(&s.entries[i])
		p = s.at(p, i, percentText(value))
	}
	return p, known
}

func (s *search) latency(bound int64) result.BreakingPoint {
	p := result.BreakingPoint{Kind: result.BreakingLatencyP99, Bound: "above " + durationText(bound)}
	i := s.sustained(float64(bound), func(e *entry) (float64, bool) { return float64(e.P99), e.Requests > e.Errors && e.P99 >= 0 })
	if i >= 0 {
		p = s.at(p, i, durationText(s.entries[i].P99))
	}
	return p
}

func (s *search) failedRequests(bound int64) result.BreakingPoint {
	p := result.BreakingPoint{Kind: result.BreakingFailedRequests, Bound: fmt.Sprintf("at least %d", bound)}
	failed := int64(0)
	for i := range s.entries {
		if failed += s.entries[i].Errors; failed >= bound {
			return s.at(p, i, strconv.FormatInt(failed, 10))
		}
	}
	return p
}

func (s *search) errorRate(bound float64) result.BreakingPoint {
	p := result.BreakingPoint{Kind: result.BreakingErrorRate, Bound: fmt.Sprintf("above %g%%", bound)}
	for i := range s.entries {
		requests, failed := int64(0), int64(0)
		for j := i; j >= 0 && requests < ErrorRequests; j-- {
			requests, failed = requests+s.entries[j].Requests, failed+s.entries[j].Errors
		}
		if requests >= ErrorRequests && 100*float64(failed) > bound*float64(requests) {
			return s.at(p, i, percentText(100*float64(failed)/float64(requests)))
		}
	}
	return p
}

func percentText(value float64) string { return strconv.FormatFloat(value, 'f', 1, 64) + "%" }

// durationText returns microseconds in the unit in which bounds are written: milliseconds, without needless zeros.
func durationText(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1000, 'f', -1, 64) + "ms"
}
