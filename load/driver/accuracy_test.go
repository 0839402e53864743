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
// times. It returns their results and the times that the server measured.
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

// bareClient makes the same number of requests on the same number of connections
// with plain code. It returns the times it measured and those that the server
// measured.
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

// TestPercentilesMatchServer compares what five clients measured over real
// sockets with the delays that the server imposed. Between the two are the kernel
// and its scheduler. Other work on the machine only increases the difference, so
// the best of some attempts counts for each percentile. If that exceeds the
// bound, it must be close to what a bare client measures on the same machine.
// (TestMeasuredTimesAreExact shows that the driver itself adds nothing.) The
// counts must be right in all attempts.
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
			t.Logf("p50, p90, p99, p99.9 beyond the histogram's 0.1%%: %v", best)
			return
		}
		bare, truth := bareClient(t, p)
		bareBest = smaller(bareBest, deviations(bare, truth))
	}
	for i, p := range []float64{50, 90, 99, 99.9} {
		if best[i] > bound && best[i] > bareBest[i]+bound {
			t.Errorf("p%v deviates by %v, a bare client's by %v", p, best[i], bareBest[i])
		}
	}
}

// smaller returns the element-wise minimum of a and b. It returns b if a is nil.
func smaller(a, b []time.Duration) []time.Duration {
	if a == nil {
		return b
	}
	for i := range a {
		a[i] = min(a[i], b[i])
	}
	return a
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
	recorder.NewSampler(pooled, time.Now(), func(*result.ClientSecond) {}).Run(ended)

	// The manager merges measures that have been sent over the wire.
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
	for phase := range result.Phases {
		got, want := merge(received).Latencies.Get(phase).Bars(), pooled.Total().Latencies.Get(phase).Bars()
		if !slices.Equal(got, want) {
			t.Errorf("%s: the buckets differ:\ngot  %v\nwant %v", phase, got, want)
		}
	}
}
