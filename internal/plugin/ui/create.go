package ui

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/config/reports"
	"github.com/assay-dev/assay/config/samples"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/printable"
)

// createPage is the form for a new run or Benchmark.
type createPage struct {
	page
	Samples          []string
	Sample, Manifest string
	// Home is the namespace of a manifest that names none.
	Home string
	// Checked reports whether the API server accepts the manifest. Problems are its messages, each with the field.
	Checked  bool
	Problems []problem
}

// firstSample names the sample in an empty form: it runs on any cluster, from a public image.
const firstSample = "generic"

type problem struct{ Field, Message string }

// create shows a form with a sample or what was sent, checks that by a dry run of the API server, or creates the object.
func (s *App) create(w http.ResponseWriter, r *http.Request) {
	p := createPage{page: s.page("New run", "new"), Samples: slices.Concat(samples.Names(), reports.Names()), Sample: r.URL.Query().Get("sample"), Home: s.namespace}
	if r.Method == http.MethodGet {
		from := strings.Split(r.URL.Query().Get("from"), "/")
		switch {
		case len(from) == 3 && (from[0] == "runs" || from[0] == "benchmarks"):
			r.SetPathValue("namespace", from[1])
			r.SetPathValue("name", from[2])
			var err error
			if _, p.Manifest, err = s.duplicate(r.Context(), changed(from[0], r)); err != nil {
				s.failed(w, r, err)
				return
			}
		case !r.URL.Query().Has("sample"):
			p.Sample = firstSample
			fallthrough
		case slices.Contains(p.Samples, p.Sample):
			p.Manifest = sample(p.Sample)
		}
		if !s.may(r.Context(), "create", cluster.BenchmarkRun, s.namespace, "") {
			p.Notice = notice{"Not permitted", "You may not create benchmarkruns in namespace " + s.namespace + ". A role with the verb create would allow it; a manifest may name another namespace, in which you may."}
		}
		render(w, http.StatusOK, "create", p)
		return
	}
	p.Manifest = r.PostForm.Get("manifest")
	o, err := s.parse(p.Manifest)
	if err == nil {
		var options []client.CreateOption
		if r.PostForm.Get("action") != "start" {
			options = append(options, client.DryRunAll)
		}
		err = s.client.Create(r.Context(), o, append(options, client.FieldValidation(metav1.FieldValidationStrict))...)
		if err == nil && len(options) == 0 {
			kind := map[string]string{cluster.BenchmarkRun.Name: "runs", cluster.Benchmark.Name: "benchmarks"}[o.GetKind()]
			http.Redirect(w, r, pathOf(kind, o.GetNamespace(), o.GetName()), http.StatusSeeOther)
			return
		}
	}
	status := http.StatusOK
	if p.Checked = err == nil; !p.Checked {
		status, p.Problems = http.StatusUnprocessableEntity, problemsOf(err)
		if code, _ := statusOf(err); code == http.StatusForbidden || code == http.StatusConflict {
			status = code
		}
	}
	render(w, status, "create", p)
}

// sample returns a sample, or a file of a published report, as YAML.
func sample(name string) string {
	if text, ok := samples.Read(name); ok {
		return text
	}
	text, _ := reports.Read(name)
	return text
}

// parse returns the one run or Benchmark of a manifest.
func (s *App) parse(manifest string) (*unstructured.Unstructured, error) {
	if len(manifest) > maxManifest {
		return nil, fmt.Errorf("the manifest has %d bytes, at most %d are accepted here: use kubectl apply", len(manifest), maxManifest)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &o.Object); err != nil {
		return nil, err
	}
	kinds := []string{cluster.BenchmarkRun.Name, cluster.Benchmark.Name}
	if o.GetAPIVersion() != v1alpha1.GroupVersion.String() || !slices.Contains(kinds, o.GetKind()) {
		return nil, errors.New("the manifest must have apiVersion: " + v1alpha1.GroupVersion.String() + " and kind: BenchmarkRun or Benchmark")
	}
	o.SetNamespace(cmp.Or(o.GetNamespace(), s.namespace))
	return o, nil
}

// problemsOf returns what is wrong, by field as far as the API server says so.
func problemsOf(err error) []problem {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []problem{{Message: sentence(err)}}
	}
	var all []problem
	for _, c := range status.Status().Details.Causes {
		all = append(all, problem{printable.Text(strings.TrimPrefix(c.Field, "<nil>")), printable.Text(c.Message)})
	}
	return all
}
