//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestSamplesOfServers makes the runs of samples with Debian's builds of their servers: with the sample's configuration, volumes and
// backends, but 400 requests.
func TestSamplesOfServers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		image    string
		command  []string
		software string // of the response; it is that of Tomcat, or none, behind a proxy
	}{
		"caddy":   {"localhost/assay-test/caddy:2", []string{"caddy", "run", "--config", "/etc/caddy/Caddyfile"}, "Caddy"},
		"haproxy": {"localhost/assay-test/haproxy:2", []string{"haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theCluster
			ns := c.namespace(t)
			text, err := os.ReadFile("../../config/samples/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			first, second, found := strings.Cut(string(text), "\n---\n")
			var configuration corev1.ConfigMap
			var run v1alpha1.BenchmarkRun
			if err := yaml.UnmarshalStrict([]byte(first+"\n"), &configuration); err != nil || !found {
				t.Fatal(found, err)
			}
			if err := yaml.UnmarshalStrict([]byte(second), &run); err != nil {
				t.Fatal(err)
			}
			namespace := &corev1.Namespace{}
			if err := c.Get(t.Context(), client.ObjectKey{Name: ns}, namespace); err != nil {
				t.Fatal(err)
			}
			namespace.Labels["pod-security.kubernetes.io/enforce"] = strings.ToLower(string(cmp.Or(run.Spec.Target.PodSecurity, v1alpha1.PodSecurityRestricted)))
			if err := c.Update(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}
			c.configMap(t, ns, configuration.Name, configuration.Data)
			run.Namespace, run.Spec.Lane = ns, "samples-"+name
			target := &run.Spec.Target
			target.Image, target.Server.Generic.Command, target.Resources = test.image, test.command, wrapper.Resources("300m", "128Mi")
			for i := range target.Backends {
				target.Backends[i].Image, target.Backends[i].Resources = tomcat11Image, wrapper.Resources("300m", "256Mi")
			}
			run.Spec.Clients = v1alpha1.Clients{Replicas: ptr.To(int32(1)), Resources: wrapper.Resources("100m", "64Mi")}
			run.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: 4, RequestCount: ptr.To(int64(400))}
			run.Spec.Load.Warmup = nil
			c.create(t, &run)
			done := c.finished(t, &run, 5*time.Minute)
			wantSucceeded(t, done)
			wantAll(t, done, 400)
			if got := done.Status.Target.ServerSoftware; got != test.software {
				t.Errorf("the server is %q, want %q", got, test.software)
			}
			for _, b := range done.Status.Target.Backends {
				if !strings.HasPrefix(b.ServerVersion, "Apache Tomcat/11.") {
					t.Errorf("backend %+v", b)
				}
			}
		})
	}
}
