package driver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
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

// sliceResult holds the results of a stage of one of several loads that alternate.
type sliceResult struct {
	*result.Measure
	slices      *profile.Slices
	arrived     []time.Duration // times by the clock at which requests arrived at the server
	outcomes    []recorder.Outcome
	seconds     []int64 // requests by second
	first, last time.Duration
	arrivals    *result.Arrivals
}

// closable is a pipe that notices that the server has closed its end.
type closable struct {
	pipe
	closed *atomic.Bool
}

func (c closable) idle() idleState {
	if c.closed.Load() {
		return ended
	}
	return usable
}

// alternately runs the measurements of loads that alternate inside a synctest bubble: those of equal plans, each against a server of
// its own, which takes serving for a request and closes a connection that has been idle for longer than idle. during is called with
// each stage when it begins; it may be nil.
func alternately(t *testing.T, variants int, p session.Plan, serving, idle time.Duration, during func(*Stage)) []sliceResult {
	t.Helper()
	results := make([]sliceResult, variants)
	var clients, servers sync.WaitGroup
	start := time.Now()
	for v := range results {
		clients.Go(func() {
			got, plan := &results[v], p
			plan.Slices = &profile.Slices{Variant: v, Variants: variants}
			got.slices = plan.Slices
			load := newLoad(t, &plan, "127.0.0.1:80", Access{})
			load.coarse, load.looped = true, false
			var mu sync.Mutex
			load.dial = func(context.Context, time.Time) (socketTransport, error) {
				client, server := net.Pipe()
				closed := &atomic.Bool{}
				servers.Go(func() {
					defer func() { _ = server.Close() }()
					reader := bufio.NewReader(server)
					for server.SetReadDeadline(time.Now().Add(idle)) == nil && readRequest(reader) {
						mu.Lock()
						got.arrived = append(got.arrived, time.Since(start))
						mu.Unlock()
						time.Sleep(serving)
						_, _ = server.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
					}
					closed.Store(true)
				})
				return closable{pipe{client}, closed}, nil
			}
			r := &tapRecorder{Recorder: recorder.New(1)}
			stage := load.NewStage(plan.Measurement, r)
			go stage.Run(0, 1)
			<-stage.Ready()
			sampler := recorder.NewSampler(r.Recorder, start, plan.Slices, func(second *result.ClientSecond) {
				if second.Second != int64(len(got.seconds)) {
					t.Errorf("second %d arrived as number %d", second.Second, len(got.seconds))
				}
				got.seconds = append(got.seconds, second.Requests)
			})
			go stage.Begin(start)
			if during != nil {
				clients.Go(func() { during(stage) })
			}
			sampler.Run(stage.Done())
			stage.Stop()
			got.Measure, got.outcomes, got.arrivals = r.Total(), r.outcomes, stage.Arrivals()
			first, last, _ := stage.Span()
			got.first, got.last = first.Sub(start), last.Sub(start)
		})
	}
	clients.Wait()
	servers.Wait()
	for v := range results {
		got := &results[v]
		sum := int64(0)
		for _, n := range got.seconds {
			sum += n
		}
		if sum != got.Requests {
			t.Errorf("variant %d: seconds with %v requests of %d", v, got.seconds, got.Requests)
		}
		for _, at := range got.arrived {
			if got.slices.Next(at) != at {
				t.Errorf("variant %d: a request was sent at %v, outside of its slices", v, at)
			}
		}
	}
	return results
}

// for4s is the amount of a load in 4 slices.
var for4s = session.Amount{DurationMicroseconds: 4_000_000}

// TestClosedLoadAlternates has requests that outlive their slices: they belong to them.
func TestClosedLoadAlternates(t *testing.T) {
	for variants := 2; variants <= profile.MaxVariants; variants++ {
		synctest.Test(t, func(t *testing.T) {
			p := plan(3, 0, "/")
			p.Measurement = for4s
			for v, got := range alternately(t, variants, p, 70*time.Millisecond, time.Hour, nil) {
				// Requests start at 0, 70, ... 980 ms of a slice, unless the one before is the variant's too.
				if v > 0 && v < variants-1 && !slices.Equal(got.seconds, []int64{45, 45, 45, 45}) {
					t.Errorf("variant %d of %d has seconds with %v requests", v, variants, got.seconds)
				}
				if got.Errors.Total() > 0 || got.Requests < 3*57 || got.Requests > 3*60 || got.Connections != 3 || len(got.seconds) > 5 {
					t.Errorf("variant %d of %d: counts %+v in %v", v, variants, got.Counts, got.seconds)
				}
				if got.first != 0 || got.last != 4*time.Second-1 && got.last > 4*time.Second+70*time.Millisecond {
					t.Errorf("variant %d of %d lasted from %v to %v of its time", v, variants, got.first, got.last)
				}
				for _, o := range got.outcomes {
					if o.Total != 70*time.Millisecond {
						t.Fatalf("a request took %v", o.Total)
					}
				}
			}
		})
	}
}

