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
