package inputs

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// scriptSource is a ConfigMap with files of a run's script, and the directory that it becomes.
type scriptSource struct{ field, directory, configMap string }

// scriptSources returns the sources of a run's script in the order of their directories.
func scriptSources(run *v1alpha1.BenchmarkRun) []scriptSource {
	s := run.Spec.Script
	if s == nil {
		return nil
	}
	sources := []scriptSource{{field: "spec.script.configMapName", configMap: s.ConfigMapName}}
	for i, d := range s.Directories {
		sources = append(sources, scriptSource{fmt.Sprintf("spec.script.directories[%d].configMapName", i), d.Path, d.ConfigMapName})
	}
	slices.SortStableFunc(sources, func(a, b scriptSource) int { return strings.Compare(a.directory, b.directory) })
	return sources
}

// scriptField returns the field that names a ConfigMap of the script, to begin a message, or "".
func scriptField(run *v1alpha1.BenchmarkRun, configMap string) string {
	for _, source := range scriptSources(run) {
		if source.configMap == configMap {
			return source.field + ": "
		}
	}
	return ""
}

// readScript takes the files of the run's script. The file that is executed is missing if all ConfigMaps exist but none has
// it.
func (in *Inputs) readScript(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) {
	if run.Spec.Script == nil {
		return
	}
	complete, before := true, in.bytes
	for _, source := range scriptSources(run) {
		config := configs[source.configMap]
		if config == nil {
			complete = false
			continue
		}
		for _, key := range in.keys(config) {
			if size, _ := sizeIn(config, key); in.fits(size) {
				in.Script = append(in.Script, manifest.ScriptFile{
					Key: "script-" + strconv.Itoa(len(in.Script)), Path: path.Join(source.directory, key), Text: value(config, key),
				})
			}
		}
	}
	in.script = in.bytes - before
	file := run.Spec.Script.File
	if complete && !slices.ContainsFunc(in.Script, func(f manifest.ScriptFile) bool { return f.Path == file }) {
		in.Missing = append(in.Missing, fmt.Sprintf("spec.script.file: %s not found in ConfigMap %s or in spec.script.directories",
			file, run.Spec.Script.ConfigMapName))
	}
}

// checkScript returns an error if two files of a script need the same path.
func checkScript(files []manifest.ScriptFile) error {
	paths := make(map[string]bool, len(files))
	for _, f := range files {
		if paths[f.Path] {
			return fmt.Errorf("spec.script.directories: %s must not be in two of the ConfigMaps: rename one of them", f.Path)
		}
		paths[f.Path] = true
	}
	for _, f := range files {
		for at := range f.Path {
			if f.Path[at] == '/' && paths[f.Path[:at]] {
				return fmt.Errorf("spec.script.directories: %s must not be both a file and a directory: rename one of them", f.Path[:at])
			}
		}
	}
	return nil
}
