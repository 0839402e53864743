package driver

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// ofSeveral makes a plan one of several requests: one that succeeds, one that fails by its status, one whose server is rude, one that is
// redirected, and one with a name that has a path and a method in common with another.
func ofSeveral(p session.Plan) session.Plan {
	p.Requests = []session.PlannedRequest{
		{Path: "/good", Weight: 4, Length: -1},
		{Path: "/missing", Weight: 3, Length: -1},
		{Name: "rude", Path: "/rude", Weight: 1, Length: -1},
		{Path: "/moved", Weight: 1, Length: -1, Follow: true},
		{Name: "sent", Method: "POST", Path: "/good", Body: []byte("hello"), Weight: 2, Length: -1},
		{Path: "/good", Host: "other", Weight: 1, Length: -1},
	}
	return p
}

// answerSeveral returns what answers them. Every second rude request is reset.
func answerSeveral() func(testserver.Request) testserver.Answer {
	var rude atomic.Int64
	return func(r testserver.Request) testserver.Answer {
		switch path, _, _ := strings.Cut(r.Path, "?"); path {
		case "/missing":
			return testserver.Status("404 Not Found")
		case "/rude":
			if rude.Add(1)%2 == 0 {
				return testserver.Text(0, testserver.Reset)
			}
			return testserver.Text(0, testserver.Stay, "HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n")
		case "/moved":
			return testserver.Text(0, testserver.Stay, "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
		case "/there":
			return testserver.Status("203 Non-Authoritative Information")
		}
		return testserver.OK(200)
	}
}

// TestRequestsAreCountedApart compares the metrics of each request of a mix with what the server has seen, with each way of
// driving. driveWith checks that they add up.
func TestRequestsAreCountedApart(t *testing.T) { inBothModes(t, testRequestsAreCountedApart) }

func testRequestsAreCountedApart(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	files := tlstest.Files{CA: authority.PEM(), Client: authority.ECDSA(t)}
	with := func(p session.Plan, change func(*session.Plan)) session.Plan {
		change(&p)
		return p
	}
	for name, p := range map[string]session.Plan{
		"keep-alive":      plan(5, 600, ""),
		"connection each": with(plan(5, 200, ""), func(p *session.Plan) { p.KeepAlive = false }),
		"in order":        with(plan(5, 600, ""), func(p *session.Plan) { p.Sequential = true }),
		"cookies":         with(plan(5, 300, ""), func(p *session.Plan) { p.Cookies = true }),
		"open":            open(8, 400, 1e9),
		"stages": with(plan(6, 0, ""), func(p *session.Plan) {
			p.Measurement = session.Amount{DurationMicroseconds: 400_000, Profile: profile.Profile{{To: 6, DurationMicroseconds: 200_000}, {From: 6, To: 6}}}
		}),
		"TLS":                 with(planTLS(4, 300, session.TLS{Protocols: []string{"TLSv1.3"}}), func(*session.Plan) {}),
		"TLS connection each": with(planTLS(4, 100, session.TLS{Protocols: []string{"TLSv1.3"}}), func(p *session.Plan) { p.KeepAlive = false }),
	} {
		t.Run(name, func(t *testing.T) {
			p := ofSeveral(p)
			var server *testserver.Server
			var got stageResult
			if p.TLS == nil {
				server = testserver.New(t, answerSeveral())
				got = drive(t, p, server.Address())
			} else {
				server = testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{authority.ECDSA(t).Certificate}}, answerSeveral())
				got = driveTLS(t, p, server.Address(), files)
			}
			seen := server.Seen().Paths
			if len(got.requests) != 5 {
				t.Fatalf("metrics of %v", slices.Sorted(maps.Keys(got.requests)))
			}
			checkMix(t, &got, map[string]int64{
				"good": seen["/good"], "missing": seen["/missing"], "rude": seen["/rude"], "moved": seen["/moved"],
			})
		})
	}
}

