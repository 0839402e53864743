// Package inputs takes from the user's ConfigMaps what a run copies: files that the target serves, configurations of
// servers, a script and a list of requests.
package inputs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// MaxBytes limits what is copied into the run's own ConfigMap, which can hold 1 MiB.
	MaxBytes = 900_000
	// MaxReadBytes limits what has to be read to know whether it is too much: a list of requests is copied in fewer bytes.
	MaxReadBytes = MaxBytes + requestlist.MaxBytes
	// maxFiles limits the files that are copied. Each is an item of a volume, or mounted by itself.
	maxFiles = 1000
)

// Inputs holds what a run is made from besides its spec.
type Inputs struct {
	manifest.Inputs
	// Missing says what doesn't exist, Wrong what can't be used.
	Missing []string
	Wrong   error
	// files and bytes count what there is to copy, script those of its bytes that are the script's.
	files, bytes, script int
}

// Names returns the names of the user's ConfigMaps that a run copies, sorted.
func Names(run *v1alpha1.BenchmarkRun) []string {
	var names []string
	for _, ref := range references(run) {
		names = append(names, ref.Name)
	}
	names = slices.AppendSeq(names, maps.Values(server.ConfigurationNames(&run.Spec.Target)))
	for _, source := range scriptSources(run) {
		names = append(names, source.configMap)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Needed returns a ConfigMap with those of its values alone that a run copies, and their size in bytes.
func Needed(run *v1alpha1.BenchmarkRun, config *corev1.ConfigMap) (needed *corev1.ConfigMap, size int) {
	needed = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name}}
	if copiesAll(run, config.Name) {
		needed.Data, needed.BinaryData = config.Data, config.BinaryData
	} else {
		needed.Data, needed.BinaryData = map[string]string{}, map[string][]byte{}
		for _, ref := range references(run) {
			if text, ok := config.Data[ref.Key]; ok && ref.Name == config.Name {
				needed.Data[ref.Key] = text
			} else if text, ok := config.BinaryData[ref.Key]; ok && ref.Name == config.Name {
				needed.BinaryData[ref.Key] = text
			}
		}
	}
	for _, text := range needed.Data {
		size += len(text)
	}
	for _, text := range needed.BinaryData {
		size += len(text)
	}
	return needed, size
}

// references returns the keys of ConfigMaps that a run copies.
func references(run *v1alpha1.BenchmarkRun) []*v1alpha1.ConfigMapKeyReference {
	var all []*v1alpha1.ConfigMapKeyReference
	for i := range run.Spec.Target.Content {
		if ref := run.Spec.Target.Content[i].ConfigMapKeyRef; ref != nil {
			all = append(all, ref)
		}
	}
	if from := run.Spec.Load.RequestsFrom; from != nil {
		all = append(all, &from.ConfigMapKeyRef)
	}
	return all
}

// copiesAll reports whether a run copies each key of a ConfigMap.
func copiesAll(run *v1alpha1.BenchmarkRun, name string) bool {
	full := slices.Collect(maps.Values(server.ConfigurationNames(&run.Spec.Target)))
	return slices.Contains(full, name) || scriptField(run, name) != ""
}

// Read takes a run's inputs from the user's ConfigMaps, by name. Its time and memory are bounded by the size of these and
// of the spec: past MaxBytes and maxFiles it keeps nothing more.
func Read(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) *Inputs {
	in := &Inputs{Inputs: manifest.Inputs{Content: map[string][]byte{}, Configurations: server.Configurations{}}}
	for _, name := range Names(run) {
		if configs[name] == nil {
			in.Missing = append(in.Missing, scriptField(run, name)+fmt.Sprintf("ConfigMap %s/%s: not found", run.Namespace, name))
		}
	}
	for i := range run.Spec.Target.Content {
		file := &run.Spec.Target.Content[i]
		if size, ok := in.sizeOf(configs, file.ConfigMapKeyRef); ok && in.fits(size) {
			in.Content[file.Path] = []byte(value(configs[file.ConfigMapKeyRef.Name], file.ConfigMapKeyRef.Key))
		}
	}
	for container, name := range server.ConfigurationNames(&run.Spec.Target) {
		if config := configs[name]; config != nil {
			files := map[string]string{}
			for _, key := range in.keys(config) {
				if size, _ := sizeIn(config, key); in.fits(size) {
					files[key] = value(config, key)
				}
			}
			in.Configurations[container] = files
		}
	}
	in.readScript(run, configs)
	in.Wrong = cmp.Or(in.readRequests(run, configs), in.checkSize(), checkScript(in.Script))
	return in
}

