package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// TestHTTP2 checks that a report names the protocol and counts streams as concurrent
// requests.
func TestHTTP2(t *testing.T) {
	r := tomcat()
	r.Run.Streams, r.Environment.HTTP = 8, result.HTTP2
	var got bytes.Buffer
	if err := report.Write(&got, "text", r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"each stream of each connection sends its next request",
		"HTTP Protocol:          HTTP/2, 8 streams on each connection",
		"Concurrency Level:      400\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, &got)
		}
	}
}