func checkMix(t *testing.T, got *stageResult, seen map[string]int64) {
	t.Helper()
	good, missing, rude, moved, sent := got.requests["GET /good"], got.requests["GET /missing"], got.requests["rude"], got.requests["GET /moved"], got.requests["sent"]
	counts := map[string]int64{"good": good.Requests + sent.Requests, "missing": missing.Requests, "rude": rude.Requests, "moved": moved.Requests}
	if diff := cmp.Diff(seen, counts); diff != "" {
		t.Errorf("requests (-seen +counted):\n%s", diff)
	}
	if sent.Requests == 0 || good.Requests <= sent.Requests {
		t.Errorf("%d requests of good, %d of sent", good.Requests, sent.Requests)
	}
	for name, m := range map[string]result.RequestMetrics{"good": good, "sent": sent, "moved": moved} {
		if m.Errors.Total() > 0 || m.Latency.Count() != m.Requests {
			t.Errorf("%s: %d requests, %d timed, errors %v", name, m.Requests, m.Latency.Count(), m.Errors)
		}
	}
	if missing.Errors[result.ErrorStatus] != missing.Requests || missing.Latency != nil {
		t.Errorf("missing: %d requests, errors %v", missing.Requests, missing.Errors)
	}
	if rude.Errors.Total() != rude.Requests || rude.Errors[result.ErrorReceive] == 0 || rude.Errors[result.ErrorStatus] == 0 {
		t.Errorf("rude: %d requests, errors %v", rude.Requests, rude.Errors)
	}
	want := result.Statuses{200: good.Requests + sent.Requests, 203: moved.Requests, 404: missing.Requests, 999: rude.Errors[result.ErrorStatus]}
	if !maps.Equal(got.statuses, want) {
		t.Errorf("statuses %v, want %v", got.statuses, want)
	}
}

// TestHTTP2RequestsAreCountedApart is like TestRequestsAreCountedApart with HTTP/2.
func TestHTTP2RequestsAreCountedApart(t *testing.T) {
	for name, p := range map[string]session.Plan{"closed": streamed(2, 5, 600, ""), "open": open(3, 400, 1e9)} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			seen := map[string]int64{}
			server := serveHTTP2(t, "", func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				n := seen[r.URL.Path[1:]]
				seen[r.URL.Path[1:]]++
				mu.Unlock()
				switch r.URL.Path {
				case "/missing":
					w.WriteHeader(404)
				case "/moved":
					http.Redirect(w, r, "/there", http.StatusFound)
				case "/there":
					w.WriteHeader(203)
				case "/rude":
					if n%2 == 0 {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(999)
				}
			})
			p := ofSeveral(p)
			p.Streams = 5
			got := drive(t, p, server.address)
			delete(seen, "there")
			checkMix(t, &got, seen)
		})
	}
}

// TestElementsAreCountedApart checks the metrics of the requests of pages: an element of several pages has them once.
func TestElementsAreCountedApart(t *testing.T) { inBothModes(t, testElementsAreCountedApart) }

func testElementsAreCountedApart(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/lost" {
			return testserver.Status("410 Gone")
		}
		return testserver.OK(100)
	})
	p := pagePlan(4, 3, 40, page("/a", "/style", "/logo", "/style"), page("/b", "/style", "/lost"))
	got := drive(t, p, server.Address())
	counts := map[string]int64{}
	for name, m := range got.requests {
		counts[strings.TrimPrefix(name, "GET ")] = m.Requests
	}
	if diff := cmp.Diff(server.Seen().Paths, counts); diff != "" {
		t.Errorf("requests (-seen +counted):\n%s", diff)
	}
	if lost := got.requests["GET /lost"]; lost.Errors[result.ErrorStatus] != lost.Requests || got.statuses[410] != lost.Requests {
		t.Errorf("%d lost, errors %v, statuses %v", lost.Requests, lost.Errors, got.statuses)
	}
}

// TestManyRequestsAreCountedTogether checks that the requests beyond those with metrics of their own have some in common.
func TestManyRequestsAreCountedTogether(t *testing.T) {
	server := testserver.New(t, five)
	p := pagePlan(1, 3, 4, page("/a"))
	for i := range 4 {
		var elements []string
		for j := range 50 {
			elements = append(elements, fmt.Sprintf("/%d-%d", i, j))
		}
		p.Pages = append(p.Pages, page(fmt.Sprint("/page-", i), elements...))
	}
	p.Measurement.Requests = 5
	got := drive(t, p, server.Address())
	if len(got.requests) != result.MaxNamedRequests+1 || got.requests[result.OtherRequests].Requests != 205-result.MaxNamedRequests {
		t.Errorf("metrics of %d requests, %d of others", len(got.requests), got.requests[result.OtherRequests].Requests)
	}
}
