package run

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

// scriptDirectories returns the names of the ConfigMaps of a run's script, by the directories that
// they become.
func scriptDirectories(run *v1alpha1.BenchmarkRun) map[string]string {
	s := run.Spec.Script
	if s == nil {
		return nil
	}
	directories := map[string]string{"": s.ConfigMapName}
	for _, directory := range s.Directories {
		directories[directory.Path] = directory.ConfigMapName
	}
	return directories
}

// scriptField returns the field of the script that names a ConfigMap, as the beginning of a
// message, or "" if none does.
func scriptField(run *v1alpha1.BenchmarkRun, configMap string) string {
	s := run.Spec.Script
	if s == nil {
		return ""
	}
	if s.ConfigMapName == configMap {
		return "spec.script.configMapName: "
	}
	for i, directory := range s.Directories {
		if directory.ConfigMapName == configMap {
			return fmt.Sprintf("spec.script.directories[%d].configMapName: ", i)
		}
	}
	return ""
}

// readScript returns the files of the run's script. It says what is missing if all ConfigMaps exist
// but none has the file that is executed.
func readScript(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) (files []manifest.ScriptFile, missing string) {
	directories := scriptDirectories(run)
	if directories == nil {
		return nil, ""
	}
	complete := true
	for _, directory := range slices.Sorted(maps.Keys(directories)) {
		config := configs[directories[directory]]
		if config == nil {
			complete = false
			continue
		}
		values := texts(config)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			files = append(files, manifest.ScriptFile{
				Key: "script-" + strconv.Itoa(len(files)), Path: path.Join(directory, key), Text: values[key],
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

// texts returns all values of a ConfigMap.
func texts(config *corev1.ConfigMap) map[string]string {
	all := maps.Clone(config.Data)
	if all == nil {
		all = map[string]string{}
	}
	for key, text := range config.BinaryData {
		all[key] = string(text)
	}
	return all
}
