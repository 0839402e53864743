package result

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSummarizeWithZeros checks that adding zeros to a summary equals recording them.
func TestSummarizeWithZeros(t *testing.T) {
	durations := skewed(5, 1000)
	for _, zeros := range []int64{0, 1, 10, 999, 1000, 1001, 50_000} {
		recorded := of(durations...)
		for range zeros {
			recorded.Record(0)
		}
		want, got := recorded.Summarize(0), of(durations...).Summarize(zeros)
		if d := math.Abs(float64(want.StdDev - got.StdDev)); d > 1+0.001*float64(want.StdDev) {
			t.Errorf("with %d zeros: standard deviation %d, want %d", zeros, got.StdDev, want.StdDev)
		}
		got.StdDev = want.StdDev
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d zeros (-want +got):\n%s", zeros, diff)
		}
		if got.Mean() != recorded.Mean() {
			t.Errorf("with %d zeros: mean %g, want %g", zeros, got.Mean(), recorded.Mean())
		}
	}
}

func TestSummarizeOfNothing(t *testing.T) {
	empty := NewHistogram().Summarize(0)
	if diff := cmp.Diff(Summary{}, empty); diff != "" || empty.Mean() != 0 {
		t.Errorf("%s, mean %g", diff, empty.Mean())
	}
	if diff := cmp.Diff(Summary{Count: 3}, NewHistogram().Summarize(3)); diff != "" {
		t.Error(diff)
	}
}

// TestSummariesAddZerosWhereConnectionsWereReused checks that zeros are added to Connect
// and TLS only.
func TestSummariesAddZerosWhereConnectionsWereReused(t *testing.T) {
	var l Latencies
	for phase := range Phases {
		l.Of(phase).Record(40)
	}
	for range 3 {
		l.Of(Waiting).Record(40)
		l.Of(Total).Record(40)
	}
	s := l.Summarize()
	for phase, want := range map[Phase]int64{
		Connect: 4, TLS: 4, Processing: 1, Waiting: 4, Receiving: 1, Total: 4,
	} {
		if got := s[phase].Count; got != want {
			t.Errorf("%s: %d durations, want %d", phase, got, want)
		}
	}
	if got := s[Connect]; got.Min != 0 || got.Mean() != 10 || got.Percentiles[0] != 0 || got.Max != 40 {
		t.Errorf("connect: %+v", *got)
	}
	var none Latencies
	if diff := cmp.Diff(Summaries{}, none.Summarize()); diff != "" {
		t.Error(diff)
	}
}
