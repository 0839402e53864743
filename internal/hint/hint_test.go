package hint

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/assay-dev/assay/test/definition"
)

// run returns the fields of a BenchmarkRun.
func run(t *testing.T) *Fields {
	t.Helper()
	return definition.Schema[*Fields](t, "../../config/crd/bases/assay.dev_benchmarkruns.yaml")
}

// TestMeaningsAreFields checks that each meaning has a field of a BenchmarkRun, and that each value is one of a field's.
func TestMeaningsAreFields(t *testing.T) {
	fields := run(t)
	for _, m := range meanings {
		known := strings.HasPrefix(m.fields, "!")
		for _, one := range strings.Fields(m.fields) {
			at, value, _ := strings.Cut(one, "=")
			field := fields.at(append([]string{"spec"}, steps(at)...))
			known = known || field != nil
			if field != nil && value != "" && field.Enum != nil && closest(value, field.Enum) != value {
				t.Errorf("%s is no value of %s", value, at)
			}
		}
		if !known {
			t.Errorf("there are no fields %s", m.fields)
		}
	}
	all := map[string]bool{}
	fields.walk(nil, func(path []string) {
		f := fields.at(path)
		if f.Items != nil {
			f = f.Items
		}
		for _, value := range f.Enum {
			all[value] = true
		}
	})
	for value := range maps.Values(values) {
		if !all[value] {
			t.Errorf("no field has the value %s", value)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"connections", "conections", 1}, {"path", "paht", 1}, {"image", "mage", 1}, {"abc", "xyz", 3}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

// FuzzUnknown gives hints for whatever is in a document.
func FuzzUnknown(f *testing.F) {
	text, err := os.ReadFile("../load/planfile/schema.json")
	if err != nil {
		f.Fatal(err)
	}
	fields := &Fields{}
	if err := json.Unmarshal(text, fields); err != nil {
		f.Fatal(err)
	}
	f.Add("load.requests[0].url", `"/a"`)
	f.Add("load.stages[1].x[", `[{"a": 1e300}]`)
	f.Add("", `{}`)
	f.Fuzz(func(t *testing.T, at, value string) {
		var decoded any
		if json.Unmarshal([]byte(value), &decoded) != nil {
			return
		}
		_ = fields.Value(at, decoded)
		if text := fields.Unknown(at, decoded, decoded); strings.Contains(text, "\n") && !strings.Contains(at+value, "\n") {
			t.Errorf("%q has more than a line", text)
		}
	})
}
