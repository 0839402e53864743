package browser_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

const (
	second = 1_000_000 // in microseconds
	hour   = 3600      // in seconds
)

// runs returns a result for each state of a run's page, by name.
func runs(t *testing.T) map[string]*result.Result {
	t.Helper()
	all := map[string]*result.Result{
		"clean": clean(), "warned": measured(2, 22), "invalid": invalid(), "open": openLoad(2, 22), "stages": stages(), "script": script(),
		"external": external(), "short": measured(1, 3), "cold": cold(), "failed-requests": failedRequests(), "thinned": thinned(),
		"full": reporttest.Full(8, 60), "many-clients": measured(40, 22), "hour": lasting(10, hour), "forwarding": reporttest.Forwarding(), "summarized": reporttest.Failing(),
		"nothing": reporttest.Nothing(), "standalone": reporttest.Standalone(),
	}
	// Results of real runs on the local cluster, which have all that there is.
	for _, name := range []string{"tomcat", "tls", "small-clients", "open-rate", "users"} {
		all["real-"+name] = read(t, filepath.Join("testdata", name+".json"))
	}
	return all
}

// lasting returns a result of some minutes, each of which is like the first.
func lasting(clients, seconds int) *result.Result {
	const minute = 60
	r := measured(clients, minute)
	first := r.Series
	for from := minute; from < seconds; from += minute {
		for i := range first {
			s := first[i]
			s.Second += int64(from)
			r.Series = append(r.Series, s)
		}
	}
	for i := range r.Clients {
		c := &r.Clients[i]
		var measure result.Measure
		measure.Merge(&c.Measure)
		for range seconds/minute - 1 {
			c.Merge(&measure)
		}
		c.EndedAt = c.StartedAt + int64(seconds)*second
		c.Usage.UserCPU *= int64(seconds / minute)
	}
	r.AddClients(r.Clients)
	r.Server.End.At = int64(seconds) * second
	r.Server.End.UserCPU *= int64(seconds / minute)
	return r
}

// measured returns a result with the outcomes of its thresholds.
func measured(clients, seconds int) *result.Result {
	r := reporttest.Measured(clients, seconds)
	p99, failed := float64(r.Merged.Latencies.Get(result.Total).Percentile(99))/1000, r.Merged.ErrorPercent()
	r.Thresholds = []result.ThresholdOutcome{
		{Metric: "LatencyP99", Bound: "below 50ms", Actual: fmt.Sprintf("%.1fms", p99), Limit: 50, Measured: &p99, Unit: "ms"},
		{Metric: "ErrorRate", Bound: "below 5%", Actual: fmt.Sprintf("%.2f%%", failed), Met: true, Limit: 5, Measured: &failed, Unit: "%"},
	}
	return r
}

// clean returns a result that nothing speaks against.
func clean() *result.Result {
	r := measured(2, 22)
	r.Findings = []result.Finding{}
	p99 := *r.Thresholds[0].Measured / 1000
	r.Thresholds[0] = result.ThresholdOutcome{Metric: "LatencyP99", Bound: "below 1s", Actual: fmt.Sprintf("%.4fs", p99), Met: true, Limit: 1, Measured: &p99, Unit: "s"}
	return r
}

func invalid() *result.Result {
	r := measured(2, 22)
	r.Findings = append([]result.Finding{{
		Reason: "ClientSaturated", Severity: result.Invalidates, Message: "Client 1 used 97% of its CPU limit. Increase clients.resources.cpu.",
	}}, r.Findings...)
	return r
}

// openLoad returns a result of an open load, whose requests started late by 150 µs each, and of which some were dropped.
func openLoad(clients, seconds int) *result.Result {
	r := measured(clients, seconds)
	r.Run.Load, r.Run.TargetRatePerSecond = result.LoadOpen, float64(25*clients)
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Dropped = 7
		c.Arrivals = &result.Arrivals{Due: c.Requests + 7, PlannedMicroseconds: int64(seconds) * second, StartedMicroseconds: int64(seconds)*second + 1500}
		for _, bar := range c.Latencies.Get(result.Total).Bars() {
			for range bar.Count {
				c.Latencies.Of(result.Delay).Record(150)
				c.Latencies.Of(result.Service).Record(max(0, bar.From-150))
			}
		}
	}
	r.AddClients(r.Clients)
	return r
}

// stages returns a result of levels, with its seconds.
func stages() *result.Result {
	r := reporttest.Staged()
	r.Series = lasting(2, 1380).Series[:1350]
	for i := range r.Series {
		r.Series[i].SetBackend("app", &result.ServerUsage{UserCPU: int64(i) * 600, Resident: 400 << 20}, true)
	}
	return r
}

