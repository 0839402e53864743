package api

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestNewRunIsInProgress checks that kstatus doesn't take a run that the operator
// hasn't seen for done, as it does with objects that have no status.
func TestNewRunIsInProgress(t *testing.T) {
	created := createRun(t, newNamespace(t), minimal, `{}`)
	read := &unstructured.Unstructured{}
	read.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkRun"))
	if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(created), read); err != nil {
		t.Fatal(err)
	}
	if generation, _, err := unstructured.NestedInt64(read.Object, "status", "observedGeneration"); err != nil || generation != -1 {
		t.Errorf("observedGeneration %d, %v", generation, err)
	}
	got, err := status.Compute(read)
	if err != nil || got.Status != status.InProgressStatus {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRunsSortByNumber checks that kubectl sorts runs by their rate as numbers, and
// shows the rate and the verdict.
func TestRunsSortByNumber(t *testing.T) {
	namespace := newNamespace(t)
	rates := map[string]string{"a": "1000.25", "b": "9.50", "c": "15041.00", "d": "200.00"}
	for name, rate := range rates {
		object := createRun(t, namespace, minimal, `metadata: {name: `+name+`}`)
		var run v1alpha1.BenchmarkRun
		if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(object), &run); err != nil {
			t.Fatal(err)
		}
		run.Status.Verdict = v1alpha1.VerdictPassed
		run.Status.Result = &v1alpha1.ResultStatus{RequestsPerSecond: rate}
		if err := apiClient.Status().Update(t.Context(), &run); err != nil {
			t.Fatal(err)
		}
	}
	list := kubectl(t, "get", "benchmarkruns", "--namespace", namespace, "--sort-by", ".status.result.requestsPerSecond", "--no-headers")
	var names []string
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		names = append(names, name)
		if !regexp.MustCompile(fmt.Sprintf(`\b%s\b.*\bPassed\b`, regexp.QuoteMeta(rates[name]))).MatchString(line) {
			t.Errorf("%s lacks the rate or the verdict: %s", name, line)
		}
	}
	if diff := cmp.Diff([]string{"b", "d", "a", "c"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, list)
	}
}
