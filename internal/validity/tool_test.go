package validity

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// byTool returns the result of a run by ab whose target and clients were undisturbed.
func byTool(clients int) *result.Result {
	r := &result.Result{Run: result.Run{Load: result.LoadClosed, Tool: "AB", Connections: 25, KeepAlive: true, Requests: []result.Request{{Path: "/", Weight: 1}}}}
	r.Environment = result.Environment{TargetCPULimit: 1000, ClientCPULimit: 1000, CPUExclusivity: "Exclusive", DocumentLength: -1}
	var all []result.Client
	for i := range clients {
		c := result.Client{Index: i, Totals: result.Totals{
			Measure: result.Measure{Counts: result.Counts{Requests: 50_000}}, StartedAt: 1_000_000, EndedAt: 11_000_000,
			Usage: result.ClientUsage{UserCPU: 1_000_000}, Warmup: &result.Counts{Requests: 1000},
			Tool: &result.Tool{Name: "AB", Version: "2.3", Mean: 5000, Max: 20_000},
		}}
		c.UseTool()
		all = append(all, c)
	}
	r.AddClients(all)
	return r
}

// TestForeignTool checks that a result by another tool has a warning that names what is unknown, and no finding by a rule that has nothing
// to judge.
func TestForeignTool(t *testing.T) {
	for clients, missing := range map[int]bool{1: false, 2: true} {
		r := byTool(clients)
		var reasons []string
		for _, f := range Judge(r, Declared{}) {
			reasons = append(reasons, f.Reason)
			if f.Reason == ReasonForeignTool && (!strings.Contains(f.Message, "AB 2.3") || strings.Contains(f.Message, "percentiles over all clients") != missing) {
				t.Errorf("%d clients: %s", clients, f.Message)
			}
		}
		if got := strings.Join(reasons, " "); got != ReasonTargetUsageUnknown+" "+ReasonForeignTool {
			t.Errorf("%d clients: findings %s", clients, got)
		}
	}
	if f := foreignTool(&result.Result{}); f != nil {
		t.Errorf("Assay's own load: %s", f.Message)
	}
}

// TestToolSaturated checks that a tool that was the limit is found.
func TestToolSaturated(t *testing.T) {
	r := byTool(1)
	r.Clients[0].Usage.UserCPU = 9_900_000
	if findings := Judge(r, Declared{}); Valid(findings) {
		t.Errorf("valid: %+v", findings)
	}
}

// TestToolConcurrency checks that the mean concurrency is known: 50,000 requests of 5 ms in 10 s.
func TestToolConcurrency(t *testing.T) {
	if got := requestsInFlight(byTool(1)); got != 25 {
		t.Errorf("%g requests in flight, want 25", got)
	}
	rounded := byTool(1) // 5.4 ms, printed as 10
	rounded.Clients[0].Tool.Mean = 10_000
	rounded.Clients[0].UseTool()
	if got := requestsInFlight(rounded); got != 25 {
		t.Errorf("%g requests in flight of 25 connections", got)
	}
}
