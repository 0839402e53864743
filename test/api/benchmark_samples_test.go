package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/assay-dev/assay/api/v1alpha1"
	rounds "github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/schedule"
	"github.com/assay-dev/assay/internal/server"
)

// TestBenchmarkSamplesAreAccepted creates each sample of a Benchmark and each run of its cells, as a dry run, and
// checks what the sample's comment says.
func TestBenchmarkSamplesAreAccepted(t *testing.T) {
	paths := filesOf(t, sampleDirectory, "benchmarks", "*.yaml")
	for _, path := range reportFiles(t) {
		if slices.ContainsFunc(sampleObjects(t, path), isBenchmark) {
			paths = append(paths, path)
		}
	}
	namespace := newNamespace(t)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			checkListed(t, path)
			benchmarks := 0
			for _, object := range sampleObjects(t, path) {
				if object.GetNamespace() != "" {
					t.Errorf("%s names a namespace: kubectl's own wouldn't be used", object.GetName())
				}
				if !isBenchmark(object) {
					if err := dryCreate(t.Context(), object, namespace); err != nil {
						t.Error(err)
					}
					continue
				}
				benchmarks++
				if name := strings.TrimSuffix(filepath.Base(path), ".yaml"); object.GetName() != name {
					t.Errorf("it is named %s, want the file's name", object.GetName())
				}
				checkComment(t, path, acceptCells(t, object, namespace))
			}
			if benchmarks != 1 {
				t.Errorf("%d Benchmarks, want one", benchmarks)
			}
		})
	}
}

func isBenchmark(object *unstructured.Unstructured) bool { return object.GetKind() == "Benchmark" }

// checkListed checks that the page of the samples, or the README of the report, names a file.
func checkListed(t *testing.T, path string) {
	t.Helper()
	page := "../../docs/samples.md"
	if strings.HasPrefix(path, reportDirectory) {
		page = filepath.Join(filepath.Dir(filepath.Dir(path)), "README.md")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "`"+filepath.Base(path)+"`") {
		t.Errorf("%s doesn't list it", page)
	}
}

// TestReportsAreListed checks that the README of each report names its files.
func TestReportsAreListed(t *testing.T) {
	for _, path := range reportFiles(t) {
		checkListed(t, path)
	}
}

// acceptCells creates a Benchmark, each run of its cells and the first trial of each, as a dry run. It returns the
// Benchmark with its defaults.
func acceptCells(t *testing.T, object *unstructured.Unstructured, namespace string) *v1alpha1.Benchmark {
	t.Helper()
	if err := dryCreate(t.Context(), object, namespace); err != nil { // which sets the defaults
		t.Fatal(err)
	}
	b := &v1alpha1.Benchmark{}
	typedOf(t, object.Object, b)
	cells, err := cells.Of(&b.Spec)
	if err == nil {
		err = inference.CheckClaims(&b.Spec, cells)
	}
	if err == nil && b.Spec.Schedule != nil {
		_, err = schedule.Parse(b.Spec.Schedule)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		key := rounds.RunKey{Round: 1, Cell: i}
		spec, err := cells[i].JSON(&b.Spec.Template.Spec)
		if c := b.Spec.Capacity; err == nil && c != nil {
			acceptRun(t, b, key, &cells[i], spec)
			key.Trial = true
			spec, err = cells[i].TrialJSON(&b.Spec.Template.Spec, c, c.From)
		}
		if err != nil {
			t.Fatal(err)
		}
		acceptRun(t, b, key, &cells[i], spec)
	}
	return b
}

// acceptRun creates a run as a dry run, and renders its target.
func acceptRun(t *testing.T, b *v1alpha1.Benchmark, key rounds.RunKey, cell *cells.Cell, spec []byte) {
	t.Helper()
	run, err := objects.NewRun(b, key, cell, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := dryCreate(t.Context(), run, b.Namespace); err != nil {
		t.Errorf("cell %s: %v", cell.Name, err)
		return
	}
	typed := &v1alpha1.BenchmarkRun{}
	typedOf(t, run.Object, typed)
	if _, err := server.Render(&typed.Spec.Target, nil); err != nil {
		t.Errorf("cell %s can't be started: %v", cell.Name, err)
	}
}

// typedOf reads an object as clients do: from its JSON. runtime.DefaultUnstructuredConverter knows no numbers that are text in Go.
func typedOf(t *testing.T, object map[string]any, typed any) {
	t.Helper()
	content, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(content, typed)
	}
	if err != nil {
		t.Fatal(err)
	}
}
