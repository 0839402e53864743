package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestAcceptQueueOverflow(t *testing.T) {
	for name, tc := range map[string]struct {
		overflows, drops, queue, limit, connect int64
		metrics                                 []string // nil when nothing is to be found
	}{
		"nothing waited":       {0, 0, 0, 100, 900, nil},
		"one place was left":   {0, 0, 99, 100, 900, nil},
		"unknown":              {result.Unknown, result.Unknown, result.Unknown, result.Unknown, 0, nil},
		"it was full":          {0, 0, 100, 100, 0, []string{"had 100 connections when it was sampled, and 100 are allowed"}},
		"it overflowed":        {3, 3, 12, 50, 1_002_000, []string{"was full 3 times", "Opening a connection took up to 1.00", "backlog"}},
		"half-open ones":       {0, 2, 0, 50, 0, []string{"dropped 2 connections for other reasons"}},
		"only drops are known": {result.Unknown, 2, result.Unknown, result.Unknown, 0, []string{"dropped 2 connections"}},
	} {
		r := sound()
		r.NodeUsage = result.UnknownNode()
		r.NodeUsage.ListenOverflows, r.NodeUsage.ListenDrops = tc.overflows, tc.drops
		r.NodeUsage.AcceptQueue, r.NodeUsage.AcceptQueueLimit = tc.queue, tc.limit
		if tc.connect > 0 {
			r.Merged.Latencies.Of(result.Connect).Record(tc.connect)
		}
		r.Run.Load, r.Run.AllConnections = result.LoadClosed, 150
		got := find(r, "AcceptQueueOverflow", validity.Declared{Connections: validity.Limit{Setting: "connector.maxConnections", Value: 150}})
		if (got.Severity == result.Warns) != (tc.metrics != nil) {
			t.Errorf("%s: found %s %q", name, got.Severity, got.Message)
		}
		for _, text := range tc.metrics {
			if !strings.Contains(got.Message, text) {
				t.Errorf("%s: %q lacks %q", name, got.Message, text)
			}
		}
		if tc.metrics == nil {
			continue
		}
		// With fewer connections that it serves at a time, the server takes none from the queue.
		got = find(r, "AcceptQueueOverflow", validity.Declared{Connections: validity.Limit{Setting: "connector.maxConnections", Value: 149}})
		if strings.Contains(got.Message, "backlog") || !strings.Contains(got.Message, "while it serves 149 (connector.maxConnections)") {
			t.Errorf("%s: %q", name, got.Message)
		}
	}
}
