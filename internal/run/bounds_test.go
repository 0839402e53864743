package run

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

func TestDecideEndsARunOutOfBounds(t *testing.T) {
	opened, err := manifest.ReadEgress(`[{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		settings manifest.Settings
		admitted bool
		want     []string
	}{
		"no bounds":                 {},
		"a deadline as allowed":     {settings: manifest.Settings{MaxActiveDeadline: 2 * time.Hour}},
		"a longer deadline":         {settings: manifest.Settings{MaxActiveDeadline: time.Hour}, want: []string{"spec.activeDeadlineSeconds is 7200", "3600"}},
		"a lane as allowed":         {settings: manifest.Settings{Lanes: []string{"other", "l"}}},
		"another lane":              {settings: manifest.Settings{Lanes: []string{"other", "third"}}, want: []string{"spec.lane is l", "other, third"}},
		"it was admitted before":    {settings: manifest.Settings{Lanes: []string{"other"}}, admitted: true},
		"deadline when it runs now": {settings: manifest.Settings{MaxActiveDeadline: time.Hour}, admitted: true},
		"content as allowed":        {settings: manifest.Settings{MaxContentBytes: 3 << 30}},
		"more content":              {settings: manifest.Settings{MaxContentBytes: 3<<30 - 1}, want: []string{"spec.target.content has 3221225472 bytes", "3221225471", "--max-content", "sizeBytes"}},
		"a host that is opened":     {settings: manifest.Settings{NetworkPolicies: true, Egress: opened}},
		"a host that isn't opened":  {settings: manifest.Settings{NetworkPolicies: true}, want: []string{"spec.script.outputs.openTelemetry.endpoint is at 192.0.2.1:4317", "networkPolicies.egress"}},
		"hosts without policies":    {settings: manifest.Settings{Egress: nil}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(7200))
			s.run.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/a", SizeBytes: 2 << 30}, {Path: "/b", SizeBytes: 1 << 30}}
			s.run.Spec.Script = &v1alpha1.Script{Outputs: &v1alpha1.ScriptOutputs{OpenTelemetry: &v1alpha1.OpenTelemetry{Endpoint: "192.0.2.1:4317"}}}
			if !test.admitted {
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
			}
			s.o.Settings = test.settings
			got := stateIn(s.decide())
			if ended := got.Reason == v1alpha1.ReasonInvalidSpec; ended != (len(test.want) > 0) {
				t.Fatalf("%+v", got)
			}
			for _, want := range test.want {
				if !strings.Contains(got.Message, want) {
					t.Errorf("%q lacks %q", got.Message, want)
				}
			}
		})
	}
}

func TestDecideEndsARunWithAForbiddenIssuer(t *testing.T) {
	corporate := v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Name: "corporate", Kind: "ClusterIssuer", Group: "cert-manager.io"}}
	step := v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Name: "step", Kind: "StepIssuer", Group: "step.example"}}
	selfSigned := v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}
	for name, test := range map[string]struct {
		allowed        []string
		server, client v1alpha1.Certificate
		admitted       bool
		want           string
	}{
		"none":                   {server: selfSigned, client: step, want: "issuerRef is StepIssuer.step.example/step. The administrator of this manager allows no issuers (--issuers)"},
		"by name":                {allowed: []string{"Issuer/a", "ClusterIssuer/corporate"}, server: corporate, client: selfSigned},
		"by kind":                {allowed: []string{"ClusterIssuer/*"}, server: corporate, client: selfSigned},
		"of another group":       {allowed: []string{"ClusterIssuer/*", "StepIssuer.step.example/step"}, server: corporate, client: step},
		"none is used":           {allowed: []string{"Issuer/a"}, server: selfSigned, client: selfSigned},
		"another name":           {allowed: []string{"ClusterIssuer/other"}, server: corporate, client: selfSigned, want: "spec.target.tls.certificate.issuerRef is ClusterIssuer/corporate"},
		"another kind":           {allowed: []string{"Issuer/corporate", "Issuer/*"}, server: corporate, client: selfSigned, want: "allows only Issuer/corporate, Issuer/* (--issuers)"},
		"another group":          {allowed: []string{"StepIssuer/step"}, server: selfSigned, client: step, want: "issuerRef is StepIssuer.step.example/step"},
		"for clients":            {allowed: []string{"ClusterIssuer/*"}, server: corporate, client: step, want: "spec.target.tls.clientAuthentication.certificate.issuerRef"},
		"it was admitted before": {allowed: []string{"Issuer/a"}, server: corporate, client: selfSigned, admitted: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.run.UID = "0123456789"
			s.run.Spec.Target.TLS = &v1alpha1.TLS{Certificate: &test.server, ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: test.client}}
			if !test.admitted {
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
			}
			s.o.Settings = manifest.Settings{Issuers: test.allowed}
			got := stateIn(s.decide())
			if ended := got.Reason == v1alpha1.ReasonInvalidSpec; ended != (test.want != "") || !strings.Contains(got.Message, test.want) {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}
