package lifecycle_test

import (
	"encoding/json"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/test/benchtest"
)

const hashed = `{
	"template": {"metadata": {"labels": {"b": "1", "a": "2"}}, "spec": ` + benchtest.TomcatTemplate + `},
	"axes": [{"name": "load", "path": "/load", "values": [{"b": 1, "a": [1, 2]}, {"b": 2}]}],
	"repetitions": {"min": 10}
}`

func TestHash(t *testing.T) {
	hash := func(changes ...string) string {
		t.Helper()
		var spec v1alpha1.BenchmarkSpec
		for _, from := range append([]string{hashed}, changes...) {
			if err := json.Unmarshal([]byte(from), &spec); err != nil {
				t.Fatal(err)
			}
		}
		hash, err := lifecycle.Hash(&spec)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	// It must stay the same: another hash begins rounds of all Benchmarks.
	want := "40738a337e6071a3"
	for name, changes := range map[string][]string{
		"nothing changed":           nil,
		"suspend":                   {`{"suspend": true}`},
		"rerun, schedule, history":  {`{"rerun": "Never", "schedule": {"cron": "0 2 * * *"}, "history": {"passed": 7}, "onInconclusive": "Pass"}`},
		"names in another order":    {`{"axes": [{"values": [{"a" : [1,2], "b": 1}, {"b": 2}], "path": "/load", "name": "load"}]}`},
		"the same value once more":  {`{"repetitions": {"min": 10}}`},
		"labels in another order":   {`{"template": {"metadata": {"labels": {"a": "2", "b": "1"}}}}`},
		"no change of the template": {`{"template": {"spec": {"clients": {"replicas": 2}}}}`},
	} {
		if got := hash(changes...); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	seen := map[string]string{want: "nothing changed"}
	for _, change := range []string{
		`{"template": {"spec": {"clients": {"replicas": 3}}}}`,
		`{"template": {"metadata": {"labels": {"c": "1"}}}}`,
		`{"axes": [{"name": "load", "path": "/load", "values": [{"b": 1, "a": [2, 1]}, {"b": 2}]}]}`,
		`{"axes": [{"name": "load", "path": "/load", "values": [{"b": 2}, {"b": 1, "a": [1, 2]}]}]}`,
		`{"exclude": [{"load": "#1"}]}`,
		`{"repetitions": {"min": 11}}`,
		`{"comparison": {"baseline": {"lastPassed": {}}}}`,
		`{"capacity": {"from": 1}}`,
	} {
		got := hash(change)
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the hash of %s", change, other)
		}
		seen[got] = change
	}
}
