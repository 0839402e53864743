//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// pagesHost is the host of ui.url.
const pagesHost = "localhost:8080"

// TestPages serves the pages for many users from the chart's Deployment. A user with a token follows a run live by their own rights, one without
// the rights sees nothing of it, and the report is there when the run has finished.
func TestPages(t *testing.T) {
	c := theCluster
	helm(t, "upgrade", "assay", chart, "--values", restored(t), "--set", "ui.enabled=true,ui.url=http://"+pagesHost, "--wait", "--timeout", "2m")
	served := c.pod(t, harness.OperatorNamespace, client.MatchingLabels{"app.kubernetes.io/component": "ui"})
	ns := c.namespace(t)
	viewer, stranger := c.viewer(t, ns, "viewer"), c.tokenOf(t, ns, "stranger")

	run := wrapper.NewRun(ns, "seen", harness.ServerImage).Path("/fixed/2000/100").Seconds(2, 12).Obj()
	c.create(t, run)
	page := "/runs/" + ns + "/" + run.Name
	alice, mallory := browse(served.Status.PodIP, viewer), browse(served.Status.PodIP, stranger)
	if status, body := alice.get(t, page); status != http.StatusOK || !strings.Contains(body, run.Name) {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := mallory.get(t, page); status != http.StatusForbidden {
		t.Errorf("who may not get the run: %d %s", status, body)
	}

	if windows := alice.follow(t, page+"/events"); len(windows) < 3 {
		t.Fatalf("the page had the windows %q of a measurement of 12 s", windows)
	}
	done := c.finished(t, run, time.Minute)
	wantSucceeded(t, done)
	if status, body := alice.get(t, page+"/report"); status != http.StatusOK || !strings.Contains(body, "Distribution") {
		t.Errorf("the report: %d, %d bytes", status, len(body))
	}
}

// tokenOf returns the token of a new service account.
func (c *cluster) tokenOf(t *testing.T, namespace, name string) string {
	t.Helper()
	c.create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	request, err := c.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// viewer returns the token of a new service account that may see the namespace.
func (c *cluster) viewer(t *testing.T, namespace, name string) string {
	t.Helper()
	token := c.tokenOf(t, namespace, name)
	c.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	})
	return token
}

// pages is a browser at the pages of a pod, behind a proxy that adds a token.
type pages struct{ base, token string }

func browse(address, token string) *pages { return &pages{"http://" + address + ":8080", token} }

func (p *pages) do(t *testing.T, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = pagesHost
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Authorization", "Bearer "+p.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func (p *pages) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response := p.do(t, path)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

var secondsOfWindow = regexp.MustCompile(`Metrics are of the seconds from \w+ to \w+`)

// follow reads the events of a run's page until the report is there. It returns the windows of the measurement that the page had.
func (p *pages) follow(t *testing.T, path string) []string {
	t.Helper()
	response := p.do(t, path)
	defer response.Body.Close()
	var windows []string
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var event struct {
			Parts  map[string]string `json:"parts"`
			Reload bool              `json:"reload"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		if window := secondsOfWindow.FindString(event.Parts["metrics"]); window != "" && !slices.Contains(windows, window) {
			windows = append(windows, window)
		}
		if event.Reload {
			return windows
		}
	}
	t.Fatalf("the events ended: %v", lines.Err())
	return nil
}
