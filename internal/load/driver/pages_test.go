package driver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// pagePlan returns a load of users with the given number of connections each.
func pagePlan(users, connections int, pages int64, of ...session.Page) session.Plan {
	p := plan(users, pages, "/")
	p.Requests, p.Pages, p.UserConnections, p.Sequential = nil, of, connections, true
	return p
}

// page returns a page with the given elements.
func page(document string, elements ...string) session.Page {
	return session.Page{Document: session.PlannedRequest{Path: document, Weight: 1, Length: -1}, Elements: elements}
}

func repeated(path string, n int) []string { return strings.Fields(strings.Repeat(path+" ", n)) }

func TestPageTimesAreExact(t *testing.T) {
	for name, test := range map[string]struct {
		elements, connections int
		want                  time.Duration // with 100 ms for each request
		opened                int64         // connections by each user
	}{
		"a document alone":              {0, 6, 100 * time.Millisecond, 1},
		"one element":                   {1, 6, 200 * time.Millisecond, 1},
		"as many as connections":        {6, 6, 200 * time.Millisecond, 6},
		"twice as many":                 {12, 6, 300 * time.Millisecond, 6},
		"one more than connections":     {7, 6, 300 * time.Millisecond, 6},
		"fewer elements than there can": {3, 6, 200 * time.Millisecond, 3},
		"one connection":                {5, 1, 600 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pagePlan(4, test.connections, 40, page("/", repeated("/e", test.elements)...))
				p.ThinkTime = &session.ThinkTime{MinMicroseconds: 500_000, MaxMicroseconds: 500_000}
				got := virtually(t, p, after(100*time.Millisecond))
				times := got.Latencies.Get(result.Page)
				if want := test.want.Microseconds(); times.Count() != 40 || times.Min() != want || times.Max() != want || times.Sum() != 40*want {
					t.Errorf("%d page times from %d to %d, want %d", times.Count(), times.Min(), times.Max(), want)
				}
				want := result.Counts{Pages: 40, Rounds: 40, Requests: int64(40 * (1 + test.elements)), Connections: 4 * test.opened}
				c := got.Counts
				if c.Pages != want.Pages || c.Rounds != want.Rounds || c.Requests != want.Requests || c.Connections != want.Connections || c.Errors.Total() != 0 || c.FailedPages != 0 {
					t.Errorf("counts %+v", c)
				}
				// Ten pages of each user one after the other, with think times between them.
				if elapsed := 10*test.want + 9*500*time.Millisecond; got.elapsed < elapsed || got.elapsed > elapsed+600*time.Millisecond {
					t.Errorf("took %v, want %v and the last think time", got.elapsed, elapsed)
				}
			})
		})
	}
}

// TestElementsWaitForTheDocument holds the order in which a user makes requests.
func TestElementsWaitForTheDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pagePlan(1, 3, 2, page("/a", repeated("/e", 4)...))
		got := virtually(t, p, after(time.Second))
		want := []time.Duration{1, 2, 2, 2, 3, 4, 5, 5, 5, 6}
		for i, o := range got.outcomes {
			if o.Ended != want[i]*time.Second {
				t.Errorf("request %d ended after %v, want %d s", i, o.Ended, want[i])
			}
		}
		if len(got.outcomes) != len(want) {
			t.Errorf("%d requests", len(got.outcomes))
		}
	})
}

// seenPages counts requests by path and method.
type seenPages struct {
	mu   sync.Mutex
	seen map[string]int
}

func (s *seenPages) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen[r.Method+" "+r.URL.RequestURI()+" "+string(body)+r.Header.Get("X-Kind")+r.Header.Get("Content-Type")]++
		s.mu.Unlock()
		status := "200 OK"
		if strings.HasPrefix(r.URL.Path, "/missing") {
			status = "404 Not Found"
		}
		_, _ = conn.Write([]byte("HTTP/1.1 " + status + "\r\nContent-Length: 4\r\n\r\nabcd"))
	}
}

// TestFailedPages holds that a page fails with any of its requests, that the elements of a document
// that failed aren't requested, and which requests are made.
func TestFailedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &seenPages{seen: map[string]int{}}
		form := page("/form", "/e?b", "/e?b")
		form.Document.Method, form.Document.Body = "POST", []byte("x=1")
		form.Document.Headers = []session.Header{{Name: "X-Kind", Value: "k"}, {Name: "content-type", Value: "text/x"}}
		wrong := page("/ok", "/long")
		p := pagePlan(1, 2, 15*6, page("/a", "/e", "/e"), form, page("/b", "/e", "/missing", "/e"), page("/missing-document", "/never"), wrong, page("/c"))
		p.Lengths = map[string]int64{"/long": 5, "/e": 4}
		got := virtually(t, p, seen.serve)

		c := got.Counts
		if c.Pages != 90 || c.FailedPages != 45 || c.FailedRounds != 15 || c.Rounds != 0 {
			t.Errorf("%d pages, %d failed, %d rounds, %d failed", c.Pages, c.FailedPages, c.Rounds, c.FailedRounds)
		}
		if c.Errors != (result.ErrorCounts{result.ErrorStatus: 30, result.ErrorLength: 15}) {
			t.Errorf("errors %v", c.Errors)
		}
		if n := got.Latencies.Get(result.Page).Count(); n != 45 {
			t.Errorf("%d page times", n)
		}
		want := map[string]int{
			"GET /a ": 15, "GET /e ": 60, "POST /form x=1ktext/x": 15, "GET /e?b k": 30, "GET /b ": 15, "GET /missing ": 15,
			"GET /missing-document ": 15, "GET /ok ": 15, "GET /long ": 15, "GET /c ": 15,
		}
		for request, n := range want {
			if seen.seen[request] != n {
				t.Errorf("%q was made %d times, want %d", request, seen.seen[request], n)
			}
		}
		if len(seen.seen) != len(want) {
			t.Errorf("requests %v", seen.seen)
		}
	})
}

