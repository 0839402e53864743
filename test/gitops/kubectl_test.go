package gitops

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/util/jsonpath"

	"github.com/assay-dev/assay/api/v1alpha1"
)

var (
	// jsonPaths match what a recipe or a page asks for with JSONPath, waits those of kubectl wait.
	jsonPaths = []*regexp.Regexp{regexp.MustCompile(`jsonpath='([^']+)'`), regexp.MustCompile(`jsonPath: "([^"]+)"`)}
	waits     = regexp.MustCompile(`--for=condition=([A-Za-z]+)`)
)

// sources returns the recipes and their page.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"docs/gitops.md": read(t, "../../docs/gitops.md")}
	err := filepath.WalkDir(recipes, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found[path] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withResult returns the run that passed, with a result in its status.
func withResult(t *testing.T) map[string]any {
	t.Helper()
	count := int64(100)
	data, err := json.Marshal(v1alpha1.ResultStatus{
		Requests: &count, RequestsPerSecond: "8282.17", Latency: &v1alpha1.PhaseLatencies{Total: &v1alpha1.Latency{Count: &count, P99Microseconds: &count}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatal(err)
	}
	run := runs(t)["Passed"].object.DeepCopy().Object
	run["status"].(map[string]any)["result"] = result
	return run
}

// TestJSONPaths checks that kubectl can evaluate each JSONPath on runs in every state, and that each has a value once a
// run has passed.
func TestJSONPaths(t *testing.T) {
	count := 0
	for file, text := range sources(t) {
		for _, pattern := range jsonPaths {
			for _, match := range pattern.FindAllStringSubmatch(text, -1) {
				count++
				path := jsonpath.New(file).AllowMissingKeys(true)
				if err := path.Parse(match[1]); err != nil {
					t.Errorf("%s: %s: %v", file, match[1], err)
					continue
				}
				evaluate := func(object map[string]any) string {
					var out bytes.Buffer
					if err := path.Execute(&out, object); err != nil {
						t.Errorf("%s: %s: %v", file, match[1], err)
					}
					return strings.TrimSpace(out.String())
				}
				for _, s := range runs(t) {
					evaluate(s.object.Object)
				}
				if evaluate(withResult(t)) == "" {
					t.Errorf("%s: %s has no value although the run has passed", file, match[1])
				}
			}
		}
	}
	if count < 8 {
		t.Errorf("only %d JSONPaths found", count)
	}
}

// TestConditions checks that runs and Benchmarks have the conditions that recipes wait for in every state that the
// operator has seen.
func TestConditions(t *testing.T) {
	count := 0
	for file, text := range sources(t) {
		for _, match := range waits.FindAllStringSubmatch(text, -1) {
			count++
			for kind, states := range map[string]map[string]state{"BenchmarkRun": runs(t), "Benchmark": benchmarks(t)} {
				for name, s := range states {
					if list, _ := s.object.Object["status"].(map[string]any)["conditions"].([]any); name != "created" && !has(list, match[1]) {
						t.Errorf("%s waits for %s, which the %s %q doesn't have", file, match[1], kind, name)
					}
				}
			}
		}
	}
	if count < 3 {
		t.Errorf("only %d waits found", count)
	}
}

func has(conditions []any, kind string) bool {
	for _, item := range conditions {
		if item.(map[string]any)["type"] == kind {
			return true
		}
	}
	return false
}
