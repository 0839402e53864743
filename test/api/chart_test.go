package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestChartAnnotations checks what Artifact Hub shows of the chart: its kinds, examples that the API server accepts, and
// the images that it installs.
func TestChartAnnotations(t *testing.T) {
	unmarshal := func(text []byte, into any) {
		t.Helper()
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) []byte {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var chart struct {
		AppVersion  string
		Annotations map[string]string
	}
	unmarshal(read("../../charts/assay/Chart.yaml"), &chart)
	annotation := func(name string) []byte { return []byte(chart.Annotations["artifacthub.io/"+name]) }

	var values struct {
		Image struct{ Assay, Load, K6 struct{ Repository string } }
	}
	unmarshal(read("../../charts/assay/values.yaml"), &values)
	var images []struct{ Name, Image string }
	unmarshal(annotation("images"), &images)
	want := []struct{ Name, Image string }{
		{"assay", values.Image.Assay.Repository + ":" + chart.AppVersion}, {"assay-load", values.Image.Load.Repository + ":" + chart.AppVersion},
		{"assay-k6", values.Image.K6.Repository + ":" + chart.AppVersion},
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Error(diff)
	}

	var kinds []struct{ Kind, Version, Name string }
	unmarshal(annotation("crds"), &kinds)
	shown := map[string]string{}
	for _, k := range kinds {
		shown[k.Kind+"/"+k.Version] = k.Name
	}
	installed := map[string]string{}
	definitions, err := filepath.Glob(crdFolder + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range definitions {
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct {
				Names    struct{ Kind string }
				Versions []struct{ Name string }
			}
		}
		unmarshal(read(file), &crd)
		installed[crd.Spec.Names.Kind+"/"+crd.Spec.Versions[0].Name] = crd.Metadata.Name
	}
	if diff := cmp.Diff(installed, shown); diff != "" {
		t.Error(diff)
	}

	namespace := newNamespace(t)
	var examples []map[string]any
	unmarshal(annotation("crdsExamples"), &examples)
	if len(examples) != len(installed) {
		t.Errorf("%d examples of %d kinds", len(examples), len(installed))
	}
	for _, example := range examples {
		object := &unstructured.Unstructured{Object: example}
		if object.GetKind() == "Benchmark" {
			acceptCells(t, object, namespace)
		} else if err := dryCreate(t.Context(), object, namespace); err != nil {
			t.Errorf("%s: %v", object.GetName(), err)
		}
	}
}
