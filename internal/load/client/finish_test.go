package client

import (
	"errors"
	"testing"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// TestFinish calls Finish, twice, during a measurement that would last an hour.
func TestFinish(t *testing.T) {
	requested := make(chan struct{}, 1)
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Number == 1000 {
			requested <- struct{}{}
		}
		return testserver.OK(64)
	})
	p := plan(0)
	p.Measurement = session.Amount{DurationMicroseconds: 3_600_000_000}
	s := fakesession.New(fakesession.Regular(p, server.Address(), 0))
	err := runClient(t.Context(), t, s, func(c *Client) {
		go func() {
			<-requested
			c.Finish()
			c.Finish()
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	got := of[result.Totals](s)[0]
	if got.Requests < 990 || got.Errors.Total() != 0 || got.DurationMicroseconds() <= 0 {
		t.Errorf("totals %+v", got)
	}
}

func TestFinishBeforeTheMeasurement(t *testing.T) {
	server := testserver.New(t, ok)
	p := plan(0)
	p.Warmup = &session.Amount{DurationMicroseconds: 3_600_000_000}
	p.Measurement = session.Amount{Requests: 10}
	regular := fakesession.Regular(p, server.Address(), 0)
	var c *Client
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		if _, ready := event.(fakesession.Ready); ready {
			c.Finish()
		}
		return regular(event)
	})
	if err := runClient(t.Context(), t, s, func(created *Client) { c = created }); !errors.Is(err, ErrNothingMeasured) {
		t.Errorf("error %v", err)
	}
	if totals := of[result.Totals](s); len(totals) > 0 {
		t.Errorf("totals %+v", totals)
	}
}
