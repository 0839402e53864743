package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// minCollections is the number of garbage collections from which on one more or less doesn't matter: their
	// number varies by a third.
	minCollections = 10
	// minRequestsWithoutGC is the number of requests without a garbage collection after which it is the target's
	// property to need none: what a guide to Tomcat's tuning recommends.
	minRequestsWithoutGC = 100_000
	// pauseWarnsShare of the measurement, or of the requests, that one GC pause affects is as large as the
	// differences that benchmarks look for.
	pauseWarnsShare = 0.01
)

// fewRequestsForGC finds measurements in which chance decides how many garbage collections of the target they
// contain, and in which one more or less would matter.
func fewRequestsForGC(r *result.Result) *result.Finding {
	var said []string
	requests := r.Merged.Succeeded()
	for _, c := range r.Containers() {
		if c.Usage == nil || c.Usage.End.GCPauses == result.Unknown || requests == 0 {
			continue
		}
		spent := c.Usage.Spent()
		if spent.At <= 0 || spent.GCPauses == result.Unknown || spent.GCPauses >= minCollections {
			continue
		}
		which := "The target's Java virtual machine"
		if len(r.Containers()) > 1 {
			which += " in container " + c.Name
		}
		if spent.GCPauses == 0 {
			if requests < minRequestsWithoutGC {
				said = append(said, fmt.Sprintf("%s had no GC pause in the %d requests of the measurement, so that the result doesn't have what garbage collections cost.", which, requests))
			}
			continue
		}
		// A pause stops all requests in flight.
		time, share := float64(spent.GCPauseMax)/float64(spent.At), requestsInFlight(r)/float64(requests)
		var effect string
		switch {
		case time >= pauseWarnsShare:
			effect = fmt.Sprintf("%.1f%% of the time", 100*time)
		case share >= pauseWarnsShare && spent.GCPauseMax >= r.Merged.Latencies.Get(result.Total).Percentile(50):
			effect = fmt.Sprintf("%.1f%% of the requests", 100*share)
		default:
			continue
		}
		said = append(said, fmt.Sprintf("%s had %s in the measurement (%.2f%% of the time; the longest: %s). One more or less affects %s.",
			which, pauses(spent.GCPauses), 100*float64(spent.GCPause)/float64(spent.At), milliseconds(spent.GCPauseMax), effect))
	}
	if len(said) == 0 {
		return nil
	}
	return found(ReasonFewRequestsForGC, result.Warns, "%s Make more requests, or measure for longer: for %d pauses or %d requests.",
		strings.Join(said, " "), minCollections, minRequestsWithoutGC)
}

func pauses(n int64) string {
	if n == 1 {
		return "one GC pause"
	}
	return fmt.Sprintf("%d GC pauses", n)
}
