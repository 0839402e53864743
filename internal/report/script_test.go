package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// TestScriptIsReported checks that a report has a script's metrics with the metrics of
// their kinds, and no line for what is unknown.
func TestScriptIsReported(t *testing.T) {
	r := tomcat()
	r.Run.Load, r.Run.Connections, r.Run.AllConnections = result.LoadScript, 0, 0
	checks, price, stock, sent := k6metric.New("checks", k6metric.Rate, k6metric.None), k6metric.New("price", k6metric.Trend, k6metric.Milliseconds),
		k6metric.New("stock", k6metric.Gauge, k6metric.None), k6metric.New("data_sent", k6metric.Counter, k6metric.Bytes)
	for i := range 100 {
		checks.Add(float64(i%4), 0)
		price.Add(float64(i), 0)
		stock.Add(float64(-i), 0)
		sent.Add(10, 0)
	}
	r.Clients[0].Script = &result.ScriptTotals{VirtualUsers: 12, Metrics: []k6metric.Metric{*checks, *price, *stock, *sent}}
	r.AddScript()
	var got bytes.Buffer
	if err := report.Write(&got, "text", r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Latencies are service times (k6 script)", "Virtual users:          12\n", "Concurrency Level:      12\n",
		"  checks     75.00% (75 of 100)\n", "  price      avg 49.5 ms, min 0 ms, p50 49.5044 ms", ", max 99 ms\n",
		"  stock      -99 (min -99, max 0)\n", "  data_sent  1000 bytes\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, got.String())
		}
	}
	for _, not := range []string{"HTML transferred", "Dropped iterations"} {
		if strings.Contains(got.String(), not) {
			t.Errorf("the report has %q", not)
		}
	}
}
