package gitops

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// action is an action as the test data lists it.
type action struct {
	Name     string `json:"name"`
	Disabled bool   `json:"disabled"`
}

// TestArgoTestData runs the test data that Argo CD's repository wants next to each script.
func TestArgoTestData(t *testing.T) {
	for _, kind := range []string{"BenchmarkRun", "Benchmark"} {
		directory := filepath.Join(argoDirectory, kind)
		var healths struct {
			Tests []struct {
				HealthStatus map[string]any `json:"healthStatus"`
				InputPath    string         `json:"inputPath"`
			} `json:"tests"`
		}
		load(t, filepath.Join(directory, "health_test.yaml"), &healths)
		if len(healths.Tests) != 4 {
			t.Errorf("%s: %d tests of the health", kind, len(healths.Tests))
		}
		for _, test := range healths.Tests {
			got := execute(t, object(t, directory, test.InputPath), "health.lua")
			if diff := gocmp.Diff(any(test.HealthStatus), got); diff != "" {
				t.Errorf("%s %s: %s", kind, test.InputPath, diff)
			}
		}
		testActions(t, kind, filepath.Join(directory, "actions"))
	}
}

func testActions(t *testing.T, kind, directory string) {
	t.Helper()
	var tests struct {
		Discovery []struct {
			InputPath string   `json:"inputPath"`
			Result    []action `json:"result"`
		} `json:"discoveryTests"`
		Actions []struct {
			Action             string `json:"action"`
			InputPath          string `json:"inputPath"`
			ExpectedOutputPath string `json:"expectedOutputPath"`
		} `json:"actionTests"`
	}
	load(t, filepath.Join(directory, "action_test.yaml"), &tests)
	if len(tests.Discovery) < 2 || len(tests.Actions) != 3 {
		t.Errorf("%s: %d tests of the discovery, %d of actions", kind, len(tests.Discovery), len(tests.Actions))
	}
	for _, test := range tests.Discovery {
		var got []action
		for name, value := range execute(t, object(t, directory, test.InputPath), "actions", "discovery.lua").(map[string]any) {
			got = append(got, action{name, value.(map[string]any)["disabled"].(bool)})
		}
		for _, actions := range [][]action{got, test.Result} {
			slices.SortFunc(actions, func(a, b action) int { return cmp.Compare(a.Name, b.Name) })
		}
		if diff := gocmp.Diff(test.Result, got); diff != "" {
			t.Errorf("%s %s: %s", kind, test.InputPath, diff)
		}
	}
	for _, test := range tests.Actions {
		input := object(t, directory, test.InputPath)
		got := execute(t, input, "actions", test.Action, "action.lua")
		if changed, is := got.(map[string]any); is {
			restoreEmpty(changed, input.Object)
		}
		var want any
		load(t, filepath.Join(directory, test.ExpectedOutputPath), &want)
		if diff := gocmp.Diff(whole(want), got); diff != "" {
			t.Errorf("%s %s of %s: %s", kind, test.Action, test.InputPath, diff)
		}
	}
}

// restoreEmpty does to a changed object what Argo CD does before it patches: an empty list that was an empty object
// becomes one again.
func restoreEmpty(changed, before map[string]any) {
	for key, old := range before {
		oldObject, is := old.(map[string]any)
		if !is {
			continue
		}
		switch value := changed[key].(type) {
		case map[string]any:
			restoreEmpty(value, oldObject)
		case []any:
			if len(value) == 0 {
				changed[key] = oldObject
			}
		}
	}
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // the test's own
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func object(t *testing.T, directory, path string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	load(t, filepath.Join(directory, path), &u.Object)
	u.Object = whole(u.Object).(map[string]any)
	return u
}

// whole returns a value of YAML with whole numbers as int64.
func whole(value any) any {
	switch v := value.(type) {
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	}
	return value
}
