package nginx

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/servertest"
)

func TestReadLog(t *testing.T) {
	started := logged{Log: adapter.Log{Version: "nginx/1.22.1", Connector: "epoll"}, workers: 2}
	over := started
	over.adjustments = []adjustment{{setting: "worker_connections", configured: "50000", real: "20000"}}
	denied := started
	denied.workers = 0
	for name, want := range map[string]logged{
		"nginx":                        started,
		"nginx-tls":                    started,
		"nginx-tls13":                  started,
		"nginx-connections-exhausted":  started,
		"nginx-connections-over-limit": over,
		"nginx-pid-denied":             denied,
		"nginx-port-taken":             {},
		"nginx-configuration-broken":   {},
		"nginx-tls-cipher-unknown":     {},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, readLog(running(servertest.Log(t, "logs/"+name))), cmp.AllowUnexported(logged{}, adjustment{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadWorkers reads the logs of nginxes that were started with the rendered
// files.
func TestReadWorkers(t *testing.T) {
	logs, err := filepath.Glob("testdata/rendered-logs/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	several := map[string]int{"contexts": 2, "everything": 2, "workers": 3}
	for _, path := range logs {
		name := strings.TrimSuffix(filepath.Base(path), ".log")
		if name == "configuration" || strings.HasPrefix(name, "own-main") {
			continue
		}
		if l := readLog(running(servertest.Log(t, "rendered-logs/"+name))); l.workers != max(several[name], 1) {
			t.Errorf("%s: read %d workers", name, l.workers)
		}
	}
}
