package run

import (
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/collect"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/validity"
)

func TestBandwidth(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        validity.Link
	}{
		"none":      {nil, validity.Link{}},
		"both":      {map[string]string{"kubernetes.io/egress-bandwidth": "50M", "kubernetes.io/ingress-bandwidth": "1G"}, validity.Link{Sent: 50_000_000, Received: 1_000_000_000}},
		"malformed": {map[string]string{"kubernetes.io/egress-bandwidth": "fast", "kubernetes.io/ingress-bandwidth": "-1"}, validity.Link{}},
	} {
		s := newScene().collected()
		s.run.Spec.Target.Annotations = tc.annotations
		e, err := collect.Evidence(step.NewPlanner(s.run, s.o, now))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := e.Describe(0)
		if err != nil || got.Link != tc.want {
			t.Errorf("%s: %+v (%v), want %+v", name, got.Link, err, tc.want)
		}
	}
}

func TestTLSResumptionIsDeclared(t *testing.T) {
	for resumption, want := range map[v1alpha1.Switch]bool{v1alpha1.Enabled: true, v1alpha1.Disabled: false} {
		s := newScene().collected()
		s.run.Spec.Target.TLS = &v1alpha1.TLS{SessionResumption: resumption}
		e, err := collect.Evidence(step.NewPlanner(s.run, s.o, now))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := e.Describe(0)
		if err != nil || got.TLSResumption != want {
			t.Errorf("%s: %+v (%v)", resumption, got, err)
		}
	}
}
