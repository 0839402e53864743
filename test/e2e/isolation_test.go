//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestServerCanNotReadTheAgentsToken runs a server that tries to look into the agent next to it from its
// start to its end: as the agent's user, and as root, who can become that user.
func TestServerCanNotReadTheAgentsToken(t *testing.T) {
	t.Parallel()
	c := theCluster
	for _, test := range []struct {
		name  string
		level v1alpha1.PodSecurity
		as    int64
		users []string
	}{
		{"user", v1alpha1.PodSecurityRestricted, 65532, []string{"65532"}},
		{"root", v1alpha1.PodSecurityBaseline, 0, []string{"0", "65532"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := &corev1.Namespace{}
			if err := c.Get(t.Context(), client.ObjectKey{Name: c.namespace(t)}, ns); err != nil {
				t.Fatal(err)
			}
			ns.Labels["pod-security.kubernetes.io/enforce"] = strings.ToLower(string(test.level))
			if err := c.Update(t.Context(), ns); err != nil {
				t.Fatal(err)
			}
			run := wrapper.NewRun(ns.Name, "spy", harness.ServerImage).Lane("spy-"+test.name).Args("-spy").Path("/fixed/1000/10").Seconds(1, 2).
				Pod(&v1alpha1.PodSettings{SecurityContext: &v1alpha1.SecurityContext{ContainerSecurityContext: v1alpha1.ContainerSecurityContext{
					UserIdentity: v1alpha1.UserIdentity{RunAsUser: ptr.To(test.as), RunAsGroup: ptr.To(test.as)},
				}}}).Retain(v1alpha1.RetainAlways).Obj()
			run.Spec.Target.PodSecurity = test.level
			c.create(t, run)
			done := c.finished(t, run, 2*time.Minute)
			wantSucceeded(t, done)
			c.serverReport(t, done) // the server has stopped

			pod := c.pod(t, ns.Name, client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget})
			log := string(c.logs(t, pod, "server"))
			for _, user := range test.users {
				if !regexp.MustCompile(`spy: user ` + user + ` saw \[\] in [1-9][0-9]* looks`).MatchString(log) {
					t.Errorf("user %s:\n%s", user, log)
				}
			}
			if log := string(c.logs(t, pod, "agent")); strings.Contains(log, "is readable") {
				t.Errorf("the agent wasn't protected from its start:\n%s", log)
			}
			// The agent still sees of the server what it may: throttling only of its own user's.
			own := test.as != 0
			if u := c.artifact(t, done).Server.End; u.CPU() == 0 || u.Threads == 0 || own && (u.Descriptors <= 0 || u.Throttled < 0) {
				t.Errorf("the agent's metrics: %+v", u)
			}
		})
	}
}

const thiefScript = `
import http from 'k6/http';
import { check } from 'k6';

const token = open('/var/run/assay/token');

export const options = { vus: 1, iterations: 20, insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  http.get(__ENV.ASSAY_TARGET_URL + '/fixed/0/10');
  for (const path of ['/api', '/api/v1/namespaces/' + __ENV.NAMESPACE + '/pods', '/apis/authentication.k8s.io/v1/selfsubjectreviews']) {
    const r = http.get('https://kubernetes.default.svc' + path, { headers: { Authorization: 'Bearer ' + token } });
    check(r, { 'nobody': (r) => token.length > 100 && r.status === 401 });
  }
}
`

// TestScriptCanNotUseItsTokenAtTheAPIServer has a script read its client's token. The API server must not
// know it, although the service account may do everything in the namespace.
func TestScriptCanNotUseItsTokenAtTheAPIServer(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	c.configMap(t, ns, "thief", map[string]string{"script.js": thiefScript})
	c.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "all"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "default"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
	})
	run := wrapper.NewRun(ns, "thief", harness.ServerImage).Lane("thief").Script("thief").Clients(1, "250m", "192Mi").Obj()
	run.Spec.Script.Env = []v1alpha1.EnvironmentVariable{{Name: "NAMESPACE", Value: &ns}}
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if got := thresholds(done); got.Status != metav1.ConditionTrue {
		t.Errorf("%+v", got)
	}
}
