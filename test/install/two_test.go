package install

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestTwoManagers installs a second release of all namespaces, and one of a namespace in which the first has an active run, each with
// the rights that the chart gives. They must write nothing, and say why.
func TestTwoManagers(t *testing.T) {
	createNamespace(t, "both")
	first := install(t, "assay", "first")
	run := newRun(t, "both", func(run *v1alpha1.BenchmarkRun) { run.Spec.ActiveDeadlineSeconds = new(int32(600)) })
	started(t, run)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(run), run); err != nil || run.Status.Manager != "first/assay-manager" {
		t.Errorf("the run is served by %q: %v", run.Status.Manager, err)
	}
	for _, late := range []struct {
		release *release
		says    string
	}{
		{install(t, "second", "second"), "Manager first/assay-manager serves all namespaces already (Lease default/assay-all-namespaces). This one stays out."},
		{install(t, "single", "single", "namespaces={both}"), "Manager first/assay-manager serves namespace both already (Lease both/assay-namespace). This one stays out."},
	} {
		eventually(t, "the words of a manager that stays out", func(context.Context) (bool, error) { return strings.Contains(late.release.output(), late.says), nil })
		used, refused := requestsOf(t, late.release.user)
		for right := range used {
			verb, resource, _ := strings.Cut(right, " ")
			if verb != "get" && resource != "authorization.k8s.io/selfsubjectaccessreviews" {
				t.Errorf("%s, which stays out, has done: %s", late.release.namespace, right)
			}
		}
		for _, line := range refused {
			if !strings.Contains(line, `"resource":"pods"`) { // its own, for an event, which a release of other namespaces may not read
				t.Errorf("refused: %s", line)
			}
		}
	}
	next := newRun(t, "both", func(run *v1alpha1.BenchmarkRun) { run.Name, run.Spec.Lane = "next", "next" })
	started(t, next)
	if log := first.output(); strings.Contains(log, "StaysOut") || strings.Contains(log, "stays out") {
		t.Errorf("the first manager stays out:\n%s", log)
	}
	gone(t, next)
}
