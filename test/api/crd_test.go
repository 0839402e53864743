package api

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// pages are those that users copy runs from.
var pages = []string{"../../README.md", "../../docs/*.md", "../../docs/*/*.md"}

// TestRunsOfPagesAreTaken: every whole run that a page shows.
func TestRunsOfPagesAreTaken(t *testing.T) {
	namespace := newNamespace(t)
	block := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	found := 0
	for _, pattern := range pages {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range block.FindAllStringSubmatch(string(text), -1) {
				for document := range strings.SplitSeq(match[1], "\n---\n") {
					if !strings.Contains(document, "kind: BenchmarkRun\n") {
						continue
					}
					found++
					if err := dryCreate(t.Context(), parse(t, document, `{}`), namespace); err != nil {
						t.Errorf("%s: %v\n%s", file, err, document)
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page shows a run")
	}
}

// TestCRDsFitClientSideApply: kubectl apply without --server-side keeps the
// whole object in an annotation, and annotations have at most 256 KiB. A fifth of that is left for more fields.
func TestCRDsFitClientSideApply(t *testing.T) {
	const limit = 256 << 10
	files, err := filepath.Glob(filepath.Join(crdFolder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in %s: %v", crdFolder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > limit*4/5 {
			t.Errorf("%s has %d bytes as JSON: more than %d: see hack/crd", file, len(data), limit*4/5)
		}
	}
}

// TestMarkersAreShort: a rule that needs a longer line is about more than one field, or belongs to a
// narrower type. A list of values can't be split.
func TestMarkersAreShort(t *testing.T) {
	const limit = 300
	files, err := filepath.Glob("../../api/v1alpha1/*_types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no types: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "// +") && len(line) > limit && !strings.Contains(line, ":Enum=") {
				t.Errorf("%s:%d has %d characters, more than %d: split the rule", file, i+1, len(line), limit)
			}
		}
	}
}

// TestNoDefaultInListItems: a default that the API server writes into the items of a list makes every later
// apply of the same manifest a change. Code has these defaults.
func TestNoDefaultInListItems(t *testing.T) {
	for _, kind := range []string{"benchmarkruns", "benchmarks"} {
		crdSchema(t, kind).visit("", func(path string, field schema) {
			if field["default"] != nil && strings.Contains(path, "[]") {
				t.Errorf("%s%s has the default %v", kind, path, field["default"])
			}
		})
	}
}

// TestTemplateHasNoDescriptions: those of the run are the same, and would fill the Benchmark's CRD.
func TestTemplateHasNoDescriptions(t *testing.T) {
	template := crdSchema(t, "benchmarks").of("properties").of("spec").of("properties").of("template").of("properties").of("spec")
	if text, _ := template["description"].(string); !strings.Contains(text, "kubectl explain benchmarkrun.spec") {
		t.Errorf("the template's description doesn't say where those of its fields are: %q", text)
	}
	template.visit("", func(path string, field schema) {
		if path != "" && field["description"] != nil {
			t.Errorf("%s has a description", path)
		}
	})
}
