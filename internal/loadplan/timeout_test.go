package loadplan

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/internal/result"
)

// TestHistogramsCoverTimeouts checks that histograms cover twice the longest timeout:
// under open load a request may wait for a connection as long as it may then take.
func TestHistogramsCoverTimeouts(t *testing.T) {
	manifest, err := os.ReadFile("../../config/crd/bases/assay.dev_benchmarkruns.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	if err := yaml.Unmarshal(manifest, &crd); err != nil {
		t.Fatal(err)
	}
	field := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
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
