//go:build e2e

package e2e

import (
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// loadRun returns a run of two small clients against the test server, in a lane of
// its own. Its pods are retained for the server's counts.
func loadRun(t *testing.T, name, path string) *wrapper.Run {
	t.Helper()
	return wrapper.NewRun(theCluster.namespace(t), name, harness.ServerImage).Lane("load-"+name).Path(path).
		Clients(2, "100m", "64Mi").Retain(v1alpha1.RetainAlways)
}

// outcome executes a run and returns its stored result and the server's counts. They
// must agree on the number of requests.
func outcome(t *testing.T, run *v1alpha1.BenchmarkRun, path string) (*result.Result, serverReport) {
	t.Helper()
	c := theCluster
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	stored, server := c.artifact(t, done), c.serverReport(t, done)[path]
	if stored.Merged.Requests != server.Requests || stored.Merged.Succeeded() != server.Succeeded {
		t.Errorf("%d requests of which %d succeeded; the server had %d and %d",
			stored.Merged.Requests, stored.Merged.Succeeded(), server.Requests, server.Succeeded)
	}
	return stored, server
}

// TestOpenLoads runs two clients with open load at a rate per client and a rate per
// run, with constant and with random inter-arrival times.
func TestOpenLoads(t *testing.T) {
	for _, test := range []struct {
		name string
		load v1alpha1.OpenLoad
		per  v1alpha1.LoadIsPer
		// least and most bound the number of requests. They differ if it is random.
		least, most int64
	}{
		{"uniform", v1alpha1.OpenLoad{RequestsPerSecond: "60", DurationSeconds: ptr.To(int32(5))}, v1alpha1.LoadPerClient, 600, 600},
		{"split", v1alpha1.OpenLoad{RequestsPerSecond: "101", RequestCount: ptr.To(int64(505))}, v1alpha1.LoadPerRun, 505, 505},
		{"poisson", v1alpha1.OpenLoad{RequestsPerSecond: "60", DurationSeconds: ptr.To(int32(5)), InterArrivalTimes: v1alpha1.InterArrivalPoisson}, v1alpha1.LoadPerClient, 500, 700},
		{"ramp", v1alpha1.OpenLoad{
			RequestsPerSecond: "60", DurationSeconds: ptr.To(int32(5)), Ramp: &v1alpha1.RateRamp{From: ptr.To(v1alpha1.ArrivalRate("0")), Seconds: 4},
		}, v1alpha1.LoadPerClient, 355, 365}, // 4 s at a mean of 60/s, and 1 s at 120/s
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const path = "/fixed/1000/10"
			run := loadRun(t, "open-"+test.name, path).Obj()
			run.Spec.Load.Closed, run.Spec.Load.Open, run.Spec.Load.LoadIsPer = nil, &test.load, test.per
			stored, server := outcome(t, run, path)
			if server.Requests < test.least || server.Requests > test.most || server.Succeeded != server.Requests {
				t.Errorf("the server had %d requests, of which %d succeeded; want %d to %d", server.Requests, server.Succeeded, test.least, test.most)
			}
			a := stored.Arrivals
			if a == nil || a.Due != server.Requests || stored.Merged.Dropped != 0 {
				t.Fatalf("arrivals %+v, %d dropped", a, stored.Merged.Dropped)
			}
			asked, achieved := a.TargetRatePerSecond(), a.AchievedPerSecond(stored.Merged.Dropped)
			if math.Abs(achieved/asked-1) > 0.03 { // other processes use this host
				t.Errorf("%.2f requests/s achieved, target rate %.2f", achieved, asked)
			}
			// The rate is that of all clients.
			if rate := stored.Run.TargetRatePerSecond; rate != float64(test.load.RequestsPerSecond.Thousandths()*map[v1alpha1.LoadIsPer]int64{v1alpha1.LoadPerClient: 2, v1alpha1.LoadPerRun: 1}[test.per])/1000 {
				t.Errorf("the result has the target rate %g/s", rate)
			}
		})
	}
}

