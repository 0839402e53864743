package loadplan

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/definition"
)

// TestHistogramsCoverTimeouts checks that histograms cover twice the longest timeout:
// under open load a request may wait for a connection as long as it may then take.
func TestHistogramsCoverTimeouts(t *testing.T) {
	field := definition.Schema[schema](t, "../../config/crd/bases/assay.dev_benchmarkruns.yaml")
	for _, name := range []string{"spec", "load", "client", "timeoutSeconds"} {
		field = field.Properties[name]
	}
	if field.Maximum == 0 || 2*field.Maximum*1_000_000 > result.HighestMicroseconds {
		t.Errorf("a timeout may be %d s, histograms end at %d µs", field.Maximum, int64(result.HighestMicroseconds))
	}
}

// schema is the part of a field's schema that the test reads.
type schema struct {
	Properties map[string]schema
	Maximum    int64
}
