//go:build e2e

package e2e

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

// The credentials that test/server accepts; see there.
var credentials = map[string][]byte{"username": []byte("user"), "password": []byte("pass word&\n"), "token": []byte("to.ken")}

// authenticated makes a run use a Secret with some of the credentials.
func authenticated(t *testing.T, run *v1alpha1.BenchmarkRun, scheme v1alpha1.AuthenticationScheme, data map[string][]byte) {
	t.Helper()
	theCluster.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: "login"}, Data: data})
	run.Spec.Load.Authentication = &v1alpha1.Authentication{Scheme: scheme, SecretName: "login"}
	run.Spec.Target.Readiness.Path = "/ready"
}

// TestBodiesAndCredentials runs two clients with three connections, which send 50
// requests with each scheme.
func TestBodiesAndCredentials(t *testing.T) {
	for _, test := range []struct {
		scheme  v1alpha1.AuthenticationScheme
		path    string
		request v1alpha1.Request
		// received is the number of body bytes, challenges the number of 401 responses
		// before.
		received, challenges int64
	}{
		{v1alpha1.AuthenticationBasic, "/basic", v1alpha1.Request{Method: "POST", Body: &v1alpha1.Body{Text: "a=ß"}}, 4, 0},
		{v1alpha1.AuthenticationBearer, "/bearer", v1alpha1.Request{Method: "PUT", Body: &v1alpha1.Body{SizeBytes: ptr.To(int64(100_000))}}, 100_000, 0},
		{v1alpha1.AuthenticationDigest, "/digest", v1alpha1.Request{Method: "GET"}, 0, 6},
	} {
		t.Run(string(test.scheme), func(t *testing.T) {
			t.Parallel()
			c := theCluster
			test.request.Path = test.path
			run := loadRun(t, test.path[1:], test.path).Requests(3, 50).Obj()
			run.Spec.Load.Requests = []v1alpha1.Request{test.request}
			authenticated(t, run, test.scheme, credentials)
			c.create(t, run)
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			server := c.serverReport(t, done)[test.path]
			if r := done.Status.Result; *r.Requests != 100 || *r.Errors.Total != 0 {
				t.Errorf("%d requests, errors %+v", *r.Requests, r.Errors)
			}
			if server.Succeeded != 100 || server.Status != test.challenges || server.Received != 100*test.received || server.Methods[string(test.request.Method)] != server.Requests {
				t.Errorf("the server counted %+v", server)
			}
			if stored := c.artifact(t, done); stored.Run.Authentication != string(test.scheme) || stored.Run.Requests[0].Path != test.path {
				t.Errorf("the result is of %+v", stored.Run)
			}
		})
	}
}

// TestMissingCredentials checks that the run fails before the load starts and names
// the field.
func TestMissingCredentials(t *testing.T) {
	t.Parallel()
	run := loadRun(t, "no-credentials", "/basic").Obj()
	authenticated(t, run, v1alpha1.AuthenticationBasic, map[string][]byte{"username": []byte("user")})
	theCluster.create(t, run)
	wantFailed(t, theCluster.finished(t, run, 2*time.Minute), v1alpha1.ReasonConfigurationMissing,
		"spec.load.authentication.secretName", "/login must exist", "keys username and password", "references non-existent secret key: password", "a new run")
}

// TestCookies checks that each connection has its own cookies, also if it is reopened
// for each request.
func TestCookies(t *testing.T) {
	t.Parallel()
	run := loadRun(t, "cookies", "/cookie").Requests(3, 60).KeepAlive(v1alpha1.Disabled).Obj()
	run.Spec.Load.Client.Cookies = v1alpha1.Enabled
	_, server := outcome(t, run, "/cookie")
	if server.Requests != 120 || server.Anonymous != 6 || server.Connections != 120 {
		t.Errorf("the server had %d requests, %d of them anonymous, on %d connections", server.Requests, server.Anonymous, server.Connections)
	}
}

// TestRedirects checks that redirects count as part of the request.
func TestRedirects(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := loadRun(t, "redirects", "").Requests(2, 30).Obj()
	run.Spec.Load.Requests = []v1alpha1.Request{{Path: "/redirect/fixed/0/10", Redirects: v1alpha1.RedirectsFollow, Expect: &v1alpha1.Expectation{BodyBytes: ptr.To(int64(10))}}}
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	server := c.serverReport(t, done)
	if r := done.Status.Result; *r.Requests != 60 || *r.Errors.Total != 0 || server["/redirect/fixed/0/10"].Requests != 60 || server["/fixed/0/10"].Succeeded != 60 {
		t.Errorf("%d requests, errors %+v; the server had %+v", *r.Requests, r.Errors, server)
	}
}

// requestList creates a list of requests and makes a run use it.
func requestList(t *testing.T, run *v1alpha1.BenchmarkRun, text string) {
	t.Helper()
	theCluster.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: "urls"}, Data: map[string]string{"list.txt": text}})
	run.Spec.Load.Requests = nil
	run.Spec.Load.RequestsFrom = &v1alpha1.RequestsSource{ConfigMapKeyRef: v1alpha1.ConfigMapKeyReference{Name: "urls", Key: "list.txt"}}
	run.Spec.Target.Readiness.Path = "/ready"
}

