package manager

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestFollow checks that the merged figures are those of exactly the seconds that all clients have sent, each counted
// once, also when the entries of the series become longer in between and when a client is behind.
func TestFollow(t *testing.T) {
	s := New(nil, func(string) {}, logr.Discard())
	r := s.of("run")
	for i := range 2 {
		r.clients[i] = &participant{seconds: map[sessionpb.Stage]int64{}}
	}
	send := func(client int, from, to int64) {
		for at := from; at < to; at++ {
			r.series.add(second(at, 1000*(at+1), 2000*(at+1)), 1)
		}
		r.clients[client].seconds[sessionpb.Stage_STAGE_MEASUREMENT] = to
	}
	var live Live
	var passed int64
	check := func(clients int, want int64) {
		t.Helper()
		s.Follow("run", clients, &live)
		if passed = 0; len(live.Seconds) > 0 {
			last := live.Seconds[len(live.Seconds)-1]
			passed = last.Second + last.Seconds
		}
		if passed != want {
			t.Fatalf("%d seconds have passed, want %d", passed, want)
		}
		total := result.NewHistogram()
		for at := range want {
			for range 2 { // clients
				total.Record(1000 * (at + 1))
				total.Record(2000 * (at + 1))
			}
		}
		got := live.Total
		if got == nil {
			got = result.NewHistogram()
		}
		if diff := cmp.Diff(total.Summarize(0), got.Summarize(0)); diff != "" {
			t.Errorf("after %d seconds (-want +got):\n%s", want, diff)
		}
		if live.Counts.Requests != 4*want {
			t.Errorf("%d requests in %d seconds", live.Counts.Requests, want)
		}
	}
	check(2, 0)
	send(0, 0, 5)
	check(2, 0)
	send(1, 0, 3)
	check(2, 3)
	check(3, 0) // the third has never connected
	check(2, 3)
	send(1, 3, 5)
	check(2, 5)
	send(0, 5, seriesLength+11) // now an entry has two seconds
	check(2, 4)
	send(1, 5, 8)
	check(2, 8)
	send(1, 8, seriesLength+11)
	check(2, seriesLength+10)
}
