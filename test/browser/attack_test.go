package browser_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// smuggled has elements that a fault in the escaping of a report would let into its page: each tries to run, to load, or to change something.
const smuggled = `<script>window.owned = 'a script'</script><img src="x" onerror="window.owned = 'a handler'"><svg onload="window.owned = 'a picture'"></svg>
<script src="data:text/javascript,window.owned='data'"></script><script src="/runs/shop/cart-0001/report?format=json"></script>
<iframe srcdoc="<script>parent.owned = 'a frame'</script>"></iframe><object data="/new"></object><base href="http://elsewhere.example/">
<img src="http://elsewhere.example/leak.png"><style>body { background: url(http://elsewhere.example/leak.css) }</style>
<a id="trap" href="javascript:window.owned='a link'">trap</a>
<form id="change" method="post" action="/runs/shop/cart-0003/suspend"><input name="csrf" value="x"></form>`

// TestSmuggledMarkup puts markup into the page of a report, as if escaping had failed. Nothing of it runs, loads or changes anything: what a script would
// need is neither on the page nor within its reach.
func TestSmuggledMarkup(t *testing.T) {
	pages, err := url.Parse(serveUI(t, 30))
	if err != nil {
		t.Fatal(err)
	}
	var posts, elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		request := r.Clone(r.Context())
		request.URL.Scheme, request.URL.Host, request.Host, request.RequestURI = pages.Scheme, pages.Host, pages.Host, ""
		request.Header.Set("Accept-Encoding", "identity")
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		var body bytes.Buffer
		_, _ = body.ReadFrom(response.Body)
		text := body.String()
		if r.URL.Path == "/runs/shop/cart-0001" {
			text = strings.Replace(text, "</main>", strings.ReplaceAll(smuggled, "http://elsewhere.example", other.URL)+"</main>", 1)
			if !strings.Contains(text, "id=\"trap\"") {
				t.Error("nothing was smuggled")
			}
			response.Header.Del("Content-Length")
		}
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(own.Close)
	tab, end, err := start(t).OpenURL(own.URL+"/runs/shop/cart-0001", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	await(t, tab, `document.querySelector('.timeline .tools') !== null`)
	for name, attempt := range map[string]string{
		"click on a link":             `(document.querySelector('#trap').click(), 'refused')`,
		"send a form":                 `(document.querySelector('#change').submit(), 'refused')`,
		"make markup of a text":       `(() => { try { document.body.innerHTML = '<img src=x>'; return 'done'; } catch (e) { return 'refused'; } })()`,
		"run a text":                  `(() => { try { return window.setTimeout('window.owned = 1') ? 'done' : ''; } catch (e) { return 'refused'; } })()`,
		"read a page with a token":    `fetch('/new').then(() => 'done', () => 'refused')`,
		"load a page into a frame":    `new Promise((done) => { const f = document.createElement('iframe'); f.src = '/new'; document.body.append(f); f.onload = () => { try { done(f.contentDocument && f.contentDocument.forms.length ? 'done' : 'refused'); } catch (e) { done('refused'); } }; setTimeout(() => done('refused'), 2000); })`,
		"send a text to another host": `fetch('` + other.URL + `/', {mode: 'no-cors'}).then(() => 'done', () => 'refused')`,
		"read the cookie":             `document.cookie === '' ? 'refused' : 'done'`,
	} {
		if got := evaluate[string](t, tab, attempt); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if owned := evaluate[string](t, tab, `String(window.owned)`); owned != "undefined" || posts.Load() > 0 {
		t.Errorf("it ran: %s; %d forms were sent", owned, posts.Load())
	}
	if at := evaluate[string](t, tab, `location.href`); at != own.URL+"/runs/shop/cart-0001" {
		t.Errorf("the page is %s", at)
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("another host got %d requests", n)
	}
}

// TestOtherSites has a page of another site use the pages as the user: it reads nothing, and changes nothing.
func TestOtherSites(t *testing.T) {
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	run := uiRun(1)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).Build()
	address := served(t, alice{c}, "a-token")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Other</title><iframe src="` + address + `/new"></iframe>
<form method="post" target="sent" action="` + address + `/runs/shop/cart-0001/delete"><input name="uid" value="uid-cart-0001"><input name="csrf" value="x"></form><iframe name="sent"></iframe>`))
	}))
	t.Cleanup(other.Close)
	tab, end, err := start(t).OpenURL(strings.Replace(other.URL, "127.0.0.1", "localhost", 1), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	await(t, tab, `document.readyState === 'complete'`)
	for name, attempt := range map[string]string{
		"read":           `fetch('` + address + `/new', {credentials: 'include'}).then(() => 'done', () => 'refused')`,
		"read a file":    `fetch('` + address + `/runs/shop/cart-0001/report?format=json', {mode: 'no-cors', credentials: 'include'}).then((r) => r.type === 'opaque' ? 'opaque' : 'done', () => 'refused')`,
		"run a script":   `new Promise((done) => { const s = document.createElement('script'); s.src = '` + address + `/assets/ui.js'; s.onload = () => done('done'); s.onerror = () => done('refused'); document.body.append(s); })`,
		"look at a page": `(() => { try { return frames[0].document.forms.length ? 'done' : 'refused'; } catch (e) { return 'refused'; } })()`,
		"send a form":    `new Promise((done) => { document.querySelector('[name=sent]').onload = () => done('refused'); document.forms[0].submit(); })`,
	} {
		if got := evaluate[string](t, tab, attempt); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{}); err != nil {
		t.Errorf("the run: %v", err)
	}
}
