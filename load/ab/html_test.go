package ab

import (
	"bytes"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/standalone"
)

// TestHTML compares the report with one that ApacheBench 2.3 printed.
func TestHTML(t *testing.T) {
	want, err := os.ReadFile("testdata/post.html")
	if err != nil {
		t.Fatal(err)
	}
	o, err := Parse(strings.Fields("-n 3 -p body -x border=1 -y align=left http://127.0.0.1:18999/x"))
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string {
		text = strings.ReplaceAll(text, "BaseHTTP/0.6", "x")
		return figure.ReplaceAllString(strings.TrimSpace(text), "#")
	}
	r := sample(3, 0, 0, false)
	if diff := cmp.Diff(plain(string(want)), plain(htmlReport(t, o, "http://127.0.0.1:18999/x", r.Environment.ServerSoftware))); diff != "" {
		t.Errorf("report (-ab +assay-load):\n%s", diff)
	}
}

// TestHTMLIsEscaped checks that the URL and the server's name are escaped.
func TestHTMLIsEscaped(t *testing.T) {
	o := &Options{Requests: 3, Concurrency: 1, KeepAlive: true}
	got := htmlReport(t, o, "http://127.0.0.1/a?<script>alert(1)</script>", `<b>"&`)
	if strings.Contains(got, "<script") || strings.Contains(got, "<b>") || !strings.Contains(got, "&lt;b&gt;&#34;&amp;") || !strings.Contains(got, "Keep-Alive requests:") {
		t.Errorf("got %s", got)
	}
}

func htmlReport(t *testing.T, o *Options, target, software string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := sample(3, 0, 0, false)
	r.Environment.ServerSoftware = software
	job := &standalone.Job{URL: u, Plan: &session.Plan{Requests: []session.PlannedRequest{{Path: u.RequestURI(), Length: 1024}}}}
	var text bytes.Buffer
	if err := o.ReportHTML(&text, job, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
