package driver

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// listPlan returns a closed load of a number of requests from a list.
func listPlan(tb testing.TB, connections int, requests int64, text string) session.Plan {
	tb.Helper()
	entries, err := requestlist.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	p := plan(connections, requests, "/")
	p.Requests = nil
	if p.RequestList, err = requestlist.Encode(entries); err != nil {
		tb.Fatal(err)
	}
	return p
}

// TestListsAreDriven checks with the server's counts that every connection goes
// through the list from its beginning or draws by weight, and that lengths are
// checked.
func TestListsAreDriven(t *testing.T) {
	ok := func(r testserver.Request) testserver.Answer { return testserver.OK(len(r.Path)) }
	t.Run("in sequence", func(t *testing.T) {
		server := testserver.New(t, ok)
		p := listPlan(t, 3, 30, "/a 2\n/b\n/cc 2")
		p.Sequential, p.Arrivals = true, nil
		p.Lengths = map[string]int64{"/a": 2, "/cc": 4}
		got := drive(t, p, server.Address())
		seen := server.Seen().Paths
		if got.Requests != 30 || got.Errors[result.ErrorLength] != seen["/cc"] || got.Succeeded() != seen["/a"]+seen["/b"] {
			t.Errorf("counts %+v, the server saw %v", got.Counts, seen)
		}
		want := map[string]int64{}
		for _, requests := range got.made {
			for i := range requests {
				want[[]string{"/a", "/a", "/b", "/cc", "/cc"}[i%5]]++
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("at random", func(t *testing.T) {
		var text strings.Builder
		for i := range 10 {
			fmt.Fprintf(&text, "/%d %d\n", i, 1+9*(i/9)) // the last one has ten times the weight
		}
		server := testserver.New(t, ok)
		const requests = 4000
		drive(t, listPlan(t, 4, requests, text.String()), server.Address())
		for path, n := range server.Seen().Paths {
			want := requests / 19.0
			if path == "/9" {
				want *= 10
			}
			if d := math.Abs(float64(n) - want); d > 5*math.Sqrt(want) {
				t.Errorf("%s was requested %d times, want about %.0f", path, n, want)
			}
		}
	})
	t.Run("one by one", func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		server := testserver.New(t, func(r testserver.Request) testserver.Answer {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, r.Method+" "+r.Path)
			return testserver.OK(0)
		})
		p := listPlan(t, 1, 5, "/a\nPUT /b 2\n")
		p.Sequential = true
		drive(t, p, server.Address())
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]string{"GET /a", "PUT /b", "PUT /b", "GET /a", "PUT /b"}, order); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestListCookiesByPath checks that cookies are stored for the path of their own
// request, not for the path of the next one, which reuses the same request value.
func TestListCookiesByPath(t *testing.T) {
	var mu sync.Mutex
	cookies := map[string]string{}
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		mu.Lock()
		defer mu.Unlock()
		cookies[r.Path] = r.Header("Cookie")
		return replying("200 OK", "Set-Cookie: at="+strings.ReplaceAll(r.Path, "/", "_"))
	})
	p := listPlan(t, 1, 6, "/a/1\n/b/1\n/a/2\n")
	p.Sequential, p.Cookies = true, true
	drive(t, p, server.Address())
	mu.Lock()
	defer mu.Unlock()
	want := map[string]string{"/a/1": "at=_a_2", "/b/1": "at=_b_1", "/a/2": "at=_a_1"}
	if !maps.Equal(cookies, want) {
		t.Errorf("cookies %v, want %v", cookies, want)
	}
}

func TestBadListsAreRejected(t *testing.T) {
	p := listPlan(t, 1, 1, "/a")
	p.RequestList = p.RequestList[:10]
	if _, err := New(t.Context(), &p, "127.0.0.1:80", Access{}); err == nil {
		t.Error("a truncated list was accepted")
	}
}
