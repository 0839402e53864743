// Command crd finishes what controller-gen writes. Objects are limited to what kubectl apply keeps in an annotation, so it removes
// from both CustomResourceDefinitions what docs/api.md has: all but the essential sentences of descriptions, and those that repeat
// others. From the template of a Benchmark, which may change, it removes the rules that a run must not. From the definition
// of BenchmarkRun it makes the schema of the plans of assay-load.
package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "crd:", err)
		os.Exit(1)
	}
}

// run rewrites both definitions, with the header that controller-gen writes, and writes planSchema.
func run(benchmark, benchmarkRun, planSchema string) error {
	crd, err := read(benchmark)
	if err != nil {
		return err
	}
	for _, version := range versions(crd) {
		template := at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "template", "properties", "spec")
		if template == nil {
			return fmt.Errorf("%s has no spec.template.spec", benchmark)
		}
		undescribe(template["properties"])
		changeable(template)
		compact(at(version, "schema", "openAPIV3Schema"))
	}
	if err := write(benchmark, crd); err != nil {
		return err
	}
	if crd, err = read(benchmarkRun); err != nil {
		return err
	}
	if err := plan(crd, planSchema); err != nil {
		return err
	}
	if crd, err = read(benchmarkRun); err != nil { // plan removes from it
		return err
	}
	for _, version := range versions(crd) {
		spec := at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties")
		target := at(spec, "target", "properties")
		for _, repeating := range []map[string]any{at(spec, "clients", "properties"), at(target, "backends", "items", "properties")} {
			for name, field := range repeating {
				if description := at(repeating, name)["description"]; target[name] != nil && description != nil {
					inSchema(field)
					at(repeating, name)["description"] = description
				}
			}
		}
		compact(at(version, "schema", "openAPIV3Schema"))
	}
	return write(benchmarkRun, crd)
}

func write(file string, crd map[string]any) error {
	text, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), bytes.TrimLeft(text, "\n")...), 0o644)
}

// read returns a CustomResourceDefinition, made brief.
func read(file string) (crd map[string]any, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	for _, version := range versions(crd) {
		brief(at(version, "schema", "openAPIV3Schema"), "")
	}
	return crd, nil
}

// versions returns the versions of a CustomResourceDefinition.
func versions(crd map[string]any) (versions []map[string]any) {
	all, _ := at(crd, "spec")["versions"].([]any)
	for _, version := range all {
		versions = append(versions, version.(map[string]any))
	}
	return versions
}

// at returns the object at a path, or nil.
func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// changeable removes the rules about changes from a schema, and from all in it.
func changeable(schema map[string]any) {
	if rules, _ := schema[rulesKey].([]any); rules != nil {
		schema[rulesKey] = slices.DeleteFunc(rules, func(rule any) bool {
			return strings.Contains(rule.(map[string]any)["rule"].(string), "oldSelf")
		})
	}
	for _, field := range at(schema, "properties") {
		changeable(field.(map[string]any))
	}
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
