package inputs

import (
	"fmt"
	"maps"
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

// readScript returns the files of the run's script. It says what is missing if all ConfigMaps exist
// but none has the file that is executed.
func readScript(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) (files []manifest.ScriptFile, missing string) {
	if run.Spec.Script == nil {
		return nil, ""
	}
	complete := true
	for _, source := range scriptSources(run) {
		config := configs[source.configMap]
		if config == nil {
			complete = false
			continue
		}
		values := texts(config)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			files = append(files, manifest.ScriptFile{
				Key: "script-" + strconv.Itoa(len(files)), Path: path.Join(source.directory, key), Text: values[key],
			})
		}
	}
	file := run.Spec.Script.File
	if complete && !slices.ContainsFunc(files, func(f manifest.ScriptFile) bool { return f.Path == file }) {
		missing = fmt.Sprintf("spec.script.file: %s not found in ConfigMap %s or in spec.script.directories",
			file, run.Spec.Script.ConfigMapName)
	}
	return files, missing
}

// checkScript returns an error if two files of a script need the same path.
func checkScript(files []manifest.ScriptFile) error {
	for _, f := range files {
		for _, other := range files {
			if strings.HasPrefix(other.Path, f.Path+"/") {
				return fmt.Errorf("spec.script.directories: %s must not be both a file and a directory: rename one of them", f.Path)
			}
			if other.Path == f.Path && other.Key != f.Key {
				return fmt.Errorf("spec.script.directories: %s must not be in two of the ConfigMaps: rename one of them", f.Path)
			}
		}
	}
	return nil
}

func texts(config *corev1.ConfigMap) map[string]string {
	all := map[string]string{}
	maps.Copy(all, config.Data)
	for key, text := range config.BinaryData {
		all[key] = string(text)
	}
	return all
}
