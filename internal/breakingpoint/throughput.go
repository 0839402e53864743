package breakingpoint

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// LoadGainPercent is the increase of the load over which a throughput is compared.
	LoadGainPercent = 20
	// windowSeconds is the time over which a throughput is the mean. windows is the number of successive
	// windows under more load that are compared with one under less: the throughput of a target that
	// stops for a moment rises again.
	windowSeconds = 10
	windows       = 3
)

// window is a span of time within one segment of the load.
type window struct {
	first, last int // entries
	seconds     int64
	load        float64 // mean
	perSecond   float64 // successful requests
}

// throughput returns the breaking point from which on more load doesn't raise the throughput: the first window
// of windowSeconds, none of whose next three windows under a load that is higher by LoadGainPercent or more has
// a throughput that is higher by the bound. A window is within a level, or within a step between levels; a
// shorter one of these is one window. If the load ends before three windows, those that there are count.
//
// A target that breaks sharply at a load N has its point between N/(1 + bound) and N: by 5%, the throughput at
// 0.953·N is below the highest. The point's load is the mean of the window, and its time the window's middle.
func (s *search) throughput(bound float64) result.BreakingPoint {
	p := result.BreakingPoint{
		Kind: result.BreakingThroughput, Bound: fmt.Sprintf("less than %g%% more with %d%% more load", bound, LoadGainPercent),
	}
	all := s.windows()
	ended := len(s.entries) > 0 && s.entries[len(s.entries)-1].Second.Second+s.entries[len(s.entries)-1].Seconds >= s.load.End
	for i := range all {
		before := &all[i]
		compared, last := 0, before.last
		var best *window
		for j := i + 1; j < len(all) && compared < windows; j++ {
			more := &all[j]
			if more.first <= last || more.load < before.load*(1+LoadGainPercent/100.0) {
				continue
			}
			compared, last = compared+1, more.last
			if best == nil || more.perSecond > best.perSecond {
				best = more
			}
		}
		if best == nil || compared < windows && !ended || before.perSecond == 0 || best.perSecond >= before.perSecond*(1+bound/100) {
			continue
		}
		p = s.at(p, (before.first+before.last)/2,
			fmt.Sprintf("%.1f%% more with %.1f%% more load", 100*(best.perSecond/before.perSecond-1), 100*(best.load/before.load-1)))
		p.Seconds = before.seconds
		return p
	}
	return p
}

// windows returns the windows that begin at each entry, in their order.
func (s *search) windows() []window {
	var all []window
	for i := range s.entries {
		e := &s.entries[i]
		if e.segment < 0 || e.load <= 0 {
			continue
		}
		w := window{first: i}
		succeeded := int64(0)
		over := false // the segment
		for j := i; j < len(s.entries) && w.seconds < windowSeconds; j++ {
			next := &s.entries[j]
			if over = next.segment != e.segment; over {
				break
			}
			w.last = j
			w.seconds += next.Seconds
			w.load += next.load * float64(next.Seconds)
			succeeded += next.Requests - next.Errors
		}
		whole := over && (i == 0 || s.entries[i-1].segment != e.segment)
		if w.seconds < windowSeconds && !whole {
			continue
		}
		w.load /= float64(w.seconds)
		w.perSecond = float64(succeeded) / float64(w.seconds)
		all = append(all, w)
	}
	return all
}
