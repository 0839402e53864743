package benchmarkrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/agent"
	"github.com/assay-dev/assay/internal/target"
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
	// content is the text of files of content, by path.
	content map[string][]byte
	// configurations are the servers' own.
	configurations target.Configurations
	// missing says what isn't there.
	missing []string
}

// observeInputs reads the user's ConfigMaps that the run's target is made from.
func (r *Reconciler) observeInputs(ctx context.Context, run *v1alpha1.BenchmarkRun) (*inputs, error) {
	in := &inputs{content: map[string][]byte{}, configurations: target.Configurations{}}
	read := map[string]*corev1.ConfigMap{}
	get := func(name string) (*corev1.ConfigMap, error) {
		if known, ok := read[name]; ok {
			return known, nil
		}
		config := &corev1.ConfigMap{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: run.Namespace, Name: name}, config)
		if apierrors.IsNotFound(err) {
			config, err = nil, nil
			in.missing = append(in.missing, fmt.Sprintf("there is no ConfigMap %s in namespace %s", name, run.Namespace))
		}
		if err != nil {
			return nil, fmt.Errorf("get ConfigMap %s: %w", name, err)
		}
		read[name] = config
		return config, nil
	}
	for _, file := range run.Spec.Target.Content {
		ref := file.ConfigMapKeyRef
		if ref == nil {
			continue
		}
		config, err := get(ref.Name)
		if err != nil {
			return nil, err
		}
		if config == nil {
			continue
		}
		text, ok := valueOf(config, ref.Key)
		if !ok {
			in.missing = append(in.missing, fmt.Sprintf("ConfigMap %s has no key %s", ref.Name, ref.Key))
		}
		in.content[file.Path] = text
	}
	for container, name := range target.ConfigurationNames(&run.Spec.Target) {
		config, err := get(name)
		if err != nil {
			return nil, err
		}
		if config == nil {
			continue
		}
		in.configurations[container] = map[string]string{}
		for key := range config.BinaryData {
			text, _ := valueOf(config, key)
			in.configurations[container][key] = string(text)
		}
		for key, text := range config.Data {
			in.configurations[container][key] = text
		}
	}
	slices.Sort(in.missing)
	return in, nil
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
	p.state(v1alpha1.ReasonStarting, "waiting for what the target is made from: "+missing, nil)
	p.requeueAfter = sooner(p.requeueAfter, inputPause)
}

// contentKey is the key of the run's ConfigMap that has a file of content.
func contentKey(index int) string { return fmt.Sprintf("content-%d", index) }

// contentList is the list of content for the container that writes it, and the
// files that it copies, by their keys in the run's ConfigMap.
func contentList(run *v1alpha1.BenchmarkRun, in *inputs) (list []byte, copied map[string][]byte, err error) {
	files := []agent.File{}
	copied = map[string][]byte{}
	for i, c := range run.Spec.Target.Content {
		file := agent.File{Path: c.Path, SizeBytes: c.SizeBytes}
		if c.ConfigMapKeyRef != nil {
			text := in.content[c.Path]
			file.SizeBytes, file.Source = int64(len(text)), configFolder+"/"+contentKey(i)
			copied[contentKey(i)] = text
		}
		files = append(files, file)
	}
	list, err = json.Marshal(files)
	return list, copied, err
}

// contentLengths are the lengths of the files that the run's target serves, by
// path, as its ConfigMap has them. What the server carries out has none.
func contentLengths(config *corev1.ConfigMap) (map[string]int64, error) {
	lengths := map[string]int64{}
	if config == nil {
		return lengths, nil
	}
	var files []agent.File
	if err := json.Unmarshal([]byte(config.Data[contentListFile]), &files); err != nil {
		return nil, fmt.Errorf("read the list of content in ConfigMap %s: %w", config.Name, err)
	}
	for _, file := range files {
		if !carriedOut(file.Path) {
			lengths[file.Path] = file.SizeBytes
		}
	}
	return lengths, nil
}

// carriedOut is whether a server answers with what a file does instead of what
// it has.
func carriedOut(name string) bool {
	return slices.Contains([]string{".jsp", ".jspx"}, path.Ext(name))
}

// tooLarge says that the user's ConfigMaps don't fit into the run's own.
func (in *inputs) tooLarge() error {
	size := 0
	for _, text := range in.content {
		size += len(text)
	}
	for _, files := range in.configurations {
		for _, text := range files {
			size += len(text)
		}
	}
	if size > maxInputBytes {
		return fmt.Errorf("spec.target: what content and configuration take from ConfigMaps has %d bytes, more than the %d that fit: "+
			"generate large files with content.sizeBytes, or mount a volume by target.pod.volumes", size, maxInputBytes)
	}
	return nil
}
