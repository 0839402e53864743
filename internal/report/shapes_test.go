package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// TestLatenciesSayWhatTheyAre checks that latencies of closed load are labelled as
// service times, those of open load as response times.
func TestLatenciesSayWhatTheyAre(t *testing.T) {
	for want, r := range map[string]*result.Result{
		"service times (closed model)": tomcat(), "response times (open model)": opened(),
	} {
		var got bytes.Buffer
		if err := report.Write(&got, "text", r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), "Latencies are "+want) {
			t.Errorf("the report doesn't say %q", want)
		}
	}
}
