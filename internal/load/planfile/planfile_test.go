package planfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

func TestPlan(t *testing.T) {
	job, err := Read([]byte(`
url: https://www.example.org:8443
host: other.example.org
load:
  requests:
    - path: /a?b=c
      weight: 3
      expect: {bodyBytes: 1024}
    - path: /d
      method: POST
      headers: [{name: X-A, value: b}]
      body: {text: hello}
  client: {keepAlive: Disabled, timeoutSeconds: 2}
  closed: {connections: 25, requestCount: 50000}
  warmup: {durationSeconds: 5}
tls:
  serverName: www.test
  protocols: [TLSv1.2]
  ciphers: [ECDHE-RSA-AES256-GCM-SHA384]
  groups: [P-256]
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
			ServerName: "www.test", Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-RSA-AES256-GCM-SHA384"}, Groups: []string{"P-256"},
			Unverified: true, Resume: true, ClientCertificate: true,
		},
		Requests: []session.PlannedRequest{{Path: "/a?b=c", Weight: 3, Length: 1024}, {
			Path: "/d", Method: "POST", Headers: []session.Header{{Name: "X-A", Value: "b"}}, Body: []byte("hello"), Weight: 1, Length: -1,
		}},
		Warmup:      &session.Amount{DurationMicroseconds: 5_000_000},
		Measurement: session.Amount{Requests: 50000},
	}
	job.Plan.Seed = 0
	if diff := cmp.Diff(want, job.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := standalone.Files{CA: "/plans/ca.pem", Certificate: "/etc/client.pem", Key: "/etc/client.pem"}
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
	job.Plan.Seed = 0
	if diff := cmp.Diff(want, job.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if target := standalone.Target(job.URL); target != "localhost:80" {
		t.Errorf("target %s", target)
	}
}

func TestOpenLevelsWithCredentials(t *testing.T) {
	job, err := Read([]byte(`
url: http://localhost
credentialsDirectory: secret
load:
  authentication: {scheme: Digest}
  stages:
    interArrivalTimes: Poisson
    levels: [{requestsPerSecond: 10, holdSeconds: 2}, {requestsPerSecond: 30, rampSeconds: 1, holdSeconds: 2}]
    stopAt: [{metric: ErrorRate, above: 10%}, {metric: LatencyP99, above: 0.5s}]
  warmup: {requestCount: 5}
`), "", "/plans")
	if err != nil {
		t.Fatal(err)
	}
	job.Plan.Seed = 0
	want := &session.Plan{
		Connections: 1000, KeepAlive: true, TimeoutMicroseconds: 30_000_000, Authentication: "Digest",
		Requests: []session.PlannedRequest{{Path: "/", Weight: 1, Length: -1}},
		Arrivals: &session.Arrivals{Shares: 1, Poisson: true},
		Warmup:   &session.Amount{Requests: 5, Profile: profile.Profile{{From: 10, To: 10}}},
		Measurement: session.Amount{DurationMicroseconds: 5_000_000, Profile: profile.Profile{
			{From: 10, To: 10, DurationMicroseconds: 2_000_000, Level: true},
			{From: 10, To: 30, DurationMicroseconds: 1_000_000},
			{From: 30, To: 30, DurationMicroseconds: 2_000_000, Level: true},
		}},
	}
	if diff := cmp.Diff(want, job.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := job.Stages
	if len(s.Levels) != 2 || len(s.Steps) != 1 || s.Steps[0].From != 10 || s.Steps[0].TargetRatePerSecond != 30 || s.Load.End != 5 || !s.Load.Rate {
		t.Errorf("stages %+v", s)
	}
	if bounds := (breakingpoint.Bounds{ErrorPercent: 10, LatencyP99: 500_000}); s.StopAt != bounds || s.Bounds != bounds.Or(breakingpoint.Defaults) {
		t.Errorf("bounds %+v and %+v", s.StopAt, s.Bounds)
	}
	if job.Load != result.LoadOpen || job.Credentials != "/plans/secret" {
		t.Errorf("job %+v", job)
	}
}

func TestListOfRequests(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "urls.txt"), []byte("# all\n/a\nPOST /b 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const plan = "{url: 'http://localhost', requestsFile: urls.txt, load: {order: Sequential, closed: {connections: 2, durationSeconds: 3}}}"
	job, err := Read([]byte(plan), "", folder)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := requestlist.Decode(job.Plan.RequestList)
	if err != nil {
		t.Fatal(err)
	}
	want := []requestlist.Entry{{Method: "GET", Path: "/a", Weight: 1}, {Method: "POST", Path: "/b", Weight: 3}}
	if diff := cmp.Diff(want, entries); diff != "" || len(job.Plan.Requests) != 0 || !job.Plan.Sequential {
		t.Errorf("plan %+v; (-want +got):\n%s", job.Plan, diff)
	}
	if diff := cmp.Diff(&result.RequestList{File: "urls.txt", Requests: 2}, job.RequestList); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefusals has what a plan has beside what a BenchmarkRun has, how it is told with its line, and some of what the
// schema refuses; TestSchemaIsTheAPIs in package schema has all of that.
func TestRefusals(t *testing.T) {
	const rest = "\nload:\n  closed: {connections: 2, requestCount: 10}"
	const closed = ", closed: {connections: 1, requestCount: 1}}"
	for _, test := range []struct{ name, plan, want string }{
		{"empty", "", "the plan is empty"},
		{"no YAML", "url: [", "line 1"},
		{"two documents", "url: http://a" + rest + "\n---\nurl: http://b", "more than one document"},
		{"an unknown field", "url: http://a\nlaod: {}", "line 2: laod: unknown field; use load"},
		{"one deeper", "url: http://a\nload:\n  closed:\n    conections: 3", "line 4: load.closed.conections: unknown field; use connections: 3"},
		{"a word of k6", "url: http://a\nload: {vus: 5, duration: 10s, closed: {}}", "load.duration: unknown field; use load.closed.durationSeconds: 10"},
		{"another", "url: http://a\nload: {closed: {vus: 5, duration: 10s}}", "load.closed.vus: unknown field; use connections: 5"},
		{"a duration", "url: http://a\nload: {closed: {connections: 5, durationSeconds: 10s}}", `must be a whole number, not "10s"; use durationSeconds: 10`},
		{"unverified", "url: https://a\ninsecure: true\nload: {closed: {connections: 5, durationSeconds: 1}}", "line 2: insecure: unknown field; use tls.verification: None"},
		{"nothing like it", "url: http://a\nxyzzy: {}", "line 2: xyzzy: unknown field; the fields here are credentialsDirectory, host, load, requestsFile, tls, url"},
		{"one in a list", "url: http://a\nload:\n  requests:\n  - path: /\n    size: 3", "line 5: load.requests[0].size: unknown field; "},
		{"a field twice", "url: http://a\nurl: http://b", "already defined"},
		{"a word for a number", "url: http://a\nload: {closed: {connections: many}}", "line 2: load.closed.connections: must be a whole number, not \"many\""},
		{"a fraction", "url: http://a\nload: {closed: {connections: 2.5}}", "line 2: load.closed.connections: must be a whole number, not 2.5"},
		{"a number for fields", "url: http://a\nload: 3", "line 2: load: must be a mapping, not 3"},
		{"a number for all", "3", "cannot unmarshal"},
		{"no url", strings.TrimSpace(rest), `line 1: url: "" must be http://`},
		{"another scheme", "url: ftp://a" + rest, `url: "ftp://a" must be http:// or https://`},
		{"no URL", "url: 'http://a b'" + rest, `url: "http://a b" must be http:// or https://`},
		{"no such port", "url: http://a:99999" + rest, "the port must be from 1 to 65535"},
		{"a path that can't be sent", "url: 'http://a/?q={a}'" + rest, "line 1: url: must begin with a slash and have only characters that a URL may have"},
		{"no load", "url: http://a", "load: must be set"},
		{"an empty load", "url: http://a\nload: {}", "load: exactly one of the fields in [closed open stages] must be set"},
		{"no connections", "url: http://a\nload: {closed: {connections: 0, requestCount: 1}}", "load.closed.connections: must be from 1 to 20000, not 0"},
		{"a null", "url: http://a\nload: {closed: {connections: null, requestCount: 1}}", "exactly one of the fields in [connections users]"},
		{"no levels", "url: http://a\nload: {stages: {levels: []}}", "load.stages.levels: must have from 1 to 20 items, not 0"},
		{"no method", "url: http://a\nload: {requests: [{path: /, method: get}]" + closed, `load.requests[0].method: must be one of [GET HEAD POST PUT PATCH DELETE OPTIONS], not "get"`},
		{"an element with a space", "url: http://a\nload: {requests: [{path: /, elements: ['/a b']}], pages: {}, closed: {users: 1, requestCount: 1}}", `load.requests[0].elements[0]: must match`},
		{"a script", "url: http://a\nload: {script: {configMapName: a}}", "line 2: load.script: unknown field"},
		{"a stop twice", "url: http://a\nload: {stages: {stopAt: [{metric: ErrorRate, above: 1%}, {metric: ErrorRate, above: 2%}], levels: [{connections: 1, holdSeconds: 1}]}}", "load.stages.stopAt[1]: must not be there twice"},
		{"a stop by the target's CPU", "url: http://a\nload: {stages: {stopAt: [{metric: TargetCPU, above: 90%}], levels: [{connections: 1, holdSeconds: 1}]}}", "load.stages.stopAt[0]: TargetCPU is for runs in a cluster"},
		{"a Secret", "url: http://a\nload: {authentication: {scheme: Basic, secretName: a}" + closed, "load.authentication.secretName: Secrets are not available: use credentialsDirectory"},
		{"no credentials", "url: http://a\nload: {authentication: {scheme: Basic}" + closed, "credentialsDirectory: must be set to a directory with the files username and password"},
		{"credentials for nothing", "url: http://a\ncredentialsDirectory: c" + rest, "credentialsDirectory: must not be set without load.authentication"},
		{"a ConfigMap", "url: http://a\nload: {requestsFrom: {configMapKeyRef: {name: a, key: b}}" + closed, "load.requestsFrom: ConfigMaps are not available: use requestsFile"},
		{"no list", "url: http://a\nrequestsFile: /nowhere" + rest, "requestsFile: open /nowhere: no such file"},
		{"a list and requests", "url: http://a\nrequestsFile: /nowhere\nload: {requests: [{path: /}]" + closed, "line 2: requestsFile: must not be set together with load.requests"},
		{"a list and a path", "url: http://a/x\nrequestsFile: /nowhere" + rest, "url: must not have a path together with requestsFile"},
		{"a name twice", "url: http://a\nload: {requests: [{path: /, name: a}, {path: /b, name: b}, {path: /c, name: a}]" + closed, "load.requests: must not have the same name twice"},
		{"a path as a name", "url: http://a\nload: {requests: [{path: /, name: /a}]" + closed, "load.requests[0].name: "},
		{"a stop by a request", "url: http://a\nload: {stages: {stopAt: [{metric: ErrorRate, request: GET /, above: 1%}], levels: [{connections: 1, holdSeconds: 1}]}}", "stopAt must not have request"},
		{"two paths", "url: http://a/x\nload: {requests: [{path: /}]" + closed, "url: must not have a path together with load.requests"},
		{"TLS without it", "url: http://a\ntls: {}" + rest, "tls: must not be set unless the url begins with https"},
		{"an unknown protocol", "url: https://a\ntls: {protocols: [SSLv3]}" + rest, `tls.protocols[0]: must be one of [TLSv1 TLSv1.1 TLSv1.2 TLSv1.3], not "SSLv3"`},
		{"an unknown cipher", "url: https://a\ntls: {ciphers: [ECDHE-RSA-AES256-SHA384]}" + rest, "tls.ciphers[0]: must be one of [TLS_AES_128_GCM_SHA256 "},
		{"a key alone", "url: https://a\ntls: {clientKeyFile: k}" + rest, "tls.clientKeyFile: must not be set without clientCertificateFile"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Read([]byte(test.plan), "", ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
