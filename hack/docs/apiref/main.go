// Command apiref writes docs/api.md, the reference of all fields of the kinds, from their CustomResourceDefinitions, which
// are generated from the Go types. It shows what the API server knows of a field: its type, default, bounds and rules.
package main

import (
	"errors"
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apiref:", err)
		os.Exit(1)
	}
}

// run writes the reference of the kinds of some definitions to a file. A kind that contains another one's fields follows it,
// so that it refers to it.
func run(args []string) error {
	if len(args) < 2 {
		return errors.New("arguments are missing: OUTPUT DEFINITION")
	}
	var kinds []kind
	for _, file := range args[1:] {
		k, err := read(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		kinds = append(kinds, k)
	}
	return os.WriteFile(args[0], []byte(reference(kinds)), 0o644)
}

// kind is a kind with the schema of its stored version.
type kind struct {
	name, group, version string
	scope                apiextensionsv1.ResourceScope
	shortNames           []string
	schema               apiextensionsv1.JSONSchemaProps
}

func read(file string) (kind, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return kind{}, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		return kind{}, err
	}
	for _, version := range crd.Spec.Versions {
		if version.Storage && version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			return kind{
				name: crd.Spec.Names.Kind, group: crd.Spec.Group, version: version.Name,
				scope: crd.Spec.Scope, shortNames: crd.Spec.Names.ShortNames, schema: *version.Schema.OpenAPIV3Schema,
			}, nil
		}
	}
	return kind{}, fmt.Errorf("no stored version with a schema")
}
