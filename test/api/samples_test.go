package api

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// sampleDirectory holds the runs that users start from, reportDirectory the published reports as
// resources, and pageFile is the page that some of them have in a ConfigMap.
const (
	sampleDirectory = "../../config/samples"
	reportDirectory = "../../config/reports"
	pageFile        = "../../test/servers/dynamic/page.jsp"
)

// filesOf returns the paths of a pattern's YAML files.
func filesOf(t *testing.T, pattern ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d files match %q: %v", len(paths), pattern, err)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == "kustomization.yaml" })
}

// sampleFiles returns the paths of the samples without those of Benchmarks.
func sampleFiles(t *testing.T) []string { return filesOf(t, sampleDirectory, "*.yaml") }

// reportFiles returns the paths of the reports' resources.
func reportFiles(t *testing.T) []string { return filesOf(t, reportDirectory, "*", "*", "*.yaml") }

var documentSeparator = regexp.MustCompile(`(?m)^---$`)

// sampleObjects returns the objects in a file.
func sampleObjects(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, document := range documentSeparator.Split(string(text), -1) {
		objects = append(objects, parse(t, document, `{}`))
	}
	return objects
}

func TestSamplesAreTaken(t *testing.T) {
	namespace := newNamespace(t)
	for _, name := range slices.Concat(sampleFiles(t), reportFiles(t)) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			for _, object := range sampleObjects(t, name) {
				if object.GetNamespace() != "" {
					t.Errorf("%s names a namespace: kubectl's own wouldn't be used", object.GetName())
				}
				if err := dryCreate(t.Context(), object, namespace); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSamplesDontContradict: what stands in two samples under one name is the
// same, so that applying the second changes nothing; kubectl would take away a
// label that only one of them has, and the API server refuses another spec.
func TestSamplesDontContradict(t *testing.T) {
	known := map[string]*unstructured.Unstructured{}
	files := map[string]string{}
	for _, name := range slices.Concat(sampleFiles(t), reportFiles(t)) {
		for _, object := range sampleObjects(t, name) {
			key := object.GetKind() + " " + object.GetName()
			if before := known[key]; before != nil {
				if diff := cmp.Diff(before.Object, object.Object); diff != "" {
					t.Errorf("%s differs between %s and %s:\n%s", key, files[key], name, diff)
				}
			}
			known[key], files[key] = object, name
		}
	}
}

// TestSamplesAreListed: the kustomization has every object once, which is all
// that kustomize takes.
func TestSamplesAreListed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sampleDirectory, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, name := range kustomization.Resources {
		for _, object := range sampleObjects(t, filepath.Join(sampleDirectory, name)) {
			key := object.GetKind() + " " + object.GetName()
			if other := listed[key]; other != "" {
				t.Errorf("%s is in both %s and %s", key, other, name)
			}
			listed[key] = name
		}
	}
	for _, name := range sampleFiles(t) {
		if slices.Contains(kustomization.Resources, filepath.Base(name)) {
			continue
		}
		for _, object := range sampleObjects(t, name) {
			if key := object.GetKind() + " " + object.GetName(); listed[key] == "" {
				t.Errorf("%s of %s is in no file that is listed", key, name)
			}
		}
	}
}

// TestSamplePagesAreTheTestsOwn: what samples have in ConfigMaps is what the
// servers' tests have as files.
func TestSamplePagesAreTheTestsOwn(t *testing.T) {
	want, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, name := range slices.Concat(sampleFiles(t), reportFiles(t)) {
		for _, object := range sampleObjects(t, name) {
			page, has, err := unstructured.NestedString(object.Object, "data", "page.jsp")
			if err != nil || !has {
				continue
			}
			pages++
			if diff := cmp.Diff(string(want), page); diff != "" {
				t.Errorf("%s: -file +sample:\n%s", name, diff)
			}
		}
	}
	if pages == 0 {
		t.Error("no sample has the page: is it still needed?")
	}
}
