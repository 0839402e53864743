package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// TestKeepAliveRequestsOfTools checks that a report has only those that the tool counts.
func TestKeepAliveRequestsOfTools(t *testing.T) {
	for tool, want := range map[string]bool{"": true, result.ToolAB: true, result.ToolSiege: false} {
		r := reporttest.Tomcat()
		r.Run.Tool, r.Run.KeepAlive, r.Merged.KeepAlive = tool, true, 0
		for i := range r.Clients {
			r.Clients[i].KeepAlive = 0
		}
		var text bytes.Buffer
		if err := report.Write(&text, "text", r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "Keep-Alive requests:"); got != want {
			t.Errorf("%q: %t, want %t", tool, got, want)
		}
	}
}
