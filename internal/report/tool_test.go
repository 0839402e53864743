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

// TestSiegePrinted checks that the figures of siege are those that each client's siege printed, with its digits.
func TestSiegePrinted(t *testing.T) {
	r := reporttest.Tomcat()
	r.Run.Tool = result.ToolSiege
	for i := range r.Clients {
		r.Clients[i].Tool = &result.Tool{Name: result.ToolSiege, Printed: map[string]string{"response_time": "0.03", "concurrency": "14" + []string{"8.12", "7.40"}[i]}}
	}
	var text bytes.Buffer
	if err := report.Write(&text, "text", r); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"0.03 secs\n", "148.12\n", "147.40\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %q", part)
		}
	}
	if strings.Contains(text.String(), "siege's terms") {
		t.Error("there are figures that siege didn't print")
	}
}
