package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pagePlan() *Plan {
	return &Plan{
		Connections: 4, UserConnections: 6, KeepAlive: true, TimeoutMicroseconds: 1, Measurement: Amount{Requests: 10}, Seed: 1,
		Pages: []Page{
			{
				Document: PlannedRequest{Path: "/a", Host: "h", Weight: 2, Length: 7, Follow: true, Headers: []Header{{"X-A", "b"}, {"content-TYPE", "text/x"}}, Method: "POST", Body: []byte("x")},
				Elements: []string{"/1", "/2?a=b", "/1"},
			},
			{Document: PlannedRequest{Path: "/b", Weight: 1, Length: -1}},
		},
		Lengths: map[string]int64{"/1": 3},
	}
}

func TestPagesComeAcross(t *testing.T) {
	plan := pagePlan()
	got, err := DecodePlan(encoded(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, got); diff != "" {
		t.Error(diff)
	}
}

func TestElement(t *testing.T) {
	plan := pagePlan()
	want := &PlannedRequest{Path: "/1", Host: "h", Weight: 1, Length: 3, Decoded: true, Follow: true, Headers: []Header{{"X-A", "b"}}}
	if diff := cmp.Diff(want, plan.Pages[0].Element("/1", 3)); diff != "" {
		t.Error(diff)
	}
}

func TestPlansOfPagesThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		change func(p *Plan)
		want   string
	}{
		"without connections":        {func(p *Plan) { p.UserConnections = 0 }, "0 connections of each user"},
		"with too many connections":  {func(p *Plan) { p.UserConnections = MaxUserConnections + 1 }, "33 connections of each user"},
		"connections without pages":  {func(p *Plan) { p.Requests, p.Pages = []PlannedRequest{{Path: "/", Weight: 1}}, nil }, "without pages"},
		"with requests":              {func(p *Plan) { p.Requests = []PlannedRequest{{Path: "/", Weight: 1}} }, "2 pages and requests"},
		"over HTTP/2":                {func(p *Plan) { p.Streams = 1 }, "over HTTP/2"},
		"with cookies":               {func(p *Plan) { p.Cookies = true }, "cookies"},
		"at a rate":                  {func(p *Plan) { p.Arrivals = &Arrivals{Shares: 1} }, "arrival rate"},
		"a document without a path":  {func(p *Plan) { p.Pages[1].Document.Path = "" }, "page 1"},
		"a document without weight":  {func(p *Plan) { p.Pages[1].Document.Weight = 0 }, "page 1"},
		"an element without a slash": {func(p *Plan) { p.Pages[0].Elements[1] = "x" }, "page 0: element 1"},
		"an element with a line":     {func(p *Plan) { p.Pages[0].Elements[2] = "/ HTTP/1.1\r\nX: y" }, "page 0: element 2"},
		"too many elements":          {func(p *Plan) { p.Pages[0].Elements = make([]string, MaxElements+1) }, "page 0: 65 elements"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := pagePlan()
			test.change(plan)
			if err := plan.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// FuzzPlan decodes plans of pages. One that is accepted has only requests that can't add a line to another, and comes
// across again.
func FuzzPlan(f *testing.F) {
	f.Add(encoded(f, pagePlan()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, err := DecodePlan(data)
		if err != nil {
			return
		}
		for i := range plan.Pages {
			page := &plan.Pages[i]
			for _, path := range append([]string{page.Document.Path}, page.Elements...) {
				if path == "" || path[0] != '/' || strings.ContainsAny(path, " \r\n\x00\x7f") {
					t.Fatalf("page %d has the path %q", i, path)
				}
			}
		}
		if len(plan.Pages) > 0 && (plan.UserConnections < 1 || plan.UserConnections > MaxUserConnections || len(plan.Requests) > 0) {
			t.Fatalf("%d connections, %d requests", plan.UserConnections, len(plan.Requests))
		}
		if _, err := DecodePlan(encoded(t, plan)); err != nil {
			t.Fatalf("the same plan again: %v", err)
		}
	})
}
