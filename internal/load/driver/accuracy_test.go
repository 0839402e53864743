package driver

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// slowMix holds the shares of responses, per thousand, and the time that each
// takes. No percentile under test lies on the boundary between two of them.
var slowMix = []struct {
	share int
	takes time.Duration
}{
	{850, 3 * time.Millisecond}, {130, 12 * time.Millisecond}, {15, 40 * time.Millisecond}, {5, 100 * time.Millisecond},
}

func slow(r testserver.Request) testserver.Answer {
	answer := testserver.OK(1024)
	place := r.Number * 7 % 1000
	for _, m := range slowMix {
		if place -= m.share; place < 0 {
			answer.Delay = m.takes
			break
		}
	}
	return answer
}

var percentiles = []float64{50, 90, 99, 99.9}

// deviations returns the differences between the percentiles of a histogram and
// those of all pooled times, reduced by the histogram's tolerance of 0.1%.
func deviations(h *result.Histogram, truth []time.Duration) []time.Duration {
	slices.Sort(truth)
	var all []time.Duration
	for _, p := range percentiles {
		// The index is exact because all numbers of requests are multiples of 1000.
		want := truth[int(math.Round(p*float64(len(truth))/100))-1]
		got := time.Duration(h.Percentile(p)) * time.Microsecond
		all = append(all, max(0, (got-want).Abs()-want/1000))
	}
	return all
}

// fiveClients drives five clients against a server with a known mix of response
// times. It returns their results and the delays that the server imposed.
func fiveClients(t *testing.T, p session.Plan) (clients []stageResult, truth []time.Duration) {
	t.Helper()
	server := testserver.New(t, slow)
	for range 5 {
		clients = append(clients, drive(t, p, server.Address()))
	}
	server.Stop()
	return clients, server.Seen().Delayed
}

func merge(clients []stageResult) *result.Measure {
	var merged result.Measure
	for _, c := range clients {
		merged.Merge(c.Measure)
	}
	return &merged
}

// TestPercentilesMatchServer compares what five clients measured over real
// sockets with the delays that the server imposed. Between the two are the kernel
// and its scheduler: other work on the machine lengthens requests, by any time, but
// never shortens one. So no percentile is below the server's, and what the client
// adds to every request is seen on the fastest, which takes at most 200 µs more than the
// server's fastest.
// (TestMeasuredTimesAreExact shows that the driver itself adds nothing.)
func TestPercentilesMatchServer(t *testing.T) { inBothModes(t, testPercentilesMatchServer) }

func testPercentilesMatchServer(t *testing.T) {
	p := plan(20, 2000, "/")
	p.Requests[0].Length = 1024
	clients, truth := fiveClients(t, p)
	merged := merge(clients)
	if merged.Requests != 10_000 || merged.Succeeded() != 10_000 || len(truth) != 10_000 {
		t.Fatalf("%d requests, %d succeeded, the server answered %d", merged.Requests, merged.Succeeded(), len(truth))
	}
	slices.Sort(truth)
	h := merged.Latencies.Get(result.Total)
	if got := time.Duration(h.Min()) * time.Microsecond; got > truth[0]+truth[0]/1000+200*time.Microsecond {
		t.Errorf("the fastest request took %v, more than 200 µs above the %v imposed", got, truth[0])
	}
	for _, p := range percentiles {
		// The index is exact because the number of requests is a multiple of 1000.
		imposed := truth[int(math.Round(p*float64(len(truth))/100))-1]
		got := time.Duration(h.Percentile(p)) * time.Microsecond
		t.Logf("p%v: %v measured, %v imposed, %v more", p, got, imposed, got-imposed)
		if got < imposed-imposed/1000-time.Microsecond {
			t.Errorf("p%v: %v measured, less than the %v imposed", p, got, imposed)
		}
	}
}

// TestMergedHistogramsEqualPooled checks that merging clients loses nothing: each
// merged histogram equals that of all samples pooled, bucket for bucket.
func TestMergedHistogramsEqualPooled(t *testing.T) {
	clients, _ := fiveClients(t, plan(10, 400, "/"))
	pooled := recorder.New(1)
	for _, c := range clients {
		for _, o := range c.outcomes {
			pooled.Record(0, &o)
		}
	}
	ended := make(chan struct{})
	close(ended)
	recorder.NewSampler(pooled, time.Now(), nil, func(*result.ClientSecond) {}).Run(ended)

	// The manager merges totals that have been sent.
	var received []stageResult
	for _, c := range clients {
		data, err := session.EncodeTotals(&result.Totals{Measure: *c.Measure})
		if err != nil {
			t.Fatal(err)
		}
		totals, err := session.DecodeTotals(data)
		if err != nil {
			t.Fatal(err)
		}
		received = append(received, stageResult{Measure: &totals.Measure})
	}
	sameMeasure(t, merge(received), pooled.Total())
	for phase := range result.Phases {
		got, want := merge(received).Latencies.Get(phase).Bars(), pooled.Total().Latencies.Get(phase).Bars()
		if !slices.Equal(got, want) {
			t.Errorf("%s: the buckets differ:\ngot  %v\nwant %v", phase, got, want)
		}
	}
}
