package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
)

func TestPages(t *testing.T) {
	job, err := Read([]byte(`
url: http://127.0.0.1:8080
load:
  order: Sequential
  requests:
    - {path: /a.html, elements: [/1.gif, /2.gif]}
    - {path: /order, method: POST, body: {text: x=1}}
  pages: {connectionsPerUser: 4}
  stages:
    thinkTime: {minMilliseconds: 500}
    levels:
      - {users: 2, holdSeconds: 1}
      - {users: 5, rampSeconds: 1, holdSeconds: 2}
  warmup: {requestCount: 10}
`), "pages", "/plans")
	if err != nil {
		t.Fatal(err)
	}
	p := job.Plan
	want := []session.Page{
		{Document: session.PlannedRequest{Path: "/a.html", Weight: 1, Length: -1}, Elements: []string{"/1.gif", "/2.gif"}},
		{Document: session.PlannedRequest{Path: "/order", Method: "POST", Body: []byte("x=1"), Weight: 1, Length: -1}},
	}
	if diff := cmp.Diff(want, p.Pages); diff != "" {
		t.Error(diff)
	}
	if p.Connections != 5 || p.UserConnections != 4 || !p.Sequential || p.Requests != nil || len(job.Stages.Levels) != 2 || job.Load != "closed" {
		t.Errorf("plan %+v, stages %+v", p, job.Stages)
	}
}

func TestPagesThatCannotBe(t *testing.T) {
	const page = "url: http://a\nload: {requests: [{path: /, elements: [/e]}], "
	for name, test := range map[string]struct{ plan, want string }{
		"elements without pages":                  {page + "closed: {connections: 1, requestCount: 1}}", "load.requests[0].elements: must not be set unless load.pages is: set pages to {}"},
		"users without pages":                     {"url: http://a\nload: {closed: {users: 1, requestCount: 1}}", "load.closed.users: must not be set without load.pages"},
		"levels without pages":                    {"url: http://a\nload: {stages: {levels: [{users: 1, holdSeconds: 1}]}}", "load.stages.levels[0].users: must not be set without load.pages"},
		"no users":                                {page + "pages: {}, closed: {requestCount: 1}}", "load.closed.users: must be set to a number"},
		"connections":                             {page + "pages: {}, closed: {connections: 1, users: 1, requestCount: 1}}", "load.closed.connections: must not be set with load.pages: set users"},
		"fewer pages than users":                  {page + "pages: {}, closed: {users: 9, requestCount: 8}}", "load.closed.requestCount: must be at least 9"},
		"levels of connections":                   {page + "pages: {}, stages: {levels: [{connections: 1, holdSeconds: 1}]}}", "load.stages.levels[0]: must have users with load.pages"},
		"a rate":                                  {page + "pages: {}, open: {requestsPerSecond: 1, requestCount: 1}}", "load.open: must not be set with load.pages"},
		"too many connections":                    {page + "pages: {connectionsPerUser: 33}, closed: {users: 1, requestCount: 1}}", "load.pages.connectionsPerUser: must be from 1 to 32, not 33"},
		"more connections than a client may have": {page + "pages: {connectionsPerUser: 21}, closed: {users: 1000, requestCount: 1000}}", "load.pages.connectionsPerUser: times the users must be at most 20000"},
		"cookies":                                 {page + "pages: {}, client: {cookies: Enabled}, closed: {users: 1, requestCount: 1}}", "load.client.cookies: must be Disabled with load.pages"},
		"HTTP/2":                                  {page + "pages: {}, client: {protocol: HTTP2}, closed: {users: 1, requestCount: 1}}", "load.client.protocol: must be HTTP1 with load.pages"},
		"a path with a space":                     {"url: http://a\nload: {requests: [{path: /, elements: ['/a b']}], pages: {}, closed: {users: 1, requestCount: 1}}", `load.requests[0].elements[0]: "/a b" must begin with a slash`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read([]byte(test.plan), "x", ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// FuzzRead reads plans. One that is accepted can be run.
func FuzzRead(f *testing.F) {
	f.Add("url: http://a\nload: {requests: [{path: /, elements: [/e]}], pages: {connectionsPerUser: 2}, closed: {users: 1, requestCount: 1}}")
	f.Add("url: http://a\nload: {requests: [{path: /}], pages: {}, stages: {levels: [{users: 5, holdSeconds: 1}]}}")
	f.Add("url: https://a/b?c\nload: {closed: {connections: 5, durationSeconds: 1}}")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "requestsFile") {
			return // reads a file
		}
		job, err := Read([]byte(text), "x", "/nowhere")
		if err != nil {
			return
		}
		if err := job.Plan.Check(); err != nil {
			t.Errorf("%v, of %s", err, text)
		}
		if (len(job.Plan.Pages) > 0) != (job.Plan.UserConnections > 0) || job.Plan.Connections*max(1, job.Plan.UserConnections) > 20_000*1000 {
			t.Errorf("%d pages, %d users with %d connections, of %s", len(job.Plan.Pages), job.Plan.Connections, job.Plan.UserConnections, text)
		}
	})
}