// TestThinkTimeIsVirtual checks that a connection doesn't think while others are loaded.
func TestThinkTimeIsVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(1, 0, "/")
		p.Measurement, p.ThinkTime = for4s, &session.ThinkTime{MinMicroseconds: 300_000, MaxMicroseconds: 300_000}
		for v, got := range alternately(t, 2, p, 0, time.Hour, nil) {
			for i, at := range got.arrived {
				if virtual := got.slices.Virtual(at); virtual != time.Duration(i)*300*time.Millisecond {
					t.Errorf("variant %d: request %d began at %v of its time", v, i, virtual)
				}
			}
			if len(got.arrived) != 14 {
				t.Errorf("variant %d made %d requests", v, len(got.arrived))
			}
		}
	})
}

// TestOpenLoadAlternates checks the schedule in virtual time: of a server that keeps up, and of one that doesn't. What is due and can't
// start in its slice starts in the next one.
func TestOpenLoadAlternates(t *testing.T) {
	for name, test := range map[string]struct {
		connections    int
		rate           int64
		serving        time.Duration
		perSecond, all int64
	}{
		"in time": {5, 100, time.Millisecond, 100, 400},
		"late":    {1, 10, 130 * time.Millisecond, 8, 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(test.connections, test.rate, 4*time.Second)
				for v, got := range alternately(t, 3, p, test.serving, time.Hour, nil) {
					if got.Succeeded() != test.all || got.Dropped != 0 || got.arrivals.Due != test.all || got.arrivals.PlannedMicroseconds != 4_000_000 {
						t.Errorf("variant %d: counts %+v, arrivals %+v", v, got.Counts, got.arrivals)
					}
					if v == 1 && !slices.Equal(got.seconds[:4], slices.Repeat([]int64{test.perSecond}, 4)) { // whose slices aren't adjacent
						t.Errorf("variant %d has seconds with %v requests", v, got.seconds)
					}
					for i, o := range got.outcomes { // one after the other
						started := got.slices.Virtual(got.arrived[i])
						if intended := time.Duration(i) * time.Second / time.Duration(test.rate); o.Delay != started-intended || o.Service != test.serving {
							t.Fatalf("variant %d: request %d was intended at %v and started at %v: %+v", v, i, intended, started, o)
						}
					}
					if name == "in time" && (got.outcomes[399].Delay != 0 || got.last != 3991*time.Millisecond) {
						t.Errorf("variant %d: the last request was %v late, the load ended at %v", v, got.outcomes[399].Delay, got.last)
					}
				}
			})
		})
	}
}

// TestIdleConnectionsBetweenSlices checks that a connection that the server closed meanwhile is no error.
func TestIdleConnectionsBetweenSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(3, 0, "/")
		p.Measurement = for4s
		for v, got := range alternately(t, 3, p, 70*time.Millisecond, 1500*time.Millisecond, nil) {
			opened := []int64{9, 12, 6}[v] // the order is ABCCBAABCCBA
			if got.Errors.Total() > 0 || got.Connections != opened {
				t.Errorf("variant %d: %+v", v, got.Counts)
			}
		}
	})
}

// TestNumberOfRequestsAlternates runs a stage without a duration, as a warm-up may be.
func TestNumberOfRequestsAlternates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(2, 0, "/")
		p.Measurement = for4s
		p.Warmup = &session.Amount{Requests: 50}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		slices := &profile.Slices{Variant: 1, Variants: 2}
		p.Slices = slices
		load := newLoad(t, &p, "127.0.0.1:80", Access{})
		load.coarse, load.looped = true, false
		var servers sync.WaitGroup
		load.dial = pipes(&servers, after(70*time.Millisecond))
		r := recorder.New(1)
		stage := load.NewStage(*p.Warmup, r)
		go stage.Run(0, 1)
		start := time.Now()
		sampler := recorder.NewSampler(r, start, slices, func(*result.ClientSecond) {})
		go stage.Begin(start)
		sampler.Run(stage.Done())
		stage.Stop()
		servers.Wait()
		if first, last, _ := stage.Span(); r.Total().Requests != 50 || first != start || last.Sub(start) != 25*70*time.Millisecond {
			t.Errorf("%d requests from %v to %v", r.Total().Requests, first.Sub(start), last.Sub(start))
		}
	})
}

