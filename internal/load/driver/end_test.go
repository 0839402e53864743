package driver

import (
	"bufio"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// TestEnd ends stages that would last for an hour. No request starts afterwards.
// Requests in flight are completed and counted, and everything else that waits
// ends at once.
func TestEnd(t *testing.T) {
	const serving, after = 300 * time.Millisecond, 1150 * time.Millisecond
	hour := session.Amount{DurationMicroseconds: 3_600_000_000}
	rate := func(perSecond int64) session.Amount {
		a := hour
		a.Profile = profile.Profile{{From: perSecond, To: perSecond}}
		return a
	}
	tests := map[string]struct {
		change   func(*session.Plan)
		requests int64 // requests started before the end
		ends     time.Duration
	}{
		"closed load": {func(p *session.Plan) { p.Measurement = hour }, 4 * 4, 4 * serving},
		"with think time": {func(p *session.Plan) {
			p.Measurement, p.ThinkTime = hour, &session.ThinkTime{MinMicroseconds: 600_000, MaxMicroseconds: 600_000}
		}, 4 * 2, 2*serving + 600*time.Millisecond},
		"with connections outside the profile": {func(p *session.Plan) {
			p.Measurement = hour
			p.Measurement.Profile = profile.Profile{{From: 1, To: 1, DurationMicroseconds: 1_800_000_000}, {From: 4, To: 4}}
		}, 4, 4 * serving},
		"a rate":                    {func(p *session.Plan) { p.Arrivals, p.Measurement = &session.Arrivals{Shares: 1}, rate(4) }, 5, time.Second + serving},
		"a rate of one per minutes": {func(p *session.Plan) { p.Arrivals, p.Measurement = &session.Arrivals{Shares: 100}, rate(1) }, 1, after},
		"a rate beyond the target's capacity": {func(p *session.Plan) {
			p.Arrivals, p.Measurement = &session.Arrivals{Shares: 1}, rate(1000)
		}, 4 * 4, after + 100*time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(4, 1, "/")
				test.change(&p)
				r, _, asked, took := runUntil(t, &p, serving, after, func(s *Stage) {
					s.End()
					s.End()
				})
				if got := r.Total(); got.Requests != asked || got.Requests != test.requests || got.Errors.Total() != 0 {
					t.Errorf("%d requests (%d failed), the server saw %d, want %d", got.Requests, got.Errors.Total(), asked, test.requests)
				}
				if took < min(after, test.ends) || took > max(after, test.ends)+10*time.Millisecond {
					t.Errorf("the stage ended after %v, want %v", took, max(after, test.ends))
				}
			})
		})
	}
}

// runUntil runs the measurement of a plan on a server that takes a time for each request, and ends it after another
// time. It returns what was recorded, the stage, the number of requests that the server saw, and how long it took.
func runUntil(t *testing.T, p *session.Plan, serving, after time.Duration, end func(*Stage)) (r *recorder.Recorder, stage *Stage, asked int64, took time.Duration) {
	t.Helper()
	load := newLoad(t, p, "127.0.0.1:80", Access{})
	var seen atomic.Int64
	var servers sync.WaitGroup
	load.coarse, load.looped = true, false
	load.dial = pipes(&servers, func(conn net.Conn) {
		for reader := bufio.NewReader(conn); readRequest(reader); {
			seen.Add(1)
			time.Sleep(serving)
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		}
	})
	r = recorder.New(1)
	stage = load.NewStage(p.Measurement, r)
	go stage.Run(0, 1)
	<-stage.Ready()
	start := time.Now()
	sampler := recorder.NewSampler(r, start, nil, func(*result.ClientSecond) {})
	go stage.Begin(start)
	time.AfterFunc(after, func() { end(stage) })
	sampler.Run(stage.Done())
	took = time.Since(start)
	stage.Stop()
	servers.Wait()
	return r, stage, seen.Load(), took
}

// TestEndBeforeBegin checks that a stage makes no request if it ends before it
// begins.
func TestEndBeforeBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(4, 100, "/")
		load := newLoad(t, &p, "127.0.0.1:80", Access{})
		r := recorder.New(1)
		stage := load.NewStage(p.Measurement, r)
		go stage.Run(0, 1)
		<-stage.Ready()
		stage.End()
		go stage.Begin(time.Now())
		<-stage.Done()
		stage.Stop()
		if n := r.Total().Requests; n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// pipes returns a dialer of in-memory connections, which are open at once. serve
// handles their other end.
func pipes(servers *sync.WaitGroup, serve func(net.Conn)) dialer {
	return func(context.Context, time.Time) (socketTransport, error) {
		client, server := net.Pipe()
		servers.Go(func() {
			defer func() { _ = server.Close() }()
			serve(server)
		})
		return pipe{client}, nil
	}
}

// TestShorten gives stages that would last for an hour an earlier end. What is due by then still starts, and
// counts as asked for.
func TestShorten(t *testing.T) {
	const serving, after = 300 * time.Millisecond, 1150 * time.Millisecond
	hour := session.Amount{DurationMicroseconds: 3_600_000_000}
	tests := map[string]struct {
		rate     int64 // 0 for closed load
		requests int64
		ends     time.Duration
	}{
		"closed load":                         {0, 4 * 4, 4 * serving},
		"a rate":                              {4, 5, time.Second + serving},
		"a rate beyond the target's capacity": {20, 23, 1900 * time.Millisecond}, // 4 at a time
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(4, 1, "/")
				p.Measurement = hour
				if test.rate > 0 {
					p.Arrivals, p.Measurement.Profile = &session.Arrivals{Shares: 1}, profile.Profile{{From: test.rate, To: test.rate}}
				}
				r, stage, _, took := runUntil(t, &p, serving, after, (*Stage).Shorten)
				if got := r.Total(); got.Requests != test.requests || got.Errors.Total() != 0 {
					t.Errorf("%d requests (%d failed), want %d", got.Requests, got.Errors.Total(), test.requests)
				}
				if took < max(after, test.ends) || took > max(after, test.ends)+10*time.Millisecond {
					t.Errorf("the stage ended after %v, want %v", took, max(after, test.ends))
				}
				want := result.Arrivals{Due: test.requests, PlannedMicroseconds: after.Microseconds()}
				if got := stage.Arrivals(); test.rate > 0 && (got.Due != want.Due || got.PlannedMicroseconds/10_000 != want.PlannedMicroseconds/10_000) {
					t.Errorf("arrivals %+v, want %+v", *got, want)
				}
			})
		})
	}
}

// TestShortenLoops does the same in loops, with real connections.
func TestShortenLoops(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(10) })
	p := plan(4, 1, "/")
	p.Arrivals = &session.Arrivals{Shares: 1}
	p.Measurement = session.Amount{DurationMicroseconds: 3_600_000_000, Profile: profile.Profile{{From: 100, To: 100}}}
	load := newLoad(t, &p, server.Address(), Access{})
	r := recorder.New(1)
	stage := load.NewStage(p.Measurement, r)
	go stage.Run(0, 1)
	<-stage.Ready()
	start := time.Now()
	sampler := recorder.NewSampler(r, start, nil, func(*result.ClientSecond) {})
	go stage.Begin(start)
	time.AfterFunc(200*time.Millisecond, stage.Shorten)
	sampler.Run(stage.Done())
	stage.Stop()
	got, a := r.Total(), stage.Arrivals()
	if got.Requests != a.Due || a.Due < 20 || a.PlannedMicroseconds < 200_000 || a.Due != (a.PlannedMicroseconds-1)/10_000+1 {
		t.Errorf("%d requests, arrivals %+v", got.Requests, *a)
	}
}
