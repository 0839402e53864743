package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

func seconds(from, to int64) (all []result.Second) {
	for s := from; s < to; s++ {
		all = append(all, result.Second{Second: s, Seconds: 1, Requests: 10 * s})
	}
	return all
}

// TestApply checks that a state grows by updates, is replaced by one from the start or of another run, and that the
// states before stay as they were.
func TestApply(t *testing.T) {
	first := (&Update{}).Apply(&Update{UID: "a", Seconds: seconds(0, 3)})
	second := first.Apply(&Update{UID: "a", From: 3, Seconds: seconds(3, 5)})
	other := first.Apply(&Update{UID: "a", From: 2, Seconds: seconds(2, 3)})
	if diff := cmp.Diff(seconds(0, 5), second.Seconds); diff != "" {
		t.Errorf("after an update (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(seconds(0, 3), other.Seconds); diff != "" {
		t.Errorf("after an update that replaces a second (-want +got):\n%s", diff)
	}
	if second.Passed() != 5 || first.Passed() != 3 || (&Update{From: 7}).Passed() != 7 {
		t.Errorf("passed %d and %d, want 5 and 3", second.Passed(), first.Passed())
	}
	for name, next := range map[string]*Update{
		"from the start": {UID: "a", Seconds: seconds(0, 1)},
		"of another run": {UID: "b", From: 0, Seconds: seconds(0, 1)},
	} {
		if got := second.Apply(next); len(got.Seconds) != 1 {
			t.Errorf("%s: %d seconds, want 1", name, len(got.Seconds))
		}
	}
}

// TestEndpoint checks that an endpoint can be read back, and that what isn't one is rejected.
func TestEndpoint(t *testing.T) {
	want := Endpoint{Port: 9444, CA: "-----BEGIN CERTIFICATE-----\n"}
	if got, err := ParseEndpoint(want.String()); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "{}", `{"port": 0, "ca": "x"}`, `{"port": 70000, "ca": "x"}`, `{"port": 9444}`, "9444"} {
		if got, err := ParseEndpoint(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// TestPath checks that names can't change the path.
func TestPath(t *testing.T) {
	if got, want := Path("a/b", "../c?d"), "/v1/namespaces/a%2Fb/benchmarkruns/..%2Fc%3Fd/live"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
