package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/assay-dev/assay/api/v1alpha1"
	rounds "github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/server"
)

// TestBenchmarkSamplesAreAccepted creates each sample of a Benchmark and each run of its cells, as a dry run, and
// checks what the sample's comment says.
func TestBenchmarkSamplesAreAccepted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sampleDirectory, "benchmarks", "*.yaml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d samples of Benchmarks: %v", len(paths), err)
	}
	page, err := os.ReadFile("../../docs/samples.md")
	if err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if !strings.Contains(string(page), "`"+filepath.Base(path)+"`") {
				t.Error("docs/samples.md doesn't list it")
			}
			benchmarks := 0
			for _, object := range sampleObjects(t, filepath.Join("benchmarks", filepath.Base(path))) {
				if object.GetNamespace() != "" {
					t.Errorf("%s names a namespace: kubectl's own wouldn't be used", object.GetName())
				}
				if object.GetKind() != "Benchmark" {
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

// acceptCells creates a Benchmark, each run of its cells and the first trial of each, as a dry run. It returns the
// Benchmark with its defaults.
func acceptCells(t *testing.T, object *unstructured.Unstructured, namespace string) *v1alpha1.Benchmark {
	t.Helper()
	if err := dryCreate(t.Context(), object, namespace); err != nil { // which sets the defaults
		t.Fatal(err)
	}
	b := &v1alpha1.Benchmark{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, b); err != nil {
		t.Fatal(err)
	}
	cells, err := rounds.Cells(&b.Spec)
	if err == nil {
		err = rounds.CheckRepetitions(&b.Spec, cells)
	}
	if err == nil && b.Spec.Schedule != nil {
		_, err = rounds.ParseSchedule(b.Spec.Schedule)
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
func acceptRun(t *testing.T, b *v1alpha1.Benchmark, key rounds.RunKey, cell *rounds.Cell, spec []byte) {
	t.Helper()
	run, err := rounds.NewRun(b, key, cell, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := dryCreate(t.Context(), run, b.Namespace); err != nil {
		t.Errorf("cell %s: %v", cell.Name, err)
		return
	}
	typed := &v1alpha1.BenchmarkRun{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(run.Object, typed); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Render(&typed.Spec.Target, nil); err != nil {
		t.Errorf("cell %s can't be started: %v", cell.Name, err)
	}
}