// fits counts a file, and reports whether it is to be kept.
func (in *Inputs) fits(size int) bool {
	in.files++
	in.bytes += size
	return in.files <= maxFiles && in.bytes <= MaxBytes
}

// keys returns the keys of a ConfigMap, sorted. Those of one with too many count, but are not returned.
func (in *Inputs) keys(config *corev1.ConfigMap) []string {
	if n := len(config.Data) + len(config.BinaryData); in.files+n > maxFiles {
		in.files += n
		return nil
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(config.Data)), maps.Keys(config.BinaryData))
	slices.Sort(keys)
	return keys
}

// value returns a copy of the value of a key that exists.
func value(config *corev1.ConfigMap, key string) string {
	if text, ok := config.Data[key]; ok {
		return text
	}
	return string(config.BinaryData[key])
}

// sizeIn returns the size of the value of a key, or false if there is none.
func sizeIn(config *corev1.ConfigMap, key string) (int, bool) {
	text, ok := config.Data[key]
	data, binary := config.BinaryData[key]
	return len(text) + len(data), ok || binary
}

// sizeOf returns the size of the value of a key. It records a key that is missing from an existing ConfigMap.
func (in *Inputs) sizeOf(configs map[string]*corev1.ConfigMap, ref *v1alpha1.ConfigMapKeyReference) (int, bool) {
	if ref == nil || configs[ref.Name] == nil {
		return 0, false
	}
	size, ok := sizeIn(configs[ref.Name], ref.Key)
	if !ok {
		in.Missing = append(in.Missing, fmt.Sprintf("key %s of ConfigMap %s: not found", ref.Key, ref.Name))
	}
	return size, ok
}

func (in *Inputs) readRequests(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) error {
	from := run.Spec.Load.RequestsFrom
	if from == nil {
		return nil
	}
	ref := &from.ConfigMapKeyRef
	if _, ok := in.sizeOf(configs, ref); !ok {
		return nil
	}
	entries, err := requestlist.Parse(value(configs[ref.Name], ref.Key))
	if err == nil {
		in.Requests, err = requestlist.Encode(entries)
	}
	if err != nil {
		return fmt.Errorf("spec.load.requestsFrom: ConfigMap %s, key %s: %w", ref.Name, ref.Key, err)
	}
	in.fits(len(in.Requests))
	return nil
}

func (in *Inputs) checkSize() error {
	switch {
	case in.files > maxFiles:
		return fmt.Errorf("spec: the ConfigMaps have %d files, but a run must not copy more than %d: leave out what it doesn't need", in.files, maxFiles)
	case in.bytes > MaxBytes && in.script > in.bytes/2:
		return fmt.Errorf("spec.script: the script's ConfigMaps have %d bytes, %d together with those of spec.target, but must not have more than %d: "+
			"generate the data in the script, or fetch it in setup()", in.script, in.bytes, MaxBytes)
	case in.bytes > MaxBytes:
		return fmt.Errorf("spec.target: content and configuration from ConfigMaps and the list of requests have %d bytes, but must not have more than %d: "+
			"generate large files with content.sizeBytes, or mount a volume with target.volumes", in.bytes, MaxBytes)
	}
	return nil
}
