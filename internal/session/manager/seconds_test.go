package manager

import (
	"testing"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager/series"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestWindow checks that the metrics are those of exactly the seconds that all clients have sent and the window before
// hasn't, also when the entries of the series become longer in between and when a client is behind.
func TestWindow(t *testing.T) {
	s := New(nil, func(string) {}, logr.Discard())
	r := s.of("run")
	for i := range 2 {
		r.clients[i] = &participant{seconds: map[sessionpb.Stage]int64{}}
	}
	send := func(client int, from, to int64) {
		for at := from; at < to; at++ {
			r.series.Add(second(at, 1000*(at+1), 2000*(at+1)), 1)
		}
		r.clients[client].seconds[sessionpb.Stage_STAGE_MEASUREMENT] = to
	}
	check := func(clients int, from, begin, end int64) {
		t.Helper()
		got := s.Window("run", clients, from)
		if got.Seconds == 0 {
			got.Second = begin
		}
		if got.Second != begin || got.Second+got.Seconds != end || got.Requests != 4*(end-begin) {
			t.Fatalf("%d requests in the seconds from %d to %d, want those from %d to %d", got.Requests, got.Second, got.Second+got.Seconds, begin, end)
		}
		if got.Seconds == 0 {
			return
		}
		total := result.NewHistogram()
		for at := begin; at < end; at++ {
			for range 2 { // clients
				total.Record(1000 * (at + 1))
				total.Record(2000 * (at + 1))
			}
		}
		want := result.Second{}
		want.SetLatency(total)
		if got.P50 != want.P50 || got.P99 != want.P99 || got.ServerCPU != result.Unknown {
			t.Errorf("p50 %d, p99 %d, CPU %d; want %d, %d and unknown", got.P50, got.P99, got.ServerCPU, want.P50, want.P99)
		}
	}
	check(2, 0, 0, 0)
	send(0, 0, 5)
	check(2, 0, 0, 0)
	send(1, 0, 3)
	check(2, 0, 0, 3)
	check(2, 3, 3, 3)
	check(3, 0, 0, 0) // the third has never connected
	send(1, 3, 5)
	check(2, 3, 3, 5)
	send(0, 5, series.MaxLength+11) // now an entry has two seconds
	check(2, 4, 4, 4)
	send(1, 5, 8)
	check(2, 5, 4, 8) // an entry has 4 and 5
	send(1, 8, series.MaxLength+11)
	check(2, 8, 8, series.MaxLength+10)
}
