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

// staged returns a result of three levels like R5's, of which the last saturates the
// target.
func staged() *result.Result {
	r := tomcat()
	r.Run.Connections, r.Run.AllConnections = 300, 600
	var levels []result.Level
	for i := range int64(3) {
		l := result.Level{TargetConnections: 200 * (i + 1), Start: 630 * i, End: 630*i + 600, ClientCPU: 60_000_000, ServerCPU: (i + 1) * 190_000_000}
		l.Requests = 600 * 390 * (i + 1)
		if i == 2 {
			l.Errors[result.ErrorConnect] = 40_000
		}
		for n := range int64(1000) {
			l.Latencies.Of(result.Total).Record((n + 1) * (i + 1) * 10)
		}
		levels = append(levels, l)
	}
	r.AddLevels(levels, nil)
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
