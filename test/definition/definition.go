// Package definition reads the CustomResourceDefinitions for tests.
package definition

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// Schema returns the schema of a definition's only version, in a type of the caller's that has what it needs of schemas. file is a
// path like ../../config/crd/bases/assay.dev_benchmarkruns.yaml.
func Schema[T any](t testing.TB, file string) T {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema T `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}