// TestStages runs levels of connections and of rates.
func TestStages(t *testing.T) {
	level := func(n int32) v1alpha1.LoadLevel { return v1alpha1.LoadLevel{HoldSeconds: 2, Connections: &n} }
	rate := func(n int32) v1alpha1.LoadLevel {
		return v1alpha1.LoadLevel{HoldSeconds: 2, RampSeconds: ptr.To(int32(1)), RequestsPerSecond: &n}
	}
	for name, stages := range map[string]v1alpha1.StagesLoad{
		// With 50 ms think time and 1 ms service time, a connection sends about 19 requests per second.
		"connections": {Levels: []v1alpha1.LoadLevel{level(1), level(3)}, ThinkTime: &v1alpha1.ThinkTime{MinMilliseconds: 50}},
		"rates":       {Levels: []v1alpha1.LoadLevel{rate(20), rate(60)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const path = "/fixed/1000/10"
			run := loadRun(t, "stages-"+name, path).Obj()
			run.Spec.Load.Closed, run.Spec.Load.Stages = nil, &stages
			stored, server := outcome(t, run, path)
			if len(stored.Levels) != 2 {
				t.Fatalf("%d levels", len(stored.Levels))
			}
			first, second := &stored.Levels[0], &stored.Levels[1]
			asked := []int64{first.TargetConnections + first.TargetRatePerSecond, second.TargetConnections + second.TargetRatePerSecond}
			if name == "rates" && (asked[0] != 40 || asked[1] != 120) || name == "connections" && (asked[0] != 2 || asked[1] != 6) {
				t.Errorf("levels of %v", asked)
			}
			if ratio := float64(second.Requests) / float64(first.Requests); ratio < 2.4 || ratio > 3.6 {
				t.Errorf("%d and %d requests in the levels, want three times as many in the second", first.Requests, second.Requests)
			}
			if sum := first.Requests + second.Requests; sum > server.Requests || name == "connections" && sum < server.Requests-12 {
				t.Errorf("%d requests in the levels, the server had %d", sum, server.Requests)
			}
		})
	}
}

// TestPauseAndRamp starts the four connections of each client one by one, with think
// time between their requests.
func TestPauseAndRamp(t *testing.T) {
	t.Parallel()
	const path = "/fixed/1000/10"
	run := loadRun(t, "pause", path).Requests(4, 40).Obj()
	run.Spec.Load.Closed.RampSeconds, run.Spec.Load.Closed.ThinkTime = ptr.To(int32(1)), &v1alpha1.ThinkTime{MinMilliseconds: 100}
	stored, server := outcome(t, run, path)
	if server.Requests != 80 || server.Connections != 8 {
		t.Errorf("the server had %d requests on %d connections", server.Requests, server.Connections)
	}
	// Connections that start after 0, 250, 500 and 750 ms with a think time of 100 ms
	// complete 40 requests after 1275 ms; without the ramp after 900 ms.
	for i := range stored.Clients {
		if took := stored.Clients[i].DurationMicroseconds(); took < 1_200_000 {
			t.Errorf("client %d took %d µs", i, took)
		}
	}
}

// TestScopeRun splits connections and requests exactly over the clients.
func TestScopeRun(t *testing.T) {
	t.Parallel()
	const path = "/fixed/1000/10"
	run := loadRun(t, "scope", path).Requests(5, 101).Obj()
	run.Spec.Load.LoadIsPer = v1alpha1.LoadPerRun
	stored, server := outcome(t, run, path)
	if server.Requests != 101 || server.Connections != 5 {
		t.Errorf("the server had %d requests on %d connections", server.Requests, server.Connections)
	}
	if first, second := stored.Clients[0].Requests, stored.Clients[1].Requests; first != 51 || second != 50 {
		t.Errorf("the clients made %d and %d requests", first, second)
	}
}

// TestRequestsOfALoad checks that each request of a load has counts and times of its own, as the server counted, and that a threshold
// of one request isn't decided by the other.
func TestRequestsOfALoad(t *testing.T) {
	t.Parallel()
	c := theCluster
	const fast, slow = "/fixed/0/500", "/fixed/60000/700"
	run := loadRun(t, "by-request", fast).Clients(2, "100m", "96Mi").Requests(4, 200).Obj()
	run.Spec.Load.Requests[0].Name = "fast"
	run.Spec.Load.Requests = append(run.Spec.Load.Requests, v1alpha1.Request{Path: slow, Name: "slow"})
	run.Spec.Thresholds = []v1alpha1.Threshold{
		{Metric: v1alpha1.MetricLatencyP50, Request: "slow", Below: "60ms"},
		{Metric: v1alpha1.MetricErrorRate, Request: "fast", Below: "1%"},
	}
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if got := thresholds(done); got.Status != metav1.ConditionFalse || strings.Count(got.Message, "(missed)") != 1 || strings.Count(got.Message, "(met)") != 1 {
		t.Errorf("thresholds: %+v", got)
	}
	stored, server := c.artifact(t, done), c.serverReport(t, done)
	if len(stored.ByRequest) != 2 {
		t.Fatalf("%+v", stored.ByRequest)
	}
	for i, path := range []string{fast, slow} {
		m := stored.ByRequest[i]
		if m.Requests != server[path].Requests || m.Requests == 0 || m.Errors.Total() != 0 || m.BodyBytes != m.Requests*int64(500+200*i) {
			t.Errorf("%s: %+v, the server had %d requests", path, m, server[path].Requests)
		}
	}
	if low := stored.ByRequest[1].Total().Min; low < 60_000 {
		t.Errorf("the slow request took %d µs", low)
	}
}
