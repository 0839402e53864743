package series

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

// second returns a second with requests that took the given times, in microseconds.
func second(number int64, took ...int64) *result.ClientSecond {
	s := &result.ClientSecond{Second: number}
	s.Requests = int64(len(took))
	for _, t := range took {
		s.Latencies.Of(result.Total).Record(t)
	}
	return s
}

// TestSeriesIsThatOfAllSamplesPooled sends many seconds of several clients, in
// the order of a resend, and compares each entry with the histogram of all its
// samples.
func TestSeriesIsThatOfAllSamplesPooled(t *testing.T) {
	for _, test := range []struct {
		clients, seconds, width int64
	}{{3, 1, 1}, {3, 150, 1}, {1, 600, 1}, {2, 601, 2}, {1, 1300, 4}} {
		random := rand.New(rand.NewPCG(1, 2))
		s := NewClients()
		pooled := map[int64]*result.Histogram{}
		for range test.clients {
			for second := range test.seconds {
				sample := &result.ClientSecond{Second: second, Usage: result.ClientUsage{
					UserCPU: 10, SystemCPU: 1, Throttled: 2, SchedulingLatencyP99: second + 5, GCPause: 3, GCPauseMax: 3 * second,
				}}
				for range 5 {
					took := int64(random.ExpFloat64() * 1000)
					sample.Latencies.Of(result.Total).Record(took)
					key := second / test.width
					if pooled[key] == nil {
						pooled[key] = result.NewHistogram()
					}
					pooled[key].Record(took)
				}
				sample.Requests, sample.BytesReceived = 6, 100
				sample.Errors[result.ErrorTimeout] = 1
				sample.Phases[result.Waiting] = result.PhaseTime{Count: 5, Sum: 50, Max: second + 1}
				s.Add(sample, 1)
			}
		}
		var want []result.Second
		for key, h := range pooled {
			width := min(test.width, test.seconds-key*test.width)
			n, last := width*test.clients, key*test.width+width-1
			one := result.Second{
				Second: key * test.width, Seconds: test.width, ClientCPU: 11 * n,
				ClientThrottled: 2 * n, ClientSchedulingLatencyP99: last + 5, ClientGCPauseMax: 3 * last,
				P50: h.Percentile(50), P90: h.Percentile(90), P99: h.Percentile(99), Max: h.Max(), Sketch: h.Sketch(),
			}
			counts := result.Counts{Requests: 6 * n, BytesReceived: 100 * n, Errors: result.ErrorCounts{result.ErrorTimeout: n}}
			one.SetCounts(counts, result.PhaseTimes{result.Waiting: {Count: 5 * n, Sum: 50 * n, Max: last + 1}})
			want = append(want, one)
		}
		slices.SortFunc(want, func(a, b result.Second) int { return int(a.Second - b.Second) })
		if diff := cmp.Diff(want, s.Seconds()); diff != "" {
			t.Errorf("%d seconds: %s", test.seconds, diff)
		}
		if len(s.open) > openEntries {
			t.Errorf("%d open entries", len(s.open))
		}
	}
}

// TestSeriesIsReadAgain checks that what a client sends after the series was read counts, also in entries that have
// been joined since.
func TestSeriesIsReadAgain(t *testing.T) {
	s := NewClients()
	want := func(p99, longest int64, seconds int) {
		t.Helper()
		if got := s.Seconds(); len(got) != seconds || got[0].P99 != p99 || got[0].Max != longest {
			t.Errorf("%d entries, the first has %d µs and %d µs; want %d, %d and %d", len(got), got[0].P99, got[0].Max, seconds, p99, longest)
		}
	}
	s.Add(second(0, 10), 1)
	want(10, 10, 1)
	s.Add(second(0, 20), 1) // of another client
	want(20, 20, 1)
	s.Add(second(1, 30), 1)
	want(20, 20, 2)
	s.Add(second(MaxLength, 5), 1)
	want(30, 30, 2)
}

// TestSeriesOfJoinedSeconds sends several seconds of a client as one.
func TestSeriesOfJoinedSeconds(t *testing.T) {
	s := NewClients()
	s.Add(second(0, 1), 1)
	s.Add(second(1, 2), 1)
	s.Add(second(4, 3, 4, 5), 3) // 4 to 6
	var got []int64
	for _, e := range s.Seconds() {
		got = append(got, e.Second, e.Seconds, e.Requests)
	}
	if diff := cmp.Diff([]int64{0, 4, 2, 4, 4, 3}, got); diff != "" {
		t.Error(diff)
	}
}
