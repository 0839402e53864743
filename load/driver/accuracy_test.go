package driver

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/internal/testserver"
	"github.com/assay-dev/assay/load/recorder"
)

// slowMix are shares of responses, per thousand, and the time that each takes.
// No percentile that is asked for lies at an edge between two.
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

// deviations are the differences between the percentiles of a histogram and
// those of the pooled truth, each less the 0.1 % that the histogram allows.
func deviations(h *result.Histogram, truth []time.Duration) []time.Duration {
	slices.Sort(truth)
	var all []time.Duration
	for _, p := range percentiles {
		// All numbers of requests here are multiples of 1000, so that this is exact.
		want := truth[int(math.Round(p*float64(len(truth))/100))-1]
		got := time.Duration(h.Percentile(p)) * time.Microsecond
		all = append(all, max(0, (got-want).Abs()-want/1000))
	}
	return all
}

// fiveClients drives five clients against a server that serves a known mix, and
// returns their figures and the server's times.
func fiveClients(t *testing.T, p session.Plan) (clients []stageResult, truth []time.Duration) {
	t.Helper()
	server := testserver.New(t, slow)
	for range 5 {
		clients = append(clients, drive(t, p, server.Address()))
	}
	server.Stop()
	return clients, server.Seen().Served
}

func merge(clients []stageResult) *result.Measure {
	var merged result.Measure
	for _, c := range clients {
		merged.Merge(c.Measure)
	}
	return &merged
}

// bareClient makes as many requests over as many connections in the plainest
// way there is, and returns the times they took and those of the server.
func bareClient(t *testing.T, p session.Plan) (*result.Histogram, []time.Duration) {
	t.Helper()
	server := testserver.New(t, slow)
	var mu sync.Mutex
	h := result.NewHistogram()
	var group sync.WaitGroup
	for range p.Connections {
		group.Go(func() {
			conn, err := net.Dial("tcp", server.Address())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			reader := bufio.NewReader(conn)
			for range p.Measurement.Requests / int64(p.Connections) {
				began := time.Now()
				_, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				took := time.Since(began)
				mu.Lock()
				h.Record(took.Microseconds())
				mu.Unlock()
			}
		})
	}
	group.Wait()
	server.Stop()
	return h, server.Seen().Served
}

// TestPercentilesAreTheServers compares what five clients measured over real
// sockets with what the server knows that it imposed; between the two lie the
// kernel and its scheduler. What else a machine does only ever adds to the
// difference, so that for each percentile the best of some attempts counts; and
// where that is over the bound, it must be close to what a bare client measures
// beside it on the same machine. (That the driver itself adds nothing,
// TestWhatIsMeasuredIsWhatIsImposed shows.) The counts must be right in all
// attempts.
func TestPercentilesMatchServer(t *testing.T) { inBothModes(t, testPercentilesMatchServer) }

func testPercentilesMatchServer(t *testing.T) {
	const bound = 200 * time.Microsecond
	p := plan(20, 2000, "/")
	p.Requests[0].Length = 1024
	var best, bareBest []time.Duration
	for range 5 {
		clients, truth := fiveClients(t, p)
		merged := merge(clients)
		if merged.Requests != 10_000 || merged.Succeeded() != 10_000 || len(truth) != 10_000 {
			t.Fatalf("%d requests, %d succeeded, the server served %d", merged.Requests, merged.Succeeded(), len(truth))
		}
		best = smaller(best, deviations(merged.Latencies.Get(result.Total), truth))
		if slices.Max(best) <= bound {
			t.Logf("p50, p90, p99, p99.9 beyond the histogram's 0.1 %%: %v", best)
			return
		}
		bare, truth := bareClient(t, p)
		bareBest = smaller(bareBest, deviations(bare, truth))
	}
	for i, p := range []float64{50, 90, 99, 99.9} {
		if best[i] > bound && best[i] > bareBest[i]+bound {
			t.Errorf("p%v is off by %v, a bare client's by %v", p, best[i], bareBest[i])
		}
	}
}

// smaller returns the smaller of each two durations; a is nil at first.
func smaller(a, b []time.Duration) []time.Duration {
	if a == nil {
		return b
	}
	for i := range a {
		a[i] = min(a[i], b[i])
	}
	return a
}

// TestMergedIsPooled checks that merging clients loses nothing: the merged
// histograms are those of all samples pooled, bucket for bucket.
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
	recorder.NewSampler(pooled, time.Now(), func(*result.ClientSecond) {}).Run(ended)

	// What the manager merges has been sent in between.
	var received []stageResult
	for _, c := range clients {
		wire, err := session.MeasureToWire(c.Measure)
		if err != nil {
			t.Fatal(err)
		}
		m, err := session.MeasureFromWire(wire)
		if err != nil {
			t.Fatal(err)
		}
		received = append(received, stageResult{Measure: m})
	}
	sameMeasure(t, merge(received), pooled.Total())
	for phase := range result.AllPhases() {
		got, want := merge(received).Latencies.Get(phase).Bars(), pooled.Total().Latencies.Get(phase).Bars()
		if !slices.Equal(got, want) {
			t.Errorf("%s: the buckets differ:\ngot  %v\nwant %v", phase, got, want)
		}
	}
}
