package driver

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// open returns an open load of a rate for a duration, for a single client.
func open(connections int, rate int64, duration time.Duration) session.Plan {
	p := plan(connections, 0, "/")
	p.Arrivals = &session.Arrivals{Shares: 1}
	p.Measurement = session.Amount{DurationMicroseconds: duration.Microseconds(), Profile: profile.Profile{{From: rate, To: rate}}}
	return p
}

// after responds to each request after d.
func after(d time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for readRequest(reader) {
			time.Sleep(d)
			_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
		}
	}
}

func TestOpenLoadKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := virtually(t, open(100, 100, 10*time.Second), after(70*time.Millisecond))
		if got.Succeeded() != 1000 || got.Dropped != 0 || got.Connections != 8 {
			t.Errorf("counts %+v", got.Counts)
		}
		if a := got.arrivals; a.Due != 1000 || a.TargetRatePerSecond() != 100 || a.AchievedPerSecond(0) != 100 {
			t.Errorf("arrivals %+v", a)
		}
		var begun []time.Duration
		for _, o := range got.outcomes {
			if o.Delay != 0 || o.Service != 70*time.Millisecond || o.Total != o.Service {
				t.Fatalf("outcome %+v", o)
			}
			begun = append(begun, o.Ended-o.Total)
		}
		slices.Sort(begun)
		for i, at := range begun {
			if want := time.Duration(i) * 10 * time.Millisecond; at != want {
				t.Fatalf("request %d started at %v, want %v", i, at, want)
			}
		}
	})
}

// TestNoCoordinatedOmission has the server stall for two seconds. Requests that
// fall due meanwhile must still be made, with their delay.
func TestNoCoordinatedOmission(t *testing.T) {
	const stallAt, stall = 3 * time.Second, 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := virtually(t, open(5, 100, 10*time.Second), func(conn net.Conn) {
			reader := bufio.NewReader(conn)
			for readRequest(reader) {
				if since := time.Since(start); since >= stallAt && since < stallAt+stall {
					time.Sleep(stallAt + stall - since)
				}
				time.Sleep(time.Millisecond)
				_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
			}
		})
		// Five connections at 1 ms per request serve the backlog of 200 in 40 ms.
		service, total := got.Latencies.Get(result.Service), got.Latencies.Get(result.Total)
		if got.Succeeded() != 1000 || service.Percentile(99) > 2000 || total.Percentile(99) < 1_890_000 {
			t.Errorf("%d requests, p99 of the service time %d µs, of the total %d µs", got.Succeeded(), service.Percentile(99), total.Percentile(99))
		}
		if late := got.Latencies.Get(result.Delay).Max(); late < 1_900_000 || late > 2_000_000 {
			t.Errorf("a request started %d µs late", late)
		}
	})
}

func TestLateRequestsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(1, 10, 10*time.Second)
		p.TimeoutMicroseconds = 2_000_000
		// One connection at 1 s per request can make one request in ten. The others
		// wait for up to 2 s.
		got := virtually(t, p, after(time.Second))
		if got.Requests+got.Dropped != 100 || got.arrivals.Due != 100 || got.Requests != 12 {
			t.Errorf("counts %+v, arrivals %+v", got.Counts, got.arrivals)
		}
		if achieved := got.arrivals.AchievedPerSecond(got.Dropped); achieved > 1.2 || achieved < 1 {
			t.Errorf("achieved %v requests/s", achieved)
		}
		for _, o := range got.outcomes {
			if o.Delay > 2*time.Second || o.Total != o.Delay+o.Service || o.Service != time.Second {
				t.Errorf("outcome %+v", o)
			}
		}
	})
}

