package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/config/samples"
	"github.com/assay-dev/assay/internal/plugin/initialize"
)

// TestInit checks that the API server accepts what kubectl assay init prints.
func TestInit(t *testing.T) {
	namespace := newNamespace(t)
	for _, sample := range samples.Names() {
		manifest, err := initialize.Manifest(sample, "shop", "registry.example.org/new:1")
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(manifest, "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
				t.Fatalf("%v in:\n%s", err, document)
			}
			if err := dryCreate(t.Context(), object, namespace); err != nil {
				t.Errorf("%s: %v", sample, err)
			}
		}
	}
}
