// Package inputs takes from the user's ConfigMaps what a run copies: files that the target serves, configurations of
// servers, a script and a list of requests.
package inputs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// Timeout is the time that an object that the spec names may be missing: it may be applied
	// together with the run, and after it.
	Timeout = 20 * time.Second
	// Interval is the interval at which a missing ConfigMap is looked for.
	Interval = time.Second
	// maxInputBytes limits what is copied into the run's own ConfigMap, which can hold 1 MiB.
	maxInputBytes = 900_000
)

// Inputs holds what a run is made from besides its spec.
type Inputs struct {
	manifest.Inputs
	// Missing says what doesn't exist, wrong what can't be used.
	Missing []string
	Wrong   error
}

// Names returns the names of the user's ConfigMaps that a run copies, sorted.
func Names(run *v1alpha1.BenchmarkRun) []string {
	var names []string
	for _, file := range run.Spec.Target.Content {
		if file.ConfigMapKeyRef != nil {
			names = append(names, file.ConfigMapKeyRef.Name)
		}
	}
	for _, name := range server.ConfigurationNames(&run.Spec.Target) {
		names = append(names, name)
	}
	for _, source := range scriptSources(run) {
		names = append(names, source.configMap)
	}
	if from := run.Spec.Load.RequestsFrom; from != nil {
		names = append(names, from.ConfigMapKeyRef.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Read takes a run's inputs from the user's ConfigMaps, by name.
func Read(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) *Inputs {
	in := &Inputs{Inputs: manifest.Inputs{Content: map[string][]byte{}, Configurations: server.Configurations{}}}
	for _, name := range Names(run) {
		if configs[name] == nil {
			in.Missing = append(in.Missing, scriptField(run, name)+fmt.Sprintf("ConfigMap %s/%s: not found", run.Namespace, name))
		}
	}
	for _, file := range run.Spec.Target.Content {
		if file.ConfigMapKeyRef == nil {
			continue
		}
		if text, ok := in.valueOf(configs, file.ConfigMapKeyRef); ok {
			in.Content[file.Path] = text
		}
	}
	for container, name := range server.ConfigurationNames(&run.Spec.Target) {
		if config := configs[name]; config != nil {
			in.Configurations[container] = texts(config)
		}
	}
	var missing string
	if in.Script, missing = readScript(run, configs); missing != "" {
		in.Missing = append(in.Missing, missing)
	}
	in.Wrong = cmp.Or(in.readRequests(run, configs), in.checkSize(), checkScript(in.Script))
	return in
}

// valueOf returns the value of a key. It records a key that is missing from an existing ConfigMap.
func (in *Inputs) valueOf(configs map[string]*corev1.ConfigMap, ref *v1alpha1.ConfigMapKeyReference) ([]byte, bool) {
	config := configs[ref.Name]
	if config == nil {
		return nil, false
	}
	text, ok := texts(config)[ref.Key]
	if !ok {
		in.Missing = append(in.Missing, fmt.Sprintf("key %s of ConfigMap %s: not found", ref.Key, ref.Name))
	}
	return []byte(text), ok
}

func (in *Inputs) readRequests(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) error {
	from := run.Spec.Load.RequestsFrom
	if from == nil {
		return nil
	}
	ref := &from.ConfigMapKeyRef
	text, ok := in.valueOf(configs, ref)
	if !ok {
		return nil
	}
	entries, err := requestlist.Parse(string(text))
	if err == nil {
		in.Requests, err = requestlist.Encode(entries)
	}
	if err != nil {
		return fmt.Errorf("spec.load.requestsFrom: ConfigMap %s, key %s: %w", ref.Name, ref.Key, err)
	}
	return nil
}

func (in *Inputs) checkSize() error {
	size, script := len(in.Requests), 0
	for _, text := range in.Content {
		size += len(text)
	}
	for _, files := range in.Configurations {
		for _, text := range files {
			size += len(text)
		}
	}
	for _, f := range in.Script {
		size += len(f.Text)
		script += len(f.Text)
	}
	if size > maxInputBytes && script > size/2 {
		return fmt.Errorf("spec.script: the script's ConfigMaps have %d bytes, %d together with those of spec.target, but must not have more than %d: "+
			"generate the data in the script, or fetch it in setup()", script, size, maxInputBytes)
	}
	if size > maxInputBytes {
		return fmt.Errorf("spec.target: content and configuration from ConfigMaps and the list of requests have %d bytes, but must not have more than %d: "+
			"generate large files with content.sizeBytes, or mount a volume with target.pod.volumes", size, maxInputBytes)
	}
	return nil
}