func TestSharesFormOneSchedule(t *testing.T) {
	const shares, requests = 3, 1000
	var all []time.Duration
	for share := range shares {
		p := open(1, 0, 0)
		p.Arrivals = &session.Arrivals{Share: share, Shares: shares}
		s := newSchedule(&p, session.Amount{
			Requests: int64((requests - share + shares - 1) / shares),
			Profile:  profile.Profile{{From: 10, To: 100, DurationMicroseconds: 10_000_000}},
		})
		for at, ok := s.next(); ok; at, ok = s.next() {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	if len(all) != requests {
		t.Fatalf("%d requests", len(all))
	}
	ramp := profile.Profile{{From: 10, To: 100, DurationMicroseconds: 10_000_000}}
	for i, at := range all {
		if want := ramp.When(float64(i)); at != want {
			t.Fatalf("request %d is due at %v, want %v", i, at, want)
		}
	}
}

func TestPoissonArrivals(t *testing.T) {
	const shares, rate, seconds = 4, 1000, 100
	var all []time.Duration
	for share := range shares {
		p := open(1, rate, seconds*time.Second)
		p.Seed = uint64(share)
		p.Arrivals = &session.Arrivals{Share: share, Shares: shares, Poisson: true}
		s, again := newSchedule(&p, p.Measurement), newSchedule(&p, p.Measurement)
		for at, ok := s.next(); ok; at, ok = s.next() {
			all = append(all, at)
			if same, _ := again.next(); same != at {
				t.Fatal("the same seed has other arrivals")
			}
		}
	}
	slices.Sort(all)
	// The standard deviation of the count is the square root of its mean. That of
	// exponential inter-arrival times equals their mean.
	const mean = rate * seconds
	if n := float64(len(all)); math.Abs(n-mean) > 5*math.Sqrt(mean) {
		t.Errorf("%v arrivals, the mean is %d", n, mean)
	}
	var sum, squares float64
	for i := 1; i < len(all); i++ {
		d := (all[i] - all[i-1]).Seconds()
		sum += d
		squares += d * d
	}
	n := float64(len(all) - 1)
	if ratio := math.Sqrt(squares/n-sum/n*sum/n) / (sum / n); ratio < 0.98 || ratio > 1.02 {
		t.Errorf("the standard deviation of inter-arrival times is %v of their mean", ratio)
	}
}

// TestStallIsMeasuredInFull is TestNoCoordinatedOmission in real time and over
// real connections. The times count from when the requests were due, however late
// the machine lets them start, and none is shorter than the rest of the stall.
func TestStallIsMeasuredInFull(t *testing.T) {
	const rate, stallAt, stall = 500, 100, 2 * time.Second
	var mu sync.Mutex
	var stalledUntil time.Time
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		mu.Lock()
		defer mu.Unlock()
		answer := testserver.OK(64)
		if r.Number == stallAt {
			stalledUntil = time.Now().Add(stall)
		}
		answer.Delay = max(0, time.Until(stalledUntil))
		return answer
	})
	got := drive(t, open(200, rate, 4*time.Second), server.Address())
	server.Stop()
	// The server delays the requests that arrive during the stall until its end, so
	// that each waits for the rest of the stall.
	var truth []time.Duration
	for n := range 2000 {
		due := time.Duration(n-stallAt) * time.Second / rate
		truth = append(truth, min(max(0, stall-due), stall)*boolToInt(n >= stallAt))
	}
	slices.Sort(truth)
	total := got.Latencies.Get(result.Total)
	for _, p := range []float64{60, 75, 90, 99, 99.9} {
		want := truth[int(math.Ceil(p*20))-1]
		have := time.Duration(total.Percentile(p)) * time.Microsecond
		if have < want-want/500-time.Millisecond {
			t.Errorf("p%v is %v, want at least %v", p, have, want)
		}
	}
	var intended []time.Duration
	for _, o := range got.outcomes {
		intended = append(intended, o.Ended-o.Total)
		if o.Total != o.Delay+o.Service {
			t.Errorf("a total of %v, a delay of %v and a service time of %v", o.Total, o.Delay, o.Service)
		}
	}
	slices.Sort(intended)
	for i, at := range intended {
		if due := time.Duration(i) * time.Second / rate; (at - due).Abs() > time.Microsecond {
			t.Fatalf("request %d is timed from %v, was due at %v", i, at, due)
		}
	}
	if got.Succeeded() != 2000 || got.Dropped != 0 || got.arrivals.TargetRatePerSecond() != rate {
		t.Errorf("counts %+v, arrivals %+v", got.Counts, got.arrivals)
	}
	t.Logf("p99 of the total %d µs, of the service time %d µs, of the delay %d µs",
		total.Percentile(99), got.Latencies.Get(result.Service).Percentile(99), got.Latencies.Get(result.Delay).Percentile(99))
}

func boolToInt(b bool) time.Duration {
	if b {
		return 1
	}
	return 0
}

// BenchmarkOpenLoad reports how exactly a rate is kept and its cost: the achieved
// rate as in results, and the rate at which requests end.
func BenchmarkOpenLoad(b *testing.B) {
	address := replier(b, "http")
	for _, test := range []struct {
		name    string
		rate    int64
		poisson bool
	}{{"100", 100, false}, {"1000", 1000, false}, {"1000-poisson", 1000, true}, {"10000", 10_000, false}, {"20000", 20_000, false}} {
		b.Run(test.name, func(b *testing.B) {
			p := open(100, test.rate, 0)
			p.Arrivals.Poisson = test.poisson
			p.Measurement.DurationMicroseconds = 0
			p.Measurement.Requests = int64(b.N)
			load, err := New(b.Context(), &p, address, Access{})
			if err != nil {
				b.Fatal(err)
			}
			r := recorder.New(2)
			stage := load.NewStage(p.Measurement, r)
			defer stage.Stop()
			go stage.Run(0, 1)
			<-stage.Ready()
			b.ResetTimer()
			before := usage.Read()
			began := time.Now()
			go stage.Begin(began)
			sampler := recorder.NewSampler(r, began, nil, func(*result.ClientSecond) {})
			sampler.Run(stage.Done())
			b.StopTimer()
			first, last, _ := stage.Span()
			m, a := r.Total(), stage.Arrivals()
			used := usage.Read().Since(before)
			b.ReportMetric(float64(used.UserCPU+used.SystemCPU)/float64(b.N), "client-µs/request")
			b.ReportMetric(a.AchievedPerSecond(m.Dropped), "achieved/s")
			b.ReportMetric(float64(m.Requests-1)/(last.Sub(first)).Seconds(), "span/s")
			for _, q := range []float64{50, 99, 99.9} {
				b.ReportMetric(float64(m.Latencies.Get(result.Delay).Percentile(q)), fmt.Sprintf("delay-p%v-µs", q))
			}
			if m.Errors.Total() > 0 || m.Dropped > 0 {
				b.Errorf("errors %v, %d dropped", m.Errors, m.Dropped)
			}
		})
	}
}
