package benchmarkrun

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

// scriptFolders are the ConfigMaps of a run's script, by the folders that they
// become.
func scriptFolders(run *v1alpha1.BenchmarkRun) map[string]string {
	s := run.Spec.Load.Script
	if s == nil {
		return nil
	}
	folders := map[string]string{"": s.ConfigMapName}
	for _, folder := range s.Folders {
		folders[folder.Path] = folder.ConfigMapName
	}
	return folders
}

// scriptField names the field of the script that names a ConfigMap, for the
// beginning of a message; empty when none does.
func scriptField(run *v1alpha1.BenchmarkRun, configMap string) string {
	s := run.Spec.Load.Script
	if s == nil {
		return ""
	}
	if s.ConfigMapName == configMap {
		return "spec.load.script.configMapName: "
	}
	for i, folder := range s.Folders {
		if folder.ConfigMapName == configMap {
			return fmt.Sprintf("spec.load.script.folders[%d].configMapName: ", i)
		}
	}
	return ""
}

// takeScript takes the files of the run's script from the ConfigMaps that were
// read.
func (in *inputs) takeScript(run *v1alpha1.BenchmarkRun, read map[string]*corev1.ConfigMap) {
	folders := scriptFolders(run)
	if folders == nil {
		return
	}
	complete := true
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		config := read[folders[folder]]
		if config == nil {
			complete = false
			continue
		}
		files := texts(config)
		for _, key := range slices.Sorted(maps.Keys(files)) {
			in.Script = append(in.Script, manifest.ScriptFile{
				Key: "script-" + strconv.Itoa(len(in.Script)), Path: path.Join(folder, key), Text: files[key],
			})
		}
	}
	file := run.Spec.Load.Script.File
	if complete && !slices.ContainsFunc(in.Script, func(f manifest.ScriptFile) bool { return f.Path == file }) {
		in.missing = append(in.missing, fmt.Sprintf("spec.load.script.file: there is no %s in ConfigMap %s, nor in one of spec.load.script.folders",
			file, run.Spec.Load.Script.ConfigMapName))
	}
}

// checkScript says that the files of a script can't lie beside each other.
func (in *inputs) checkScript() error {
	for _, f := range in.Script {
		for _, other := range in.Script {
			if strings.HasPrefix(other.Path, f.Path+"/") {
				return fmt.Errorf("spec.load.script.folders: %s is a file, and a folder too: rename one of them", f.Path)
			}
			if other.Path == f.Path && other.Key != f.Key {
				return fmt.Errorf("spec.load.script.folders: %s is in two of the ConfigMaps: rename one of them", f.Path)
			}
		}
	}
	return nil
}

// scriptFiles are the files of a run's script, as its ConfigMap has them or will
// have them.
func scriptFiles(o *observed) ([]manifest.ScriptFile, error) {
	if o.config == nil {
		return o.inputs.Script, nil
	}
	return manifest.ReadScript(o.config)
}
