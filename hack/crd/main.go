// Command crd removes the descriptions below the template of the Benchmark's CustomResourceDefinition, which
// repeat those of BenchmarkRun: objects are limited to what kubectl apply keeps in an annotation.
package main

import (
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crd:", err)
		os.Exit(1)
	}
}

// run rewrites the file, with the header that controller-gen writes.
func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	versions, _ := at(crd, "spec")["versions"].([]any)
	for _, version := range versions {
		version, _ := version.(map[string]any)
		template := at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "template", "properties", "spec")
		if template == nil {
			return fmt.Errorf("%s has no spec.template.spec", file)
		}
		undescribe(template["properties"])
	}
	text, err = yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), bytes.TrimLeft(text, "\n")...), 0o644)
}

// at returns the object at a path, or nil.
func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// undescribe removes the descriptions of fields, by their names, and of all below them.
func undescribe(fields any) {
	all, _ := fields.(map[string]any)
	for _, field := range all {
		inSchema(field)
	}
}

func inSchema(schema any) {
	s, _ := schema.(map[string]any)
	if s == nil {
		return
	}
	delete(s, "description")
	undescribe(s["properties"])
	inSchema(s["items"])
	inSchema(s["additionalProperties"])
}
