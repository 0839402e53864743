package gitops

import (
	"os"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"sigs.k8s.io/yaml"
)

// statusOf maps the health of Argo CD to that of kstatus, which doesn't know suspended objects: they are in progress.
var statusOf = map[health]status.Status{
	healthy: status.CurrentStatus, degraded: status.FailedStatus, progressing: status.InProgressStatus, suspended: status.InProgressStatus,
}

// TestKstatus checks what kstatus, by which Flux and Helm wait, makes of both kinds in every state.
func TestKstatus(t *testing.T) {
	for kind, states := range map[string]map[string]state{"BenchmarkRun": runs(t), "Benchmark": benchmarks(t)} {
		for name, s := range states {
			want := statusOf[s.health]
			if kind == "Benchmark" && s.health == suspended {
				if c, _ := reconciling(s); c != "True" {
					want = status.CurrentStatus // it rests as its spec says
				}
			}
			got, err := status.Compute(s.object)
			if err != nil || got.Status != want {
				t.Errorf("%s %s: %v, %v, want %s", kind, name, got, err, want)
			}
		}
	}
}

func reconciling(s state) (value string, found bool) {
	list, _ := s.object.Object["status"].(map[string]any)["conditions"].([]any)
	for _, item := range list {
		if c := item.(map[string]any); c["type"] == "Reconciling" {
			return c["status"].(string), true
		}
	}
	return "", false
}

// TestFluxHealthChecks checks what Flux makes of both kinds in every state with the expressions for healthCheckExprs.
func TestFluxHealthChecks(t *testing.T) {
	data, err := os.ReadFile("../../config/gitops/flux/healthcheckexprs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var checks struct {
		HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
	}
	if err := yaml.UnmarshalStrict(data, &checks); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]map[string]state{"BenchmarkRun": runs(t), "Benchmark": benchmarks(t)}
	if len(checks.HealthCheckExprs) != len(kinds) {
		t.Fatalf("%d health checks, want %d", len(checks.HealthCheckExprs), len(kinds))
	}
	for _, check := range checks.HealthCheckExprs {
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range kinds[check.Kind] {
			got, err := evaluator.Evaluate(t.Context(), s.object)
			if want := statusOf[s.health]; err != nil || got.Status != want || check.APIVersion != s.object.GetAPIVersion() {
				t.Errorf("%s %s: %v, %v, want %s", check.Kind, name, got, err, want)
			}
		}
		delete(kinds, check.Kind)
	}
}