// TestUserLevels holds that users come and go with a profile, with all their connections.
func TestUserLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pagePlan(8, 3, 0, page("/", repeated("/e", 3)...))
		p.ThinkTime = &session.ThinkTime{MinMicroseconds: 800_000, MaxMicroseconds: 800_000}
		p.Measurement = session.Amount{DurationMicroseconds: 30_000_000, Profile: profile.Profile{
			{From: 2, To: 2, DurationMicroseconds: 10_000_000, Level: true},
			{From: 8, To: 8, DurationMicroseconds: 10_000_000, Level: true},
			{From: 4, To: 4, DurationMicroseconds: 10_000_000, Level: true},
		}}
		var mu sync.Mutex
		open, most := 0, map[int]int{}
		start := time.Now()
		got := virtually(t, p, func(conn net.Conn) {
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				open += n
				level := int(time.Since(start) / (10 * time.Second))
				most[level] = max(most[level], open)
			}
			count(1)
			reader := bufio.NewReader(conn)
			for readRequest(reader) {
				count(0)
				time.Sleep(100 * time.Millisecond)
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"))
			}
			count(-1)
		})
		if got.Pages != 10*2+10*8+10*4 || got.Requests != 4*got.Pages || got.Connections != 8*3 {
			t.Errorf("%d pages, %d requests, %d connections", got.Pages, got.Requests, got.Connections)
		}
		// Users end when they come to think of the next page, a second into the last level.
		if most[0] != 2*3 || most[1] != 8*3 || open != 0 {
			t.Errorf("connections by level: %v, left %d", most, open)
		}
	})
}

// TestPagesOverTCP loads pages from a real server with real sockets, whose counters must agree.
func TestPagesOverTCP(t *testing.T) { inBothModes(t, testPagesOverTCP) }

func testPagesOverTCP(t *testing.T) {
	s := testserver.New(t, func(r testserver.Request) testserver.Answer {
		switch {
		case strings.HasPrefix(r.Path, "/broken"):
			return testserver.Text(0, testserver.Reset)
		case r.Path == "/last":
			return testserver.Text(4, testserver.Close, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nabcd")
		}
		return testserver.OK(512)
	})
	p := pagePlan(20, 6, 2000, page("/a", append(repeated("/e", 10), "/last")...), page("/b"), page("/c", "/broken", "/e", "/e"), page("/d", "/e"))
	p.Lengths = map[string]int64{"/e": 512}
	got := drive(t, p, s.Address())
	seen := s.Seen()
	// The pages of a stage aren't divided evenly among users, who take the next one when they are free.
	if got.Pages != 2000 || got.Requests != seen.Requests || got.Connections != seen.Connections {
		t.Errorf("%d pages; %d requests and %d connections, the server saw %d and %d", got.Pages, got.Requests, got.Connections, seen.Requests, seen.Connections)
	}
	if broken := seen.Paths["/broken"]; got.FailedPages != broken || got.Errors != (result.ErrorCounts{result.ErrorReceive: broken}) {
		t.Errorf("%d failed pages, errors %v; %d resets", got.FailedPages, got.Errors, broken)
	}
	if got.Latencies.Get(result.Page).Count() != got.SucceededPages() || got.Latencies.Get(result.Total).Count() != got.Succeeded() {
		t.Errorf("%d page times, counts %+v", got.Latencies.Get(result.Page).Count(), got.Counts)
	}
	if rounds := got.FailedRounds; got.Rounds != 0 || rounds < (2000-20*3)/4 || rounds > 500 {
		t.Errorf("%d rounds, %d failed", got.Rounds, rounds)
	}
}

// TestStopPages stops a load while pages are being loaded: nothing may be left, and no outcome of
// what was under way.
func TestStopPages(t *testing.T) { inBothModes(t, testStopPages) }

func testStopPages(t *testing.T) {
	release := make(chan struct{})
	s := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/slow" {
			<-release
		}
		return testserver.OK(4)
	})
	defer close(release)
	p := pagePlan(10, 4, 1000, page("/a", "/e", "/slow", "/slow", "/e", "/e"))
	load := newLoad(t, &p, s.Address(), Access{})
	r := &tapRecorder{Recorder: recorder.New(1)}
	stage := load.NewStage(p.Measurement, r)
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() { stage.Run(i, 3) })
	}
	await(t, stage.Ready(), "the connections to be ready")
	stage.Begin(time.Now())
	eventually(t, func() bool { return r.count() == 10*4 }, "all users to wait for a slow element")
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
	group.Wait()
	if got := r.count(); got != 40 {
		t.Errorf("%d outcomes", got)
	}
}

// TestStopPagesBeforeTheStart stops a load that has not begun.
func TestStopPagesBeforeTheStart(t *testing.T) { inBothModes(t, testStopPagesBeforeTheStart) }

func testStopPagesBeforeTheStart(t *testing.T) {
	p := pagePlan(10, 4, 1000, page("/a", "/e"))
	load := newLoad(t, &p, "127.0.0.1:1", Access{})
	stage := load.NewStage(p.Measurement, &tapRecorder{Recorder: recorder.New(1)})
	var group sync.WaitGroup
	group.Go(func() { stage.Run(0, 1) })
	await(t, stage.Ready(), "the connections to be ready")
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
	group.Wait()
}
