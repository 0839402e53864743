package servertest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// SelfSigned is a certificate that Assay signs itself.
var SelfSigned = &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}

// Web is a target with httpd or nginx whose rendered files are in testdata.
type Web struct {
	HTTPD *v1alpha1.HTTPDServer
	Nginx *v1alpha1.NginxServer
	TLS   *v1alpha1.TLS
	CPU   string
	// Files are the user's own configuration.
	Files map[string]string
}

// Target returns the target and the users' own configurations. It has two
// backends if requests are forwarded.
func (w Web) Target() (*v1alpha1.Target, map[string]map[string]string) {
	t := &v1alpha1.Target{
		Image: "example/server:1", ImagePullPolicy: corev1.PullIfNotPresent,
		Server: v1alpha1.Server{HTTPD: w.HTTPD, Nginx: w.Nginx}, TLS: w.TLS,
	}
	if w.HTTPD != nil && w.HTTPD.Forward != nil || w.Nginx != nil && w.Nginx.Forward != nil {
		for i, name := range []string{"app", "api"} {
			generic := &v1alpha1.GenericServer{Port: ptr.To(int32(9001 + i)), ContentPath: "/srv"}
			t.Backends = append(t.Backends, v1alpha1.Backend{
				Name: name, Image: []string{"example/tomcat:1", "example/api:1"}[i], Server: v1alpha1.BackendServer{Generic: generic},
			})
		}
	}
	if w.HTTPD != nil && slices.ContainsFunc(w.HTTPD.Forward, func(f v1alpha1.Forward) bool { return f.Protocol == v1alpha1.ForwardAJP }) {
		t.Backends[0].Server = v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{
			Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(9001))}, AJP: &v1alpha1.TomcatAJP{MaxThreads: ptr.To(int32(400))},
		}}
	}
	if w.CPU != "" {
		t.Resources.CPU = ptr.To(resource.MustParse(w.CPU))
	}
	if w.Files == nil {
		return t, nil
	}
	own := &v1alpha1.Configuration{ConfigMapName: "mine"}
	if w.HTTPD != nil {
		t.Server.HTTPD = ptr.To(*w.HTTPD)
		t.Server.HTTPD.Configuration = own
	} else {
		t.Server.Nginx = ptr.To(*w.Nginx)
		t.Server.Nginx.Configuration = own
	}
	return t, map[string]map[string]string{adapter.ContainerName: w.Files}
}

// Forwards has all kinds of routes, in an order that matters.
var Forwards = []v1alpha1.Forward{
	{PathPrefix: "/app/static", Backend: "api"},
	{PathPrefix: "/v1/", Backend: "api"},
	{PathSuffix: ".jsp", Backend: "app"},
	{PathPrefix: "/app", Backend: "api"},
	{PathPrefix: "/v2.0/", Backend: "app"},
	{PathSuffix: ".do", Backend: "app"},
}

// TLS has settings of TLS that httpd and nginx have in common.
var TLS = map[string]*v1alpha1.TLS{
	"tls":           withTLS("", nil),
	"tls-old":       withTLS("", []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12}),
	"tls-10-cipher": withTLS("", []v1alpha1.TLSProtocol{v1alpha1.TLSv10}, "AES128-SHA"),
	"tls-12-cipher": withTLS(v1alpha1.Disabled, []v1alpha1.TLSProtocol{v1alpha1.TLSv12}, "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
	"tls-12-resume": withTLS(v1alpha1.Enabled, []v1alpha1.TLSProtocol{v1alpha1.TLSv12}),
	"tls-13-cipher": withTLS("", []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, "TLS_CHACHA20_POLY1305_SHA256"),
	"tls-13-resume": withTLS(v1alpha1.Enabled, []v1alpha1.TLSProtocol{v1alpha1.TLSv13}),
	"tls-ciphers":   withTLS("", nil, "TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-SHA", "AES256-GCM-SHA384"),
	"tls-mutual":    {Certificate: SelfSigned, ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: *SelfSigned}},
}

func withTLS(resumption v1alpha1.Switch, protocols []v1alpha1.TLSProtocol, ciphers ...v1alpha1.CipherSuite) *v1alpha1.TLS {
	return &v1alpha1.TLS{Certificate: SelfSigned, SessionResumption: resumption, Protocols: protocols, Ciphers: ciphers}
}

// Mismatches compares the mismatches of a target's log with want, except for their
// remedies. It returns what the log says.
func Mismatches[Own any](t *testing.T, readLogs func(*v1alpha1.Target, Own, map[string]string) (map[string]adapter.Log, []adapter.Mismatch),
	spec Web, log string, want []adapter.Mismatch) adapter.Log {
	t.Helper()
	target, _ := spec.Target()
	var unknown Own
	read, got := readLogs(target, unknown, map[string]string{adapter.ContainerName: log})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(adapter.Mismatch{}, "Remedy"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, m := range got {
		if m.Remedy == "" {
			t.Errorf("%s has no remedy", m.Field)
		}
	}
	return read[adapter.ContainerName]
}
