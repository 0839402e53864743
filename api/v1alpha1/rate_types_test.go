package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestArrivalRate reads and writes rates as JSON.
func TestArrivalRate(t *testing.T) {
	for text, want := range map[string]struct {
		written     string
		thousandths int64
	}{
		"100": {"100", 100_000}, "0.5": {"0.5", 500}, "1.001": {"1.001", 1001}, "5e-1": {"0.5", 500}, "2.0": {"2", 2000}, "0": {"0", 0},
		"100000": {"100000", 100_000_000}, "99999.999": {"99999.999", 99_999_999},
	} {
		load := v1alpha1.OpenLoad{}
		if err := json.Unmarshal([]byte(`{"requestsPerSecond":`+text+`}`), &load); err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(load)
		if err != nil || string(written) != `{"requestsPerSecond":`+want.written+`}` || load.RequestsPerSecond.Thousandths() != want.thousandths {
			t.Errorf("%s: %s, %d thousandths, %v", text, written, load.RequestsPerSecond.Thousandths(), err)
		}
	}
	for _, text := range []string{`"0.5"`, `"x"`, `{}`, `true`} {
		if err := json.Unmarshal([]byte(`{"requestsPerSecond":`+text+`}`), &v1alpha1.OpenLoad{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if v1alpha1.WholeRate(7).Thousandths() != 7000 {
		t.Error(v1alpha1.WholeRate(7))
	}
}
