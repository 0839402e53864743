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
)

// TestBenchmarkSamplesAreAccepted creates each sample of a Benchmark and each run of its cells, as a dry run.
func TestBenchmarkSamplesAreAccepted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sampleDirectory, "benchmarks", "*.yaml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d samples of Benchmarks: %v", len(paths), err)
	}
	namespace := newNamespace(t)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			object := parse(t, string(text), `{}`)
			if name := strings.TrimSuffix(filepath.Base(path), ".yaml"); object.GetName() != name || object.GetNamespace() != "" {
				t.Errorf("%s/%s, want the file's name and no namespace", object.GetNamespace(), object.GetName())
			}
			acceptCells(t, object, namespace)
		})
	}
}

// acceptCells creates a Benchmark, each run of its cells and the first trial of each, as a dry run.
func acceptCells(t *testing.T, object *unstructured.Unstructured, namespace string) {
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
}

func acceptRun(t *testing.T, b *v1alpha1.Benchmark, key rounds.RunKey, cell *rounds.Cell, spec []byte) {
	t.Helper()
	run, err := rounds.NewRun(b, key, cell, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := dryCreate(t.Context(), run, b.Namespace); err != nil {
		t.Errorf("cell %s: %v", cell.Name, err)
	}
}
