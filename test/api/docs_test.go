package api

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// yamlBlock matches a block of YAML on a page.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestManifestsOfDocsAreAccepted creates, as a dry run, every whole manifest on a page,
// every spec of a run, which gets what it lacks from a small run, and the fields of a Benchmark's spec on its page. Of
// a Benchmark it also creates the runs of all cells.
func TestManifestsOfDocsAreAccepted(t *testing.T) {
	namespace := newNamespace(t)
	pages := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") && !strings.Contains(path, "design") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			manifest := block[1]
			if strings.HasPrefix(manifest, "spec:") {
				manifest = completed(t, manifest)
			} else if !strings.Contains(manifest, "kind: BenchmarkRun") {
				if strings.Contains(manifest, "kind: Benchmark\n") {
					count++
					t.Run(fmt.Sprintf("%s-%d", filepath.Base(page), i), func(t *testing.T) {
						acceptCells(t, parse(t, manifest, `{}`), namespace)
					})
				} else if filepath.Base(page) == "benchmark.md" {
					count++
					t.Run(fmt.Sprintf("%s-%d", filepath.Base(page), i), func(t *testing.T) {
						acceptCells(t, benchmarkWith(t, manifest), namespace)
					})
				}
				continue
			}
			count++
			t.Run(fmt.Sprintf("%s-%d", filepath.Base(page), i), func(t *testing.T) {
				object := parse(t, manifest, `{}`)
				object.SetAPIVersion("assay.dev/v1alpha1")
				object.SetKind("BenchmarkRun")
				object.SetName("a")
				object.SetNamespace(namespace)
				if err := dryCreate(t.Context(), object, namespace); err != nil {
					t.Errorf("%v:\n%s", err, manifest)
				}
			})
		}
	}
	if count < 10 {
		t.Errorf("found %d manifests", count)
	}
}

// benchmarkWith returns a Benchmark with fields of a spec.
func benchmarkWith(t *testing.T, fields string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, benchmark, `{metadata: {name: a, generateName: null}, spec: {axes: null, exclude: null, repetitions: null, claims: null, comparison: null, capacity: null, schedule: null}}`)
	base, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(base), "spec:\n  "+strings.ReplaceAll(fields, "\n", "\n  "))
}

// completed adds a load to a spec without one, and an image to a target that needs it.
func completed(t *testing.T, manifest string) string {
	t.Helper()
	var document struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(manifest), &document); err != nil {
		t.Fatalf("%v:\n%s", err, manifest)
	}
	spec := document.Spec
	if spec["load"] == nil && spec["script"] == nil {
		spec["load"] = map[string]any{"requests": []any{map[string]any{"path": "/"}}, "closed": map[string]any{"connections": 1, "requestCount": 1}}
	}
	if spec["target"] == nil {
		spec["target"] = map[string]any{"image": "a", "server": map[string]any{"generic": map[string]any{}}, "readiness": map[string]any{"path": "/"}}
	}
	completed, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(completed)
}
