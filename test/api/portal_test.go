package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/plugin/ui"
)

// TestPortal opens the pages for many users with tokens of service accounts, as a proxy in front adds them: each sees and changes what the API server lets its
// service account see and change.
func TestPortal(t *testing.T) {
	const namespace = "portal"
	create := func(object client.Object) {
		t.Helper()
		if err := apiClient.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	run := createRun(t, namespace, base, "{}")
	tokenOf := func(name string, verbs ...string) string {
		t.Helper()
		meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
		account := &corev1.ServiceAccount{ObjectMeta: meta}
		create(account)
		if len(verbs) > 0 {
			create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"assay.dev"}, Resources: []string{"benchmarkruns", "benchmarks"}, Verbs: verbs}}})
			create(&rbacv1.RoleBinding{
				ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: namespace}},
			})
		}
		request := &authenticationv1.TokenRequest{}
		if err := apiClient.SubResource("token").Create(t.Context(), account, request); err != nil {
			t.Fatal(err)
		}
		return request.Status.Token
	}
	reader, writer, nobody := tokenOf("reader", "get", "list", "watch"), tokenOf("writer", "get", "list", "watch", "patch", "delete"), tokenOf("nobody")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	portal, err := ui.NewPortal(address, ui.NewLogin(apiConfig))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- portal.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	type visit func(method, path string, form url.Values) (int, string)
	open := func(token string) visit {
		return func(method, path string, form url.Values) (int, string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(body)
		}
	}
	const list, page = "/?namespace=" + namespace, "/runs/" + namespace
	// sees checks that the list has a text.
	sees := func(do visit, path, text string) string {
		t.Helper()
		_, body := do(http.MethodGet, path, nil)
		if !strings.Contains(body, text) {
			t.Errorf("%s lacks %q: %s", path, text, body)
		}
		return body
	}
	suspended := func(do visit) (int, string) {
		t.Helper()
		_, csrf, _ := strings.Cut(sees(do, "/new?namespace="+namespace, `name="csrf"`), `name="csrf" value="`)
		csrf, _, _ = strings.Cut(csrf, `"`)
		return do(http.MethodPost, page+"/"+run.GetName()+"/suspend", url.Values{"csrf": {csrf}})
	}

	asReader := open(reader)
	sees(asReader, list, run.GetName())
	sees(asReader, list, "system:serviceaccount:"+namespace+":reader")
	if body := sees(asReader, "/", "You may not list benchmarkruns in all namespaces"); strings.Contains(body, run.GetName()) {
		t.Errorf("the list of all namespaces has the run: %s", body)
	}
	// A page offers what its user may do, and the API server decides nevertheless.
	offers := func(do visit, texts ...string) {
		t.Helper()
		body := sees(do, page+"/"+run.GetName(), run.GetName())
		for _, text := range []string{"/suspend", "/delete", "/new?from="} {
			if has := strings.Contains(body, run.GetName()+text) || text == "/new?from=" && strings.Contains(body, text); has != slices.Contains(texts, text) {
				t.Errorf("%s is offered: %t\n%s", text, has, body)
			}
		}
	}
	offers(asReader)
	offers(open(writer), "/suspend", "/delete")
	sees(asReader, "/new?namespace="+namespace, "You may not create benchmarkruns in namespace "+namespace)
	if status, body := suspended(asReader); status != http.StatusForbidden || !strings.Contains(body, "forbidden") {
		t.Errorf("a reader suspends a run: %d %s", status, body)
	}
	if status, body := suspended(open(writer)); status != http.StatusOK {
		t.Errorf("a writer suspends a run: %d %s", status, body)
	}
	asNobody := open(nobody)
	if body := sees(asNobody, list, "You may not list benchmarkruns"); strings.Contains(body, run.GetName()) {
		t.Errorf("who may see nothing sees the run: %s", body)
	}
	if status, body := asNobody(http.MethodGet, page+"/"+run.GetName(), nil); status != http.StatusForbidden {
		t.Errorf("who may see nothing opens the run: %d %s", status, body)
	}
	for name, token := range map[string]string{"no token": "x", "a changed one": reader[:len(reader)-4] + "AAAA"} {
		if status, body := open(token)(http.MethodGet, list, nil); status != http.StatusUnauthorized || !strings.Contains(body, "expired") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}
