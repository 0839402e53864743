package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

func TestPlansOfAScript(t *testing.T) {
	ref := &v1alpha1.SecretKeyReference{Name: "s", Key: "k"}
	run := of(3, v1alpha1.Load{})
	run.Spec.Script = &v1alpha1.Script{
		ConfigMapName: "shop", File: "a.js", HostNames: []string{"shop.example.org"}, Tags: []v1alpha1.ScriptTag{{Name: "team", Value: "web"}},
		Env:     []v1alpha1.EnvironmentVariable{{Name: "A"}, {Name: "B", SecretKeyRef: ref}},
		Outputs: &v1alpha1.ScriptOutputs{OpenTelemetry: &v1alpha1.OpenTelemetry{Endpoint: "c:1"}},
	}
	run.Name = "r"
	plans := Plans(run, nil)
	var segments []string
	for i, plan := range plans {
		if err := plan.Check(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
		segments = append(segments, plan.Script.Segment)
	}
	if diff := cmp.Diff([]string{"0:1/3", "1/3:2/3", "2/3:1"}, segments); diff != "" {
		t.Error(diff)
	}
	want := &session.Script{
		File: "a.js", Segment: "0:1/3", Sequence: "0,1/3,2/3,1", Leads: true, HostNames: []string{"shop.example.org"},
		Tags: map[string]string{"team": "web", "assay_run": "r", "assay_client": "0"}, Secrets: []string{"B", "K6_OTEL_HEADERS"}, Outputs: []string{"opentelemetry"},
		MergedThresholds: true,
	}
	if diff := cmp.Diff(want, plans[0].Script); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	run.Spec.Clients.Replicas = ptr.To(int32(1))
	if one := Plans(run, nil); one[0].Script.Segment != "0:1" || one[0].Script.Sequence != "0,1" {
		t.Errorf("one client: %+v", one[0].Script)
	}
	if got := Shape(&run.Spec); got != result.LoadScript {
		t.Errorf("the shape %q", got)
	}
	if warmup, measurement := Extents(&run.Spec); warmup != (Extent{}) || measurement != (Extent{}) {
		t.Errorf("extents %+v and %+v", warmup, measurement)
	}
}
