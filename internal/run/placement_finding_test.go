package run

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// TestPlacementIsJudged checks that the findings are about the nodes and CPUs that pods reported, and what the run
// asked for.
func TestPlacementIsJudged(t *testing.T) {
	severity := func(r *result.Result, reason string) result.Severity {
		for _, f := range r.Findings {
			if f.Reason == reason {
				return f.Severity
			}
		}
		return ""
	}
	for placement, want := range map[v1alpha1.ClientPlacement]result.Severity{
		v1alpha1.PlacementApart: result.Invalidates, v1alpha1.PlacementPrefer: result.Warns, v1alpha1.PlacementTogether: result.Accepted,
	} {
		s := newScene().collected().sampled()
		s.run.Spec.Clients.Placement = placement
		if got := severity(stored(t, s.decide()), "SharedNode"); got != want {
			t.Errorf("%s: %q, want %s", placement, got, want)
		}
		s.clients(func(c *session.ClientState) { c.Node = "other" })
		if got := severity(stored(t, s.decide()), "SharedNode"); got != "" {
			t.Errorf("%s, on another node: %s", placement, got)
		}
	}

	s := newScene().withBackend().collected().sampled()
	one := resource.MustParse("1")
	s.run.Spec.Target.Resources.CPU, s.run.Spec.Target.Backends[0].Resources.CPU = &one, &one
	s.o.Sessions.Agent.Latest.Cores = "1,5"
	s.readBackend("app", "2")
	s.o.Sessions.Agent.Backends[0].Latest.Cores = "2,6"
	s.clients(func(c *session.ClientState) { c.CPUs = "0,3,6" })
	r := stored(t, s.decide())
	if r.Clients[1].CPUs != "0,3,6" || r.Environment.TargetCores != "1,5" || r.Environment.Backends[0].Cores != "2,6" {
		t.Errorf("clients %+v, environment %+v", r.Clients, r.Environment)
	}
	if got := severity(r, "SharedCore"); got != result.Warns {
		t.Errorf("a client beside the backend's thread: %q", got)
	}
}
