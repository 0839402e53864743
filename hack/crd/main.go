// Command crd finishes what controller-gen writes: from the CustomResourceDefinition of Benchmark it removes the
// descriptions below the template, which repeat those of BenchmarkRun, and from that of BenchmarkRun those below fields of
// clients and of backends that repeat the target's, because objects are limited to what kubectl apply keeps in an
// annotation; from that of BenchmarkRun it makes the schema of the plans of assay-load, before.
package main

import (
	"bytes"
	"fmt"
	"os"

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

// read returns a CustomResourceDefinition.
func read(file string) (crd map[string]any, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return crd, yaml.Unmarshal(text, &crd)
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
