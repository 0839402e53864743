package install

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// hold is the time for which the managers run next to each other: make test-two-managers sets ten minutes.
var hold = flag.Duration("hold", 0, "How long TestTwoManagers lets the managers run beside each other.")

// TestTwoManagers installs a second release of all namespaces, and one of a namespace in which the first has an active run, each with
// the rights that the chart gives. They must write nothing, and say why, and the run stays the first one's.
func TestTwoManagers(t *testing.T) {
	createNamespace(t, "both")
	first := install(t, "assay", "first")
	begun := func(name string) *v1alpha1.BenchmarkRun {
		run := newRun(t, "both", func(run *v1alpha1.BenchmarkRun) {
			run.Name, run.Spec.Lane = name, name
			run.Spec.ActiveDeadlineSeconds, run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(600)), ptr.To(int32(600))
		})
		started(t, run)
		return run
	}
	served := func(run *v1alpha1.BenchmarkRun) {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(run), run); err != nil || run.Status.Verdict != "" || run.Status.Manager != "first/assay-manager" {
			t.Errorf("the run ended as %q, served by %q: %v, %+v", run.Status.Verdict, run.Status.Manager, err, run.Status.Conditions)
		}
	}
	run := begun("run")
	served(run)
	both := []struct {
		release *release
		says    string
	}{
		{install(t, "second", "second"), "Manager first/assay-manager serves all namespaces already (Lease default/assay-all-namespaces). This one stays out."},
		{install(t, "single", "single", "namespaces={both}"), "Manager first/assay-manager serves namespace both already (Lease both/assay-namespace). This one stays out."},
	}
	for _, late := range both {
		eventually(t, "the words of a manager that stays out", func(context.Context) (bool, error) { return strings.Contains(late.release.output(), late.says), nil })
	}
	for end := time.Now().Add(*hold); ; run = begun(run.Name + "s") {
		time.Sleep(min(time.Until(end), 4*time.Minute)) // a run whose clients aren't there ends after five, and here is no kubelet
		served(run)
		if time.Now().After(end) {
			break
		}
	}
	for _, late := range both {
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
