package benchmarkrun

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// inputGrace is how long a ConfigMap that the spec names may be missing: it may
	// have been applied together with the run, and after it.
	inputGrace = 20 * time.Second
	// inputPause is how soon it is looked for again.
	inputPause = time.Second
	// maxInputBytes bounds what is copied of the user's ConfigMaps into the run's
	// own, which holds 1 MiB at most.
	maxInputBytes = 900_000
)

// inputs is what a run takes from the user's ConfigMaps, once, when it starts:
// from then on changes of theirs don't reach it.
type inputs struct {
	manifest.Inputs
	// missing says what isn't there, wrong what is but can't be used.
	missing []string
	wrong   error
}

// observeInputs reads the user's ConfigMaps that the run's target and its script
// are made from, and that its clients' requests are in.
func (r *Reconciler) observeInputs(ctx context.Context, run *v1alpha1.BenchmarkRun) (*inputs, error) {
	in := &inputs{Inputs: manifest.Inputs{Content: map[string][]byte{}, Configurations: server.Configurations{}}}
	read := map[string]*corev1.ConfigMap{}
	for _, name := range inputNames(run) {
		config := &corev1.ConfigMap{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: run.Namespace, Name: name}, config)
		switch {
		case apierrors.IsNotFound(err):
			in.missing = append(in.missing, scriptField(run, name)+fmt.Sprintf("there is no ConfigMap %s in namespace %s", name, run.Namespace))
		case err != nil:
			return nil, fmt.Errorf("get ConfigMap %s: %w", name, err)
		default:
			read[name] = config
		}
	}
	for _, file := range run.Spec.Target.Content {
		ref := file.ConfigMapKeyRef
		if ref == nil || read[ref.Name] == nil {
			continue
		}
		text, ok := valueOf(read[ref.Name], ref.Key)
		if !ok {
			in.missing = append(in.missing, fmt.Sprintf("ConfigMap %s has no key %s", ref.Name, ref.Key))
			continue
		}
		in.Content[file.Path] = text
	}
	for container, name := range server.ConfigurationNames(&run.Spec.Target) {
		if config := read[name]; config != nil {
			in.Configurations[container] = texts(config)
		}
	}
	in.takeScript(run, read)
	return in, in.readRequests(run, read)
}

// inputNames are the names of the user's ConfigMaps that are copied, in order.
func inputNames(run *v1alpha1.BenchmarkRun) []string {
	var names []string
	for _, file := range run.Spec.Target.Content {
		if file.ConfigMapKeyRef != nil {
			names = append(names, file.ConfigMapKeyRef.Name)
		}
	}
	for _, name := range server.ConfigurationNames(&run.Spec.Target) {
		names = append(names, name)
	}
	for _, name := range scriptFolders(run) {
		names = append(names, name)
	}
	if from := run.Spec.Load.RequestsFrom; from != nil {
		names = append(names, from.ConfigMapKeyRef.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// texts is all that a ConfigMap has.
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

func valueOf(config *corev1.ConfigMap, key string) ([]byte, bool) {
	if text, ok := config.Data[key]; ok {
		return []byte(text), true
	}
	text, ok := config.BinaryData[key]
	return text, ok
}

// awaitInputs waits for ConfigMaps of the user's that aren't there yet.
func (p *planner) awaitInputs() {
	by := p.status.AdmissionTime.Add(inputGrace)
	missing := strings.Join(p.observed.inputs.missing, "; ")
	if p.now.After(by) {
		p.fail(failuref(v1alpha1.ReasonConfigurationMissing, "%s: create it, and a new run", missing))
		return
	}
	p.state(v1alpha1.ReasonStarting, "waiting for what the run is made from: "+missing, nil)
	p.requeueAfter = sooner(p.requeueAfter, inputPause)
}

// contentLengths are the lengths of the files that the run's target serves, by
// path, as its ConfigMap has them, or will have them.
func contentLengths(run *v1alpha1.BenchmarkRun, o *observed) (map[string]int64, error) {
	config := o.config
	if config == nil {
		if o.inputs == nil {
			return nil, nil
		}
		var err error
		if config, err = manifest.ConfigMap(run, &server.Rendering{}, &o.inputs.Inputs, nil); err != nil {
			return nil, err
		}
	}
	return manifest.ReadContentLengths(config)
}

// tooLarge says that the user's ConfigMaps don't fit into the run's own.
func (in *inputs) tooLarge() error {
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
		return fmt.Errorf("spec.load.script: the script's ConfigMaps have %d bytes, together with those of spec.target %d, more than the %d that fit: "+
			"have the script make its data, or fetch it in setup()", script, size, maxInputBytes)
	}
	if size > maxInputBytes {
		return fmt.Errorf("spec.target: what content and configuration take from ConfigMaps, and the list of requests, have %d bytes, more than the %d that fit: "+
			"generate large files with content.sizeBytes, or mount a volume by target.pod.volumes", size, maxInputBytes)
	}
	return nil
}
