package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/k6/internal/scriptserver"
)

// shared lists public scripts that must count the same on any number of clients.
var shared = []string{
	"async.js", "batch.js", "crud.js", "csv.js", "graphql.js", "groups.js", "grpc.js", "handle_summary.js", "iterations_only.js", "modular.js", "scenarios.js",
	"shared_array.js", "token.js", "typescript.ts", "upload.js", "users_only.js", "websocket_legacy.js", "websockets.js",
}

// counted is what a script has counted on all clients.
type counted struct {
	Iterations, Requests, VirtualUsers int64
	Checks                             map[string]k6metric.Check // by group and name
	Sums                               map[string]float64        // of counters and rates
	Met                                map[string]bool           // by threshold
	Seen                               map[string]int            // by the server
}

// TestPublicScriptsOnClients runs scripts on one client and on three. docs/scripts.md promises that the counts over all
// clients are those of the script.
func TestPublicScriptsOnClients(t *testing.T) {
	for _, name := range shared {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(countOn(t, name, 1), countOn(t, name, 3)); diff != "" {
				t.Errorf("one client (-) and three (+) differ:\n%s", diff)
			}
		})
	}
}

// countOn runs a public script on n clients.
func countOn(t *testing.T, name string, n int) counted {
	t.Helper()
	server := scriptserver.New(t)
	for _, setting := range server.Environment() {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	p := plans(n)
	for i := range p {
		p[i].Script.File = name
	}
	sessions, errs := run(t, "../testdata/public", p, strings.TrimPrefix(server.URL, "http://"))
	r := &result.Result{}
	var clients []result.Client
	for i, s := range sessions {
		totals := of[result.Totals](s)
		if errs[i] != nil || len(totals) != 1 {
			t.Fatalf("client %d of %d: %v, %d totals", i, n, errs[i], len(totals))
		}
		clients = append(clients, result.Client{Index: i, Totals: totals[0]})
	}
	r.AddClients(clients)
	r.AddScript()
	c := counted{
		Iterations: r.Script.Iterations, Requests: r.Merged.Requests, VirtualUsers: r.Script.VirtualUsers,
		Checks: map[string]k6metric.Check{}, Sums: map[string]float64{}, Met: map[string]bool{}, Seen: server.Requests(),
	}
	for _, check := range r.Script.Checks {
		c.Checks[check.Group+" "+check.Name] = check
	}
	for _, m := range r.Script.Metrics {
		if (m.Kind == k6metric.Counter || m.Kind == k6metric.Rate) && !strings.HasPrefix(m.Name, "data_") {
			c.Sums[m.Name] = m.Sum
		}
	}
	for _, threshold := range r.Thresholds {
		c.Met[threshold.Metric+" "+threshold.Bound] = threshold.Met
	}
	return c
}
