package api

import (
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestWrapperMakesGoodRuns: what scenarios are made of is taken.
func TestWrapperMakesGoodRuns(t *testing.T) {
	namespace := newNamespace(t)
	start := func(name string) *wrapper.Run {
		return wrapper.NewRun(namespace, name, "localhost/assay-test/server:dev")
	}
	for _, run := range []*wrapper.Run{
		start("tomcat").Tomcat().Configuration("a"),
		start("apr").Tomcat(v1alpha1.TomcatAPR).TLS(wrapper.SelfSigned(), v1alpha1.TLSv12, v1alpha1.TLSv13).Implementation(v1alpha1.TLSOpenSSL),
		start("issued").Nginx().Configuration("a").Content("/a", 1).Resumed().
			TLS(wrapper.WithKey(wrapper.Issuer("ClusterIssuer", "a"), v1alpha1.KeyECDSA, 384), v1alpha1.TLSv12).Ciphers("ECDHE-ECDSA-AES128-SHA"),
		start("mutual").HTTPD().Configuration("a").TLS(wrapper.Secret("a")).ServerName("a").ClientAuth(wrapper.WithKey(wrapper.SelfSigned(), v1alpha1.KeyRSA, 0)),
		start("forward").HTTPD().Forward(".jsp", "a").Forward("/b", "b").ContentFrom("/a.jsp", "a", "b").
			Backend("a", "a", wrapper.TomcatBackend(9000)).Backend("b", "b", wrapper.GenericBackend(9001, "-a")),
		start("forward-nginx").Nginx().Forward("/", "a").Backend("a", "a", wrapper.GenericBackend(9000)),
		start("pod").Pod(&v1alpha1.PodSettings{NodeSelector: map[string]string{"a": "b"}}),
		start("external").External("https://a").CertificateAuthority("a").Unverified(),
	} {
		t.Run(run.Name, func(t *testing.T) {
			if err := dryCreate(t.Context(), run.Obj(), namespace); err != nil {
				t.Error(err)
			}
		})
	}
}
