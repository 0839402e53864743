// Package samples holds the samples of BenchmarkRuns and Benchmarks in docs/samples.md.
package samples

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.yaml benchmarks/*.yaml
var files embed.FS

// Names returns the names of all samples in alphabetical order, those of Benchmarks last: "open", "benchmarks/connectors".
func Names() []string {
	var runs, benchmarks []string
	_ = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, _ error) error { // the files are embedded: it can't fail
		name, is := strings.CutSuffix(file, ".yaml")
		switch {
		case entry.IsDir() || !is || path.Base(name) == "kustomization":
		case strings.Contains(name, "/"):
			benchmarks = append(benchmarks, name)
		default:
			runs = append(runs, name)
		}
		return nil
	})
	return append(runs, benchmarks...)
}

// Read returns a sample as YAML, or false if there is none of that name.
func Read(name string) (string, bool) {
	text, err := fs.ReadFile(files, name+".yaml")
	return string(text), err == nil
}