// TestRequestList runs a list of requests that has an invalid line at first.
func TestRequestList(t *testing.T) {
	t.Parallel()
	c := theCluster
	bad := loadRun(t, "bad-list", "").Obj()
	requestList(t, bad, "/a\n/b c d\n")
	c.create(t, bad)
	wantFailed(t, c.finished(t, bad, time.Minute), v1alpha1.ReasonInvalidSpec, "spec.load.requestsFrom", "ConfigMap urls, key list.txt: line 2")

	run := loadRun(t, "list", "").Requests(1, 60).Obj()
	requestList(t, run, "# what users ask for\n/fixed/0/1\n\nPOST /fixed/0/2 3\nHEAD /fixed/0/3 2\n")
	run.Spec.Load.Order = v1alpha1.OrderSequential
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	server := c.serverReport(t, done)
	for path, want := range map[string]map[string]int64{"/fixed/0/1": {"GET": 20}, "/fixed/0/2": {"POST": 60}, "/fixed/0/3": {"HEAD": 40}} {
		if !maps.Equal(server[path].Methods, want) {
			t.Errorf("%s: the server counted %v, want %v", path, server[path].Methods, want)
		}
	}
	stored := c.artifact(t, done)
	if l := stored.Run.RequestList; stored.Merged.Succeeded() != 120 || l == nil || l.Requests != 3 || !stored.Run.Sequential {
		t.Errorf("%d requests, the result is of %+v", stored.Merged.Succeeded(), stored.Run)
	}
}

// formRun returns a run whose connections log in with a form and are reopened for
// each request.
func formRun(t *testing.T, name, path string, form v1alpha1.FormLogin, secret map[string][]byte) *v1alpha1.BenchmarkRun {
	t.Helper()
	run := loadRun(t, name, path).Requests(3, 30).KeepAlive(v1alpha1.Disabled).Obj()
	authenticated(t, run, v1alpha1.AuthenticationForm, secret)
	run.Spec.Load.Authentication.Form = &form
	run.Spec.Load.Client.Cookies = v1alpha1.Enabled
	return run
}

// TestFormLogin checks that six connections log in once each, before the warm-up.
func TestFormLogin(t *testing.T) {
	t.Parallel()
	c := theCluster
	form := v1alpha1.FormLogin{Page: "/form/page", Path: "/form/login", Expect: &v1alpha1.LoginExpectation{Location: "/form/page"}}
	wrong := formRun(t, "wrong-login", "/form/page", form, map[string][]byte{"username": []byte("user"), "password": []byte("no")})
	c.create(t, wrong)
	wantFailed(t, c.finished(t, wrong, time.Minute), v1alpha1.ReasonClientFailed, "POST /form/login: unexpected status 403 Forbidden", "Check load.authentication")

	run := formRun(t, "form", "/form/page", form, credentials)
	run.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(int64(10))}
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	server := c.serverReport(t, done)
	// Each login is redirected to the page.
	if login, page := server["/form/login"], server["/form/page"]; login.Succeeded != 6 || login.Requests != 6 || page.Anonymous != 6 || page.Succeeded != 2*(30+10)+6 {
		t.Errorf("the server had logins %+v and pages %+v", login, page)
	}
	if r := done.Status.Result; *r.Requests != 60 || *r.Errors.Total != 0 || *r.BodyBytesReceived != 60*int64(len("page")) {
		t.Errorf("%d requests, errors %+v, %d bytes", *r.Requests, r.Errors, *r.BodyBytesReceived)
	}
}

const webXML = `<web-app xmlns="http://xmlns.jcp.org/xml/ns/javaee" version="4.0">
  <security-constraint>
    <web-resource-collection><web-resource-name>all</web-resource-name><url-pattern>/private/*</url-pattern></web-resource-collection>
    <auth-constraint><role-name>reader</role-name></auth-constraint>
  </security-constraint>
  <login-config>
    <auth-method>FORM</auth-method>
    <form-login-config><form-login-page>/login.html</form-login-page><form-error-page>/error.html</form-error-page></form-login-config>
  </login-config>
  <security-role><role-name>reader</role-name></security-role>
</web-app>
`

// contextXML makes Tomcat authenticate users from tomcat-users.xml.
const contextXML = `<Context><Realm className="org.apache.catalina.realm.MemoryRealm"/></Context>
`

// TestTomcatFormLogin uses Tomcat's FORM authentication. Without a login the response
// would have another length.
func TestTomcatFormLogin(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := formRun(t, "tomcat-form", "/private/a.html", v1alpha1.FormLogin{
		Page: "/private/a.html", Path: "/private/j_security_check", UsernameField: "j_username", PasswordField: "j_password",
	}, credentials)
	c.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: "app"}, Data: map[string]string{
		"web.xml": webXML, "login.html": `<form action="j_security_check"><input name="j_username"><input type="password" name="j_password"></form>`, "error.html": "no",
	}})
	c.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: "users"}, Data: map[string]string{
		"context.xml": contextXML, "tomcat-users.xml": `<tomcat-users xmlns="http://tomcat.apache.org/xml" version="1.0"><user username="user" password="pass word&amp;" roles="reader"/></tomcat-users>`,
	}})
	run.Spec.Target.Image, run.Spec.Target.Resources = tomcatImage, wrapper.Resources("300m", "256Mi")
	run.Spec.Target.Server = v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "users"}}}
	file := func(path, key string) v1alpha1.ContentFile {
		return v1alpha1.ContentFile{Path: path, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "app", Key: key}}
	}
	run.Spec.Target.Content = []v1alpha1.ContentFile{
		file("/WEB-INF/web.xml", "web.xml"), file("/login.html", "login.html"), file("/error.html", "error.html"), {Path: "/private/a.html", SizeBytes: 777}, {Path: "/ready", SizeBytes: 1},
	}
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	if r := done.Status.Result; *r.Requests != 60 || *r.Errors.Total != 0 || *r.BodyBytesReceived != 60*777 {
		t.Errorf("%d requests, errors %+v, %d bytes", *r.Requests, r.Errors, *r.BodyBytesReceived)
	}
}