// script returns a result of a k6 script.
func script() *result.Result {
	r := measured(2, 22)
	r.Run.Load, r.Run.Connections, r.Run.AllConnections = result.LoadScript, 0, 0
	checks, price := k6metric.New("checks", k6metric.Rate, k6metric.None), k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
	stock, sent := k6metric.New("stock", k6metric.Gauge, k6metric.None), k6metric.New("data_sent", k6metric.Counter, k6metric.Bytes)
	for i := range 100 {
		checks.Add(float64(i%4), 0)
		price.Add(float64(i), 0)
		stock.Add(float64(-i), 0)
		sent.Add(10, 0)
	}
	r.Clients[0].Script = &result.ScriptTotals{VirtualUsers: 12, Metrics: []k6metric.Metric{*checks, *price, *stock, *sent}}
	r.AddScript()
	return r
}

// external returns a result of a target whose usage is unknown.
func external() *result.Result {
	r := measured(1, 22)
	r.Server, r.Environment.TargetCPULimit, r.Environment.TargetNode, r.Environment.CPUExclusivity = nil, 0, "", "Unknown"
	for i := range r.Series {
		r.Series[i].SetServer(nil, false)
		r.Series[i].Node = nil
	}
	return r
}

// cold returns a result without a warm-up.
func cold() *result.Result {
	r := measured(1, 22)
	for i := range r.Clients {
		r.Clients[i].Warmup = nil
	}
	r.AddClients(r.Clients)
	r.Findings = []result.Finding{{Reason: "NoWarmup", Severity: result.Warns, Message: "The target was measured cold. Set warmup.", Seconds: &result.Span{}}}
	return r
}

// failedRequests returns a result of which no request succeeded.
func failedRequests() *result.Result {
	r := measured(1, 22)
	failed := result.Counts{Requests: 20, Connections: 20, Errors: result.ErrorCounts{result.ErrorConnect: 12, result.ErrorTLS: 4, result.ErrorStatus: 4}}
	var counts result.Counts
	for i := range r.Series {
		s := &r.Series[i]
		s.SetCounts(failed, result.PhaseTimes{})
		s.P50, s.P90, s.P99, s.Max = 0, 0, 0, 0
		counts.Add(failed)
	}
	r.Clients[0].Measure = result.Measure{Counts: counts}
	r.AddClients(r.Clients)
	r.Findings = []result.Finding{{Reason: "NothingSucceeded", Severity: result.Invalidates, Message: "Of 440 requests none succeeded. The first errors were: connect, TLS, status."}}
	return r
}

// thinned returns a result whose seconds were joined, as those of a long run are.
func thinned() *result.Result {
	r := lasting(2, 2*hour)
	const together = 16
	var joined []result.Second
	for i := range r.Series {
		if s := &r.Series[i]; i%together == 0 {
			joined = append(joined, *s)
		} else {
			joined[len(joined)-1].Join(s)
		}
	}
	r.Series = joined
	return r
}

// payload is in all texts of hostile pages. Where it is executed, the document's title changes; where it is an
// element, hostileElements counts it.
const payload = `</title></style></script></svg><script>document.title='executed'</script><img src=x onerror="document.title='executed'"><svg onload="document.title='executed'"></svg><b>*"'` + "`]]>{{.}}\x1b[2J\u202e=1+1"

// hostile returns results with the payload in every text that may come from a user, a server or a client.
func hostile() map[string]*result.Result {
	all := map[string]*result.Result{"hostile": stages(), "hostile-script": script(), "hostile-invalid": invalid()}
	for _, r := range all {
		r.Environment.TLS = &result.Handshake{Protocol: "TLSv1.3", Subject: "CN=a", Issuer: "CN=b", Fingerprint: strings.Repeat("0f", 32)}
		r.ServerErrors = []result.ServerErrors{{Container: "server", Lines: 3, First: "java.lang.Error"}}
		load, exclusivity := r.Run.Load, r.Environment.CPUExclusivity
		poison(r, payload)
		r.Run.Load, r.Environment.CPUExclusivity = load, exclusivity
		for i := range r.Series { // the keys are the names of containers
			r.Series[i].BackendCPU = poisonKeys(r.Series[i].BackendCPU)
			r.Series[i].Backends = poisonKeys(r.Series[i].Backends)
		}
		for i := range r.Levels {
			r.Levels[i].Backends = poisonKeys(r.Levels[i].Backends)
		}
	}
	return all
}

func poisonKeys[V any](m map[string]V) map[string]V {
	if m == nil {
		return nil
	}
	poisoned := map[string]V{}
	for name, v := range maps.All(m) {
		poisoned[name+payload] = v
	}
	return poisoned
}
