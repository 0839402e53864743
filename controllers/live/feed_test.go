package live

import (
	"testing"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/session"
)

// TestMetricsOfAScript checks that a viewer gets what the clients' scripts have measured, merged rather than averaged, and
// nothing for other loads.
func TestMetricsOfAScript(t *testing.T) {
	w := newWorld(t)
	v := w.view("ann")
	if u := v.next(); u.Script != nil {
		t.Errorf("without a script: %+v", u.Script)
	}
	price := k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
	price.Add(4, 0)
	w.mu.Lock()
	w.script = []k6metric.Metric{*price}
	w.mu.Unlock()
	w.advance(1, 1)
	s := v.next().Script
	if s == nil || s.Clients != 1 || s.Omitted != 2 || len(s.Metrics) != 1 || s.Metrics[0].Name != "price" || s.Metrics[0].Max != 4 {
		t.Errorf("with a script: %+v", s)
	}
}

// TestScriptsAreMerged checks that percentiles are those of all clients' values, and that a client which has sent nothing
// is not counted.
func TestScriptsAreMerged(t *testing.T) {
	clients := map[int]session.ClientState{2: {Connected: true}}
	for i := range 2 {
		m := k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
		for range 1 + 98*i { // one value of 10, and 99 of 20
			m.Add(float64(10*(i+1)), 0)
		}
		clients[i] = session.ClientState{Metrics: &session.ScriptMetrics{Metrics: []k6metric.Metric{*m}}}
	}
	s := scriptOf(&session.Observation{Clients: clients})
	if s.Clients != 2 || len(s.Metrics) != 1 {
		t.Fatalf("%+v", s)
	}
	m := s.Metrics[0]
	if m.Samples != 100 || m.Min != 10 || m.Max != 20 || m.Percentiles[0] < 19 {
		t.Errorf("the median of one 10 and 99 of 20 is not 20: %+v", m)
	}
}
