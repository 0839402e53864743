package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/standalone"
)

func TestPlan(t *testing.T) {
	job, err := Read([]byte(`
url: https://www.example.org:8443
host: other.example.org
load:
  requests:
    - path: /a?b=c
      weight: 3
      length: 1024
    - path: /d
  connection: {keepAlive: Disabled, timeoutSeconds: 2}
  closed: {connections: 25, requests: 50000}
warmup: {durationSeconds: 5}
tls:
  serverName: www.test
  protocols: [TLSv1.2]
  ciphers: [ECDHE-RSA-AES256-GCM-SHA384]
  verification: None
  sessionResumption: Enabled
  certificateAuthorityFile: ca.pem
  clientCertificateFile: /etc/client.pem
`), "example", "/plans")
	if err != nil {
		t.Fatal(err)
	}
	want := &session.Plan{
		Connections: 25, TimeoutMicroseconds: 2_000_000, Host: "other.example.org",
		TLS: &session.TLS{
			ServerName: "www.test", Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-RSA-AES256-GCM-SHA384"},
			Unverified: true, Resume: true, ClientCertificate: true,
		},
		Requests:    []session.PlannedRequest{{Path: "/a?b=c", Weight: 3, Length: 1024}, {Path: "/d", Weight: 1, Length: -1}},
		Warmup:      &session.Amount{DurationMicroseconds: 5_000_000},
		Measurement: session.Amount{Requests: 50000},
	}
	if diff := cmp.Diff(want, job.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := standalone.Files{Authority: "/plans/ca.pem", Certificate: "/etc/client.pem", Key: "/etc/client.pem"}
	if job.Name != "example" || job.Files != files || standalone.Target(job.URL) != "www.example.org:8443" {
		t.Errorf("job %+v", job)
	}
}

func TestDefaults(t *testing.T) {
	job, err := Read([]byte("{url: 'http://localhost/x?y', load: {closed: {connections: 2, durationSeconds: 3}}}"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	want := &session.Plan{
		Connections: 2, KeepAlive: true, TimeoutMicroseconds: 30_000_000,
		Requests:    []session.PlannedRequest{{Path: "/x?y", Weight: 1, Length: -1}},
		Measurement: session.Amount{DurationMicroseconds: 3_000_000},
	}
	if diff := cmp.Diff(want, job.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if target := standalone.Target(job.URL); target != "localhost:80" {
		t.Errorf("target %s", target)
	}
}

func TestRefusals(t *testing.T) {
	const rest = "\nload: {closed: {connections: 2, requests: 10}}"
	for _, test := range []struct{ name, plan, want string }{
		{"empty", "", "it's empty"},
		{"no YAML", "url: [", "line 1"},
		{"two documents", "url: http://a" + rest + "\n---\nurl: http://b", "more than one document"},
		{"an unknown field", "url: http://a\nlaod: {}", "line 2: there is no field laod in the plan: take some of url, host, load, warmup, tls"},
		{"one deeper", "url: http://a\nload:\n  closed:\n    conections: 3", "line 4: there is no field conections in load.closed: take some of connections, requests, durationSeconds"},
		{"a field twice", "url: http://a\nurl: http://b", "already defined"},
		{"a word for a number", "url: http://a\nload: {closed: {connections: many}}", "line 2: `many` can't be used: give a whole number"},
		{"a text for fields", "url: http://a\nload: 3", "line 2: `3` can't be used: give fields or a list of them"},
		{"no url", strings.TrimSpace(rest), "url: it's missing: give http://"},
		{"another scheme", "url: ftp://a" + rest, `url: "ftp://a" can't be used`},
		{"no such port", "url: http://a:99999" + rest, "has no port that there can be"},
		{"no load", "url: http://a", "load.closed: it's missing"},
		{"no connections", "url: http://a\nload: {closed: {requests: 1}}", "load.closed.connections: it's missing"},
		{"none", "url: http://a\nload: {closed: {connections: 0, requests: 1}}", "load.closed.connections: it's 0: give a number from 1 to 20000"},
		{"both amounts", "url: http://a\nload: {closed: {connections: 1, requests: 1, durationSeconds: 1}}", "load.closed: give exactly one of requests and durationSeconds"},
		{"too few requests", "url: http://a\nload: {closed: {connections: 3, requests: 2}}", "load.closed.requests: it's 2 for 3 connections"},
		{"an empty warm-up", "url: http://a\nwarmup: {}" + rest, "warmup: give exactly one of"},
		{"a relative path", "url: http://a\nload: {requests: [{path: x}], closed: {connections: 1, requests: 1}}", `load.requests[0].path: "x" must begin with a slash`},
		{"no weight", "url: http://a\nload: {requests: [{path: /, weight: 0}], closed: {connections: 1, requests: 1}}", "load.requests[0].weight: it's 0: give a number from 1"},
		{"two paths", "url: http://a/x\nload: {requests: [{path: /}], closed: {connections: 1, requests: 1}}", "url: it has a path beside load.requests"},
		{"keepAlive as a boolean", "url: http://a\nload: {connection: {keepAlive: maybe}, closed: {connections: 1, requests: 1}}", `load.connection.keepAlive: it's "maybe": give Enabled or Disabled`},
		{"no timeout", "url: http://a\nload: {connection: {timeoutSeconds: 0}, closed: {connections: 1, requests: 1}}", "load.connection.timeoutSeconds: it's 0: give a number from 1 to 3600"},
		{"TLS without it", "url: http://a\ntls: {}" + rest, "tls: the url begins with http"},
		{"an unknown protocol", "url: https://a\ntls: {protocols: [SSLv3]}" + rest, "tls.protocols[0]: there is no SSLv3: take some of TLSv1, "},
		{"an unknown cipher", "url: https://a\ntls: {ciphers: [ECDHE-RSA-AES256-SHA384]}" + rest, "tls.ciphers[0]: the clients don't have the cipher suite ECDHE-RSA-AES256-SHA384: take some of "},
		{"a key alone", "url: https://a\ntls: {clientKeyFile: k}" + rest, "tls.clientKeyFile: there is no certificate for it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Read([]byte(test.plan), "", ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