// TestEndBetweenSlices ends loads while another variant is loaded. A server takes an hour for a request, so that one is under way.
func TestEndBetweenSlices(t *testing.T) {
	for name, test := range map[string]struct {
		rate       int64 // 0 for closed load
		serving    time.Duration
		end        func(*Stage)
		completed  int64
		unanswered int64
	}{
		"closed, stopped":   {0, time.Hour, (*Stage).Stop, 0, 1},
		"closed, shortened": {0, 70 * time.Millisecond, (*Stage).Shorten, 15, 0},
		"closed, ended":     {0, 70 * time.Millisecond, (*Stage).End, 15, 0},
		"open, stopped":     {10, time.Hour, (*Stage).Stop, 0, 10},
		"open, shortened":   {10, time.Millisecond, (*Stage).Shorten, 10, 0},
		"open, late":        {10, 130 * time.Millisecond, (*Stage).Shorten, 10, 0},
		"open, ended":       {10, 130 * time.Millisecond, (*Stage).End, 8, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(1, 0, "/")
				if p.Measurement = for4s; test.rate > 0 {
					p = open(1, test.rate, 4*time.Second)
				}
				p.TimeoutMicroseconds = 5_000_000_000
				got := alternately(t, 2, p, test.serving, time.Hour, func(s *Stage) {
					if s.slices.Variant == 0 {
						time.Sleep(1500 * time.Millisecond)
						test.end(s)
					} else {
						s.Stop()
					}
				})[0]
				if got.Requests != test.completed || got.Unanswered != test.unanswered || got.Dropped != 0 {
					t.Errorf("%+v", got.Counts)
				}
				if got.arrivals != nil && got.arrivals.Due != 10 && name != "open, ended" {
					t.Errorf("%+v", got.arrivals)
				}
			})
		})
	}
}

// beginRecorder also keeps the times by the clock at which requests began, and counts those that loops made in place of tasks.
type beginRecorder struct {
	sourceRecorder
	begun []time.Duration
}

func (r *beginRecorder) Record(connection int, o *recorder.Outcome) {
	c := r.stage.connections[connection]
	begin := c.begin
	if o != &c.outcome {
		begin = c.task.loop.plain.requests[c.task.index].begin
	}
	r.sourceRecorder.Record(connection, o)
	r.mu.Lock()
	r.begun = append(r.begun, begin)
	r.mu.Unlock()
}

// TestLoadsAlternate runs loads of three kinds at once, each with two variants that have the start in common: no request begins outside
// of its variant's slices.
func TestLoadsAlternate(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	h2 := serveHTTP2(t, "", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	inTime := session.Amount{DurationMicroseconds: 2_000_000}
	closed, shared := plan(3, 0, "/"), streamed(1, 3, 0, "/")
	closed.Measurement, shared.Measurement = inTime, inTime
	var group sync.WaitGroup
	begin := make(chan time.Time)
	var recorders []*beginRecorder
	stages := 0
	for _, load := range []struct {
		plan    session.Plan
		address string
		looped  bool
	}{{closed, server.Address(), true}, {closed, server.Address(), false}, {shared, h2.address, false}, {open(3, 50, 2*time.Second), server.Address(), true}} {
		for v := range 2 {
			p := load.plan
			p.Slices = &profile.Slices{Variant: v, Variants: 2}
			l := newLoad(t, &p, load.address, Access{})
			l.looped = load.looped
			r := &beginRecorder{sourceRecorder: sourceRecorder{tapRecorder: tapRecorder{Recorder: recorder.New(1)}}}
			r.stage = l.NewStage(p.Measurement, r)
			recorders = append(recorders, r)
			group.Go(func() { r.stage.Run(0, 1) })
			await(t, r.stage.Ready(), "the connections to be ready")
			stages++
			group.Go(func() {
				start := <-begin
				sampler := recorder.NewSampler(r.Recorder, start, p.Slices, func(*result.ClientSecond) {})
				go r.stage.Begin(start)
				sampler.Run(r.stage.Done())
			})
		}
	}
	start := time.Now()
	for range stages {
		begin <- start
	}
	group.Wait()
	for i, r := range recorders {
		r.stage.Stop()
		for _, at := range r.begun {
			if r.stage.slices.Next(at) != at || r.stage.slices.Virtual(at) >= 2*time.Second && r.stage.arrivals == nil {
				t.Errorf("load %d of variant %d: a request began at %v", i/2, i%2, at)
			}
		}
		total := r.Total()
		if total.Errors.Total() > 0 || total.Requests != int64(len(r.begun)) {
			t.Errorf("load %d of variant %d: %d requests began, counts %+v", i/2, i%2, len(r.begun), total.Counts)
		}
		if a := r.stage.Arrivals(); a != nil && (a.Due != 100 || total.Requests+total.Dropped != 100) {
			t.Errorf("load %d of variant %d: %+v, %+v", i/2, i%2, a, total.Counts)
		}
		if plain := i < 2; plain && (r.byLoop == 0 || r.byLoop == len(r.begun)) {
			t.Errorf("load %d of variant %d: loops made %d of %d requests", i/2, i%2, r.byLoop, len(r.begun))
		}
	}
}
