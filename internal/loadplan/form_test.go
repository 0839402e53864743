package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// TestForms: what is left out has its default, and every client asks whether the
// target answers before its connections log in.
func TestForms(t *testing.T) {
	for name, test := range map[string]struct {
		form v1alpha1.FormLogin
		want session.Form
	}{
		"least": {v1alpha1.FormLogin{Path: "/login"}, session.Form{
			Path: "/login", UsernameField: "username", PasswordField: "password", Statuses: []int{302, 303},
		}},
		"full": {
			v1alpha1.FormLogin{
				Page: "/p", Path: "/l", UsernameField: "u", PasswordField: "w", Fields: []v1alpha1.FormField{{Name: "a", Value: ptr.To("b")}},
				Expect: &v1alpha1.LoginExpectation{Statuses: []int32{200}, Location: "/home"},
			},
			session.Form{
				Page: "/p", Path: "/l", UsernameField: "u", PasswordField: "w", Fields: []session.FormField{{Name: "a", Value: "b"}},
				Statuses: []int{200}, Location: "/home",
			},
		},
		"a place alone": {v1alpha1.FormLogin{Path: "/l", Expect: &v1alpha1.LoginExpectation{Location: "/home"}}, session.Form{
			Path: "/l", UsernameField: "username", PasswordField: "password", Statuses: []int{302, 303}, Location: "/home",
		}},
	} {
		run := of(2, v1alpha1.Load{
			Authentication: &v1alpha1.Authentication{Scheme: v1alpha1.AuthenticationForm, SecretName: "s", Form: &test.form},
			Client:         v1alpha1.LoadClient{Cookies: v1alpha1.Enabled},
			Closed:         &v1alpha1.ClosedLoad{Connections: 1, RequestCount: ptr.To(int64(1))},
		})
		run.Spec.Target.Readiness.Path = "/ready"
		for i, plan := range Plans(run, nil) {
			if diff := cmp.Diff(&test.want, plan.Form); diff != "" || len(plan.Probes) != 1 || plan.Probes[0].Request.Path != "/ready" || plan.Check() != nil {
				t.Errorf("%s: client %d asks for %v; %v; (-want +got):\n%s", name, i, plan.Probes, plan.Check(), diff)
			}
		}
	}
}

func TestRatesAskedFor(t *testing.T) {
	levels := &v1alpha1.StagesLoad{Levels: []v1alpha1.LoadLevel{{RequestsPerSecond: ptr.To(int32(7))}, {RequestsPerSecond: ptr.To(int32(5))}}}
	for want, load := range map[float64]v1alpha1.Load{
		0:  {Closed: &v1alpha1.ClosedLoad{}},
		30: {Open: &v1alpha1.OpenLoad{RequestsPerSecond: "10"}},
		10: {Open: &v1alpha1.OpenLoad{RequestsPerSecond: "10"}, LoadIsPer: v1alpha1.LoadPerRun},
		21: {Stages: levels},

		1.5:  {Open: &v1alpha1.OpenLoad{RequestsPerSecond: "0.5"}},
		0.25: {Open: &v1alpha1.OpenLoad{RequestsPerSecond: "0.25"}, LoadIsPer: v1alpha1.LoadPerRun},
	} {
		if got := TargetRatePerSecond(&of(3, load).Spec); got != want {
			t.Errorf("%g, want %g", got, want)
		}
	}
}
