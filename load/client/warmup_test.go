package client

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/internal/fakesession"
	"github.com/assay-dev/assay/load/internal/testserver"
)

// TestManagerEndsWarmup has the manager end an hour's warm-up after its first
// second. The manager sends the order again when the warm-up has ended.
func TestManagerEndsWarmup(t *testing.T) {
	server := testserver.New(t, ok)
	p := plan(300)
	p.Warmup = &session.Amount{DurationMicroseconds: 3_600_000_000}
	regular := fakesession.Regular(p, server.Address(), 0)
	ended := false
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		orders := regular(event)
		switch e := event.(type) {
		case fakesession.Second:
			if e.Stage == sessionpb.Stage_STAGE_WARMUP && !ended {
				ended = true
				return append(orders, pod.End{})
			}
		case sessionpb.Stage:
			return append(orders, pod.End{}) // must have no effect
		}
		return orders
	})
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	got := of[result.Totals](s)[0]
	if got.Requests != 300 || got.Errors.Total() != 0 || got.Warmup == nil || got.Warmup.Requests == 0 || got.Warmup.Errors.Total() != 0 {
		t.Errorf("totals %+v", got)
	}
	if took := got.WarmupMicroseconds; took < 900_000 || took > 30_000_000 {
		t.Errorf("the warm-up took %d µs", took)
	}
	var warm int64
	for _, second := range of[fakesession.Second](s) {
		if second.Stage == sessionpb.Stage_STAGE_WARMUP {
			warm += second.Requests
		}
	}
	if warm != got.Warmup.Requests {
		t.Errorf("the sum of the warm-up's seconds is %d requests, the total is %d", warm, got.Warmup.Requests)
	}
	if seen := server.Seen().Requests; seen != warm+300 {
		t.Errorf("the server saw %d requests, want %d", seen, warm+300)
	}
}
