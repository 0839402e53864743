// Package check implements the verb "check", which finds what is wrong with manifests before they are applied.
package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
)

const group = "assay.dev"

// examine fills in what is wrong with an object, and what is rendered of it. configs has the ConfigMaps of the same files.
func (o *Object) examine(configs map[string]*corev1.ConfigMap) {
	known := definitions[o.Kind]
	if known == nil {
		o.add(Problem{Path: "kind", Message: "must be " + strings.Join(kinds(), " or ")})
		return
	}
	if version := v1alpha1.GroupVersion.String(); o.fields["apiVersion"] != version {
		o.add(Problem{Path: "apiVersion", Message: "must be " + version})
		return
	}
	fields := runtime.DeepCopyJSON(o.fields)
	o.add(known().check(fields)...)
	if len(o.Problems) > 0 {
		return
	}
	if o.Kind == "Benchmark" {
		o.examineCells(fields, configs)
		return
	}
	containers, problems := examineRun(fields, configs)
	o.add(problems...)
	if containers != nil {
		o.Rendered = []Rendered{{Containers: containers}}
	}
}

// examineRun renders a run that the API server takes.
func examineRun(fields map[string]any, configs map[string]*corev1.ConfigMap) ([]Container, []Problem) {
	run := &v1alpha1.BenchmarkRun{}
	if err := convert(fields, run); err != nil {
		return nil, []Problem{problemOf(err)}
	}
	return render(run, configs)
}

func convert(fields map[string]any, into any) error {
	encoded, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}

// examineCells examines the runs that a Benchmark makes: the API server sees what the values of axes say only when it creates them.
func (o *Object) examineCells(fields map[string]any, configs map[string]*corev1.ConfigMap) {
	b := &v1alpha1.Benchmark{}
	if err := convert(fields, b); err != nil {
		o.add(problemOf(err))
		return
	}
	b.UID = "0" // its runs have an owner
	all, err := cells.Of(&b.Spec)
	if err == nil {
		err = errors.Join(lifecycle.CheckSize(&b.Spec, len(all)), blocks.CheckOrder(&b.Spec, len(all)), inference.CheckClaims(&b.Spec, all))
	}
	if err != nil {
		o.add(problemOf(err))
		return
	}
	first, others, renderings := map[Problem]string{}, map[Problem]int{}, map[string]bool{}
	var found []Problem
	for i := range all {
		containers, problems := examineCell(b, all, i, configs)
		for _, p := range problems {
			if first[p] == "" {
				first[p] = all[i].Name
				found = append(found, p)
			} else {
				others[p]++
			}
		}
		text, _ := json.Marshal(containers) // texts alone
		if containers != nil && !renderings[string(text)] {
			renderings[string(text)] = true
			o.Rendered = append(o.Rendered, Rendered{all[i].Name, containers})
		}
	}
	for _, p := range found {
		of := "cell " + first[p]
		if n := others[p]; n > 0 {
			of += fmt.Sprintf(" and %d more", n)
		}
		p.Path, p.Message = o.origin(b, p.Path), fmt.Sprintf("of %s: %s: %s", of, p.Path, p.Message)
		o.add(p)
	}
}

func examineCell(b *v1alpha1.Benchmark, all []cells.Cell, cell int, configs map[string]*corev1.ConfigMap) ([]Container, []Problem) {
	spec, err := all[cell].JSON(&b.Spec.Template.Spec)
	if err != nil {
		return nil, []Problem{{Path: "spec", Message: err.Error()}}
	}
	planner, key := plan.Planner{Design: inference.Design{Spec: &b.Spec, Cells: all}, Benchmark: b.Name, Number: 1}, benchmark.RunKey{Round: 1, Cell: cell}
	run, err := objects.NewRun(b, key, &all[cell], spec, planner.Alternation(key))
	if err != nil {
		return nil, []Problem{{Path: "spec", Message: err.Error()}}
	}
	if problems := definitions["BenchmarkRun"]().check(run.Object); len(problems) > 0 {
		return nil, problems
	}
	return examineRun(run.Object, configs)
}

// origin returns the path in a Benchmark from which its runs have the value of a path: that of an axis, or of the template.
func (o *Object) origin(b *v1alpha1.Benchmark, path string) string {
	for i := range b.Spec.Axes {
		axis := &b.Spec.Axes[i]
		pointers := []v1alpha1.JSONPointer{axis.Path}
		for _, option := range axis.Options {
			pointers = append(pointers, option.Remove...)
			for _, set := range option.Set {
				pointers = append(pointers, set.Path)
			}
		}
		if slices.ContainsFunc(pointers, func(pointer v1alpha1.JSONPointer) bool {
			at := strings.FieldsFunc("spec"+pointer, func(r rune) bool { return r == '/' })
			is := steps(path)
			n := min(len(at), len(is))
			return pointer != "" && slices.Equal(at[:n], is[:n])
		}) {
			return fmt.Sprintf("spec.axes[%d]", i)
		}
	}
	return "spec.template." + path
}
