package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// opened returns the result tomcat as one of an open load in which each request started
// 20 µs late, and ten were dropped.
func opened() *result.Result {
	r := tomcat()
	r.Run.Load, r.Run.Connections, r.Run.AllConnections = result.LoadOpen, 25, 49
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Dropped = 5
		c.Arrivals = &result.Arrivals{Due: 1005, PlannedMicroseconds: 2_000_000, StartedMicroseconds: 2_000_015}
		for _, bar := range c.Latencies.Get(result.Total).Bars() {
			c.Latencies.Of(result.Delay).Record(20)
			c.Latencies.Of(result.Service).Record(bar.From - 20)
		}
	}
	r.AddClients(r.Clients)
	r.Warmup.Steady = &result.Steadiness{ThroughputPercent: 5, P99Percent: 25, Windows: []result.WarmupWindow{
		{Second: 50, Seconds: 5, Succeeded: 9_000, P99: 9100}, {Second: 55, Seconds: 5, Succeeded: 10_400, P99: 5000}, {Second: 60, Seconds: 5, Succeeded: 0},
	}}
	return r
}

// staged returns a result of levels like R5's, ended at the third, at which the application behind the server is
// saturated. The server's limit is 2 CPUs, the application's 1, that of both together 2.5.
func staged() *result.Result {
	r := tomcat()
	r.Run.Connections, r.Run.AllConnections = 300, 600
	r.Environment.TargetCPULimit, r.Environment.SharedCPULimit = 2000, 2500
	r.Environment.Backends = []result.BackendEnvironment{{Name: "app", Image: "tomcat:9.0", CPULimit: 1000}}
	level := func(of, start, end int64) result.Level {
		l := result.Level{TargetConnections: of, Start: start, End: end, ClientCPU: (end - start) * 100_000}
		l.Requests = (end - start) * 195 * of / 100
		l.BytesReceived = l.Requests * 2048
		for n := range int64(1000) {
			l.Latencies.Of(result.Total).Record((n + 1) * of / 20)
		}
		used := func(percent, resident int64) *result.Used {
			return &result.Used{UserCPU: (end - start) * percent * 8_000, SystemCPU: (end - start) * percent * 2_000, Resident: resident << 20}
		}
		node := result.UnknownNode()
		node.CPUTime, node.Idle = (end-start)*4_000_000, (end-start)*40_000*(100-of/10)
		l.SetTarget(&result.TargetUsage{
			Server: used(of/8, 40), Backends: map[string]*result.Used{"app": used(min(of/6, 99), 200+of/2)}, Node: node,
		})
		return l
	}
	levels := []result.Level{level(200, 30, 630), level(400, 660, 1260), level(600, 1290, 1350)}
	levels[2].Errors[result.ErrorConnect], levels[2].Errors[result.ErrorTimeout] = 4000, 100
	steps := []result.Step{{From: 0, Level: level(200, 0, 30)}, {From: 200, Level: level(400, 630, 660)}, {From: 400, Level: level(600, 1260, 1290)}}
	steps[2].Backends = nil // unknown
	r.AddLevels(levels, steps)
	r.BreakingPoints = []result.BreakingPoint{
		{Kind: result.BreakingCPU, Container: "server", Bound: "above 90%"},
		{Kind: result.BreakingCPU, Container: "app", Bound: "above 90%", Reached: true, Second: 1281, Seconds: 1, Connections: 543, Step: true, Actual: "90.6%"},
		{Kind: result.BreakingPodCPU, Bound: "above 90%"},
		{Kind: result.BreakingFailedRequests, Bound: "at least 1", Reached: true, Second: 1300, Seconds: 1, Connections: 600, Actual: "3"},
		{Kind: result.BreakingErrorRate, Bound: "at least 5%", Reached: true, Second: 1340, Seconds: 1, Connections: 600, Actual: "5.7%"},
		{Kind: result.BreakingThroughput, Bound: "less than 5% more with 20% more load"},
	}
	r.Stop = &result.Stop{BreakingPoint: r.BreakingPoints[4], End: 1350}
	return r
}

// TestLatenciesSayWhatTheyAre checks that latencies of closed load are labelled as
// service times, those of open load as response times.
func TestLatenciesSayWhatTheyAre(t *testing.T) {
	for want, r := range map[string]*result.Result{
		"service times (closed model)": tomcat(), "response times (open model)": opened(),
	} {
		var got bytes.Buffer
		if err := report.Write(&got, "text", r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), "Latencies are "+want) {
			t.Errorf("the report doesn't say %q", want)
		}
	}
}
