//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/validity"
)

// TestTools runs a load by ab and one by siege, each after a warm-up, and compares what they printed with what the
// server counted.
func TestTools(t *testing.T) {
	t.Run("AB", func(t *testing.T) { runByTool(t, v1alpha1.ToolAB, "localhost/assay-test/ab:2.4") })
	t.Run("Siege", func(t *testing.T) { runByTool(t, v1alpha1.ToolSiege, "localhost/assay-test/siege:4") })
}

func runByTool(t *testing.T, name v1alpha1.ToolName, image string) {
	const path, requests, warmup = "/fixed/100/500", 2000, 200
	run := loadRun(t, "tool-"+strings.ToLower(string(name)), path).Requests(10, requests).Warmup(warmup).Obj()
	run.Spec.Clients.Tool = &v1alpha1.ClientTool{Name: name, Image: image}
	c := theCluster
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	stored, server := c.artifact(t, done), c.serverReport(t, done)[path]
	clients := int64(*run.Spec.Clients.Replicas)
	if got := stored.Merged.Requests; got != clients*requests || stored.Merged.Succeeded() != got || server.Succeeded != clients*(requests+warmup) {
		t.Errorf("%d requests of which %d succeeded, want %d; the server had %d, want %d with the warm-up",
			got, stored.Merged.Succeeded(), clients*requests, server.Succeeded, clients*(requests+warmup))
	}
	if stored.Warmup == nil || stored.Warmup.Requests != clients*warmup || stored.Run.Tool != string(name) || stored.Server == nil {
		t.Errorf("warm-up %+v, tool %q, server %+v", stored.Warmup, stored.Run.Tool, stored.Server)
	}
	found := false
	for _, f := range stored.Findings {
		found = found || f.Reason == validity.ReasonForeignTool
	}
	if !found {
		t.Errorf("findings %+v lack %s", stored.Findings, validity.ReasonForeignTool)
	}
	for i := range stored.Clients {
		if tool := stored.Clients[i].Tool; tool == nil || tool.Max <= 0 || stored.Clients[i].Usage.CPU() <= 0 {
			t.Errorf("client %d: %+v, usage %+v", i, tool, stored.Clients[i].Usage)
		}
	}
	report := plugin(t, 0, "report", done.Name, "-n", done.Namespace)
	for _, text := range []string{"ForeignTool", "Concurrency Level:      10", "of the tool as printed", "Transactions:"} {
		if name == v1alpha1.ToolSiege && text == "of the tool as printed" {
			continue // siege prints no percentiles
		}
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
}

// TestLoadByK6 runs a declared load of two requests by k6, on two clients after a warm-up. By the server's count, each request must be made exactly once.
func TestLoadByK6(t *testing.T) {
	t.Parallel()
	c := theCluster
	const path, other, requests, warmup = "/fixed/100/500", "/fixed/100/700", 300, 60
	run := loadRun(t, "load-by-k6", path).Lane("load-by-k6").Clients(2, "250m", "192Mi").Requests(10, requests).Warmup(warmup).Obj()
	run.Spec.Load.Requests = append(run.Spec.Load.Requests, v1alpha1.Request{Path: other})
	run.Spec.Clients.Tool = &v1alpha1.ClientTool{Name: v1alpha1.ToolK6}
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	stored, server := c.artifact(t, done), c.serverReport(t, done)
	if got, all := stored.Merged.Requests, server[path].Succeeded+server[other].Succeeded; got != 2*requests || stored.Merged.Succeeded() != got ||
		all != 2*(requests+warmup) || server[other].Succeeded == 0 {
		t.Errorf("%d requests of which %d succeeded, want %d; the server had %d, want %d with the warm-up, %d of them for %s",
			got, stored.Merged.Succeeded(), 2*requests, all, 2*(requests+warmup), server[other].Succeeded, other)
	}
	if stored.Run.Tool != string(v1alpha1.ToolK6) || stored.Warmup == nil || stored.Warmup.Requests != 2*warmup || stored.Statuses[200] != 2*requests {
		t.Errorf("tool %q, warm-up %+v, statuses %v", stored.Run.Tool, stored.Warmup, stored.Statuses)
	}
	if report := plugin(t, 0, "report", done.Name, "-n", done.Namespace); !strings.Contains(report, "as k6 measures it") || !strings.Contains(report, "ForeignTool") {
		t.Errorf("report:\n%s", report)
	}
}
