package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
)

const (
	// maxCopies bounds the names that are tried for a copy, maxCopied is the length of a name that leaves room for the end of a copy's: names of
	// Benchmarks have at most 34 characters.
	maxCopies, maxCopied = 20, 25
)

// copied is the end of the names of copies.
var copied = regexp.MustCompile(`-again(-[0-9]+)?$`)

// duplicate returns the manifest of a copy of a run or a Benchmark, with a name that is free. It leaves out what only the original is: the place in its
// Benchmark, and the labels and annotations of tools that would take the copy for the original.
func (s *App) duplicate(ctx context.Context, o client.Object) (name, manifest string, err error) {
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return "", "", err
	}
	if name, err = s.freeName(ctx, o); err != nil {
		return "", "", err
	}
	meta := map[string]any{"name": name, "namespace": o.GetNamespace()}
	labels := map[string]string{}
	for key, value := range o.GetLabels() {
		if !strings.Contains(key, "/") {
			labels[key] = value
		}
	}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	whole := map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "metadata": meta}
	switch o := o.(type) {
	case *v1alpha1.BenchmarkRun:
		spec := o.Spec.DeepCopy()
		spec.Suspend, spec.Alternation = nil, nil
		whole["kind"], whole["spec"] = cluster.BenchmarkRun.Name, spec
	case *v1alpha1.Benchmark:
		spec := o.Spec.DeepCopy()
		spec.Suspend = nil
		whole["kind"], whole["spec"] = cluster.Benchmark.Name, spec
	}
	text, err := yaml.Marshal(whole)
	return name, string(text), err
}

// freeName returns a name for a copy of an object: NAME-again, NAME-again-2 and so on.
func (s *App) freeName(ctx context.Context, o client.Object) (string, error) {
	base := copied.ReplaceAllString(o.GetName(), "")
	base = strings.TrimRight(base[:min(len(base), maxCopied)], "-.") + "-again"
	for i := range maxCopies {
		name := base
		if i > 0 {
			name = fmt.Sprintf("%s-%d", base, i+1)
		}
		other := o.DeepCopyObject().(client.Object)
		err := s.client.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, other)
		switch {
		case apierrors.IsNotFound(err):
			return name, nil
		case err != nil:
			return "", err
		}
	}
	return "", errors.New("there are many copies already: delete some, or duplicate it with a name of your own")
}

// againPage asks whether to run something again.
type againPage struct {
	page
	// Question is the title, With says what happens then. Edit is the path of the form to change it first, empty for none.
	Question, With, Path, Edit string
}

// confirmAgain returns the handler of the page that asks.
func (s *App) confirmAgain(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := changed(kind, r)
		if err := s.client.Get(r.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			s.failed(w, r, err)
			return
		}
		p := againPage{page: s.page("Run again", kind), Path: pathOf(kind, o.GetNamespace(), o.GetName())}
		if kind == "benchmarks" {
			p.Question, p.With = "Run a round of Benchmark "+o.GetName()+"?", "Its runs wait in their lane. The results of its earlier rounds stay."
			render(w, http.StatusOK, "again", p)
			return
		}
		name, err := s.freeName(r.Context(), o)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		p.Question, p.Edit = "Run "+o.GetName()+" again?", fromPath(kind, o.GetNamespace(), o.GetName())
		p.With = fmt.Sprintf("A new run %s with the same spec is created in namespace %s. The result of %s stays.", name, o.GetNamespace(), o.GetName())
		render(w, http.StatusOK, "again", p)
	}
}

// again returns the handler that creates a copy of a run, or asks for a round of a Benchmark.
func (s *App) again(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := changed(kind, r)
		if kind == "benchmarks" {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationRunRound, time.Now().UTC().Format(time.RFC3339Nano))
			if err := s.client.Patch(r.Context(), o, client.RawPatch(types.MergePatchType, patch)); err != nil {
				s.failed(w, r, err)
				return
			}
			http.Redirect(w, r, pathOf(kind, o.GetNamespace(), o.GetName())+"?view=runs", http.StatusSeeOther)
			return
		}
		name, manifest, err := s.duplicate(r.Context(), o)
		if err == nil {
			var made client.Object
			if made, err = s.parse(manifest); err == nil {
				err = s.client.Create(r.Context(), made)
			}
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		http.Redirect(w, r, pathOf(kind, o.GetNamespace(), name), http.StatusSeeOther)
	}
}
