package ui

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// changed returns an object with the kind and the name of a path, to change it.
func changed(kind string, r *http.Request) client.Object {
	var o client.Object = &v1alpha1.BenchmarkRun{}
	if kind == "benchmarks" {
		o = &v1alpha1.Benchmark{}
	}
	o.SetNamespace(r.PathValue("namespace"))
	o.SetName(r.PathValue("name"))
	return o
}

// suspend returns the handler that suspends an object, or resumes it.
func (s *App) suspend(kind string, suspended bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := changed(kind, r)
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspended))
		if err := s.client.Patch(r.Context(), o, patch); err != nil {
			s.failed(w, r, err)
			return
		}
		http.Redirect(w, r, pathOf(kind, o.GetNamespace(), o.GetName()), http.StatusSeeOther)
	}
}

// deletePage asks whether to delete an object.
type deletePage struct {
	page
	Kind, Name, Namespace, Path, UID string
	// With says what is deleted with it.
	With string
}

// confirmDelete returns the handler of the page that asks.
func (s *App) confirmDelete(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := changed(kind, r)
		if err := s.client.Get(r.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			s.failed(w, r, err)
			return
		}
		p := deletePage{page: s.page("Delete", kind), Kind: "run", Name: o.GetName(), Namespace: o.GetNamespace(), Path: pathOf(kind, o.GetNamespace(), o.GetName()), UID: string(o.GetUID())}
		p.With = "Its result is deleted with it."
		if run, is := o.(*v1alpha1.BenchmarkRun); is && !finished(run) {
			p.With = "It hasn't finished: it ends without a result."
		} else if !is {
			p.Kind, p.With = "Benchmark", "Its runs and the results of its rounds are deleted with it."
		}
		render(w, http.StatusOK, "delete", p)
	}
}

// delete returns the handler that deletes the object that the page has asked about, and no other of that name.
func (s *App) delete(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o, uid := changed(kind, r), types.UID(r.PostForm.Get("uid"))
		if uid == "" {
			s.message(w, http.StatusBadRequest, notice{"Nothing deleted", "The request doesn't say which object was meant."})
			return
		}
		if err := s.client.Delete(r.Context(), o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			s.failed(w, r, err)
			return
		}
		http.Redirect(w, r, map[string]string{"runs": "/", "benchmarks": "/benchmarks"}[kind]+s.page("", "").Query, http.StatusSeeOther)
	}
}
