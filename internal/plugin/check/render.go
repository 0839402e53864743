package check

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/config/samples"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/server"
)

// Rendered is what the operator makes of the target of a run.
type Rendered struct {
	// Cell is the name of the Benchmark's cell; empty for a run.
	Cell       string      `json:"cell,omitempty"`
	Containers []Container `json:"containers"`
}

// Container is a container of a server, with the files that it finds.
type Container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Env has the variables as NAME=VALUE; one from a Secret has no value.
	Env   []string `json:"env,omitempty"`
	Files []File   `json:"files,omitempty"`
}

// File is a file that the operator writes.
type File struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// settings stand for those of the operator, which no part of a rendering but Assay's own containers depends on.
var settings = manifest.Settings{AssayImage: "assay", LoadImage: "assay-load", K6Image: "assay-k6", SessionAddress: "assay:9443"}

// render renders the target of a run by the operator's own code. It returns nil, and no problem, if that needs ConfigMaps
// that aren't known.
func render(run *v1alpha1.BenchmarkRun, configs map[string]*corev1.ConfigMap) ([]Container, []Problem) {
	in := inputs.Read(run, configs)
	var problems []Problem
	complete := true
	for _, name := range inputs.Names(run) {
		complete = complete && configs[name] != nil
	}
	for _, missing := range in.Missing {
		if complete { // otherwise they may be in the cluster
			problems = append(problems, problemOf(errors.New(missing)))
		}
	}
	if in.Wrong != nil {
		problems = append(problems, problemOf(in.Wrong))
	}
	if len(problems) > 0 || server.IsExternal(&run.Spec.Target) {
		return nil, problems
	}
	for _, name := range server.ConfigurationNames(&run.Spec.Target) {
		if configs[name] == nil {
			return nil, nil
		}
	}
	rendering, err := server.Render(&run.Spec.Target, in.Configurations)
	if err != nil {
		return nil, []Problem{problemOf(err)}
	}
	pod, err := manifest.TargetPod(run, rendering, &settings)
	if err != nil {
		return nil, []Problem{problemOf(err)}
	}
	var all []Container
	for _, c := range manifest.Servers(run, pod) {
		one := Container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args}
		for _, variable := range c.Env {
			text := variable.Name + "=" + variable.Value
			if variable.ValueFrom != nil {
				text = variable.Name
			}
			one.Env = append(one.Env, text)
		}
		for _, mount := range c.VolumeMounts {
			if text, is := rendering.Files[mount.SubPath]; is && mount.Name == server.ConfigVolume {
				one.Files = append(one.Files, File{mount.MountPath, text})
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// Sample returns the run of the sample generic in a namespace, with its defaults, and what is rendered of its target.
func Sample(namespace string) (*v1alpha1.BenchmarkRun, *server.Rendering, error) {
	text, _ := samples.Read("generic")
	fields, run := objectsIn("generic.yaml", []byte(text))[0].fields, &v1alpha1.BenchmarkRun{}
	if problems := definitions["BenchmarkRun"]().check(fields); len(problems) > 0 {
		return nil, nil, fmt.Errorf("%s: %s", problems[0].Path, problems[0].Message)
	}
	if err := convert(fields, run); err != nil {
		return nil, nil, err
	}
	run.Namespace = namespace
	rendering, err := server.Render(&run.Spec.Target, nil)
	return run, rendering, err
}

// problemOf returns the problem that an error is whose text begins with the path of a field.
func problemOf(err error) Problem {
	if path, message, has := strings.Cut(err.Error(), ": "); has && strings.HasPrefix(path, "spec") {
		return Problem{Path: path, Message: message}
	}
	return Problem{Path: "spec", Message: err.Error()}
}

// write prints what was rendered of an object.
func (o *Object) write(out *strings.Builder) {
	for _, r := range o.Rendered {
		title := o.Kind + " " + o.Name
		if r.Cell != "" {
			title += ", cell " + r.Cell
		}
		for _, c := range r.Containers {
			fmt.Fprintf(out, "# %s: container %s, image %s\n", title, c.Name, c.Image)
			for _, variable := range c.Env {
				fmt.Fprintf(out, "# env: %s\n", variable)
			}
			for _, line := range []struct {
				name  string
				words []string
			}{{"command", c.Command}, {"args", c.Args}} {
				if len(line.words) > 0 {
					fmt.Fprintf(out, "# %s: %s\n", line.name, quoted(line.words))
				}
			}
			for _, f := range c.Files {
				fmt.Fprintf(out, "\n==> %s <==\n%s\n", f.Path, strings.TrimSuffix(f.Text, "\n"))
			}
			fmt.Fprintln(out)
		}
	}
}

// quoted returns a command line as a shell would take it.
func quoted(words []string) string {
	var all []string
	for _, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"$&|;<>()*?[]{}#~`\\") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// byName returns the ConfigMaps of a namespace, by name. One without a namespace is in each.
func byName(all []*Object) map[string]*corev1.ConfigMap {
	configs := map[string]*corev1.ConfigMap{}
	for _, o := range all {
		if config := o.configMap(); config != nil {
			configs[config.Name] = config
		}
	}
	return configs
}
