package api

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// yamlBlock matches a block of YAML on a page.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestManifestsOfDocsAreAccepted creates, as a dry run, every whole manifest on a page,
// and every spec, which gets what it lacks from a small run.
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
		spec["load"] = map[string]any{"requests": []any{map[string]any{"path": "/"}}, "closed": map[string]any{"connections": 1, "requests": 1}}
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
