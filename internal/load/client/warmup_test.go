package client

import (
	"testing"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
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

// TestManagerEndsMeasurement has the manager end an hour's measurement with its third second, and again when it
// has ended. The level under way has the seconds until then, the next one has none.
func TestManagerEndsMeasurement(t *testing.T) {
	server := testserver.New(t, ok)
	p := plan(0)
	p.Measurement = session.Amount{DurationMicroseconds: 3_600_000_000, Profile: profile.Profile{
		{From: 2, To: 2, DurationMicroseconds: 1_800_000_000, Level: true}, {To: 4, From: 4, DurationMicroseconds: 1_800_000_000, Level: true},
	}}
	regular := fakesession.Regular(p, server.Address(), 0)
	var at int64
	seconds := 0
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		orders := regular(event)
		for _, order := range orders {
			if start, ok := order.(pod.Start); ok {
				at = start.At
			}
		}
		if _, ok := event.(fakesession.Second); ok {
			if seconds++; seconds == 1 || seconds == 4 {
				return append(orders, pod.EndMeasurement{At: at + 3_000_000})
			}
		}
		return orders
	})
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	got := of[result.Totals](s)[0]
	if got.Requests == 0 || got.Errors.Total() != 0 || len(got.Levels) != 2 || got.Levels[1].Seconds != 0 || got.Levels[1].Requests != 0 {
		t.Fatalf("totals %+v", got)
	}
	if took := got.DurationMicroseconds(); took < 2_900_000 || took > 30_000_000 {
		t.Errorf("the measurement took %d µs", took)
	}
	var held, full int64
	for _, second := range of[fakesession.Second](s) {
		if second.Second < got.Levels[0].Seconds {
			held += second.Requests
			full++
		}
	}
	// A busy machine may receive the order after the third second.
	if level := &got.Levels[0]; level.Seconds < 3 || full != level.Seconds || level.Requests != held {
		t.Errorf("the level has %d requests of %d s, its seconds %d of %d s", level.Requests, level.Seconds, held, full)
	}
}
