package request

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// plan returns a plan for the given requests, in their order.
func planOfSet(requests ...session.PlannedRequest) *session.Plan {
	for i := range requests {
		requests[i].Weight = max(1, requests[i].Weight)
	}
	return &session.Plan{Connections: 1, KeepAlive: true, Sequential: true, Requests: requests}
}

// listed returns a plan for a list of requests, in their order.
func listed(tb testing.TB, text string) *session.Plan {
	tb.Helper()
	entries, err := requestlist.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	p := planOfSet()
	if p.RequestList, err = requestlist.Encode(entries); err != nil {
		tb.Fatal(err)
	}
	return p
}

// setOf returns the requests of a plan.
func setOf(tb testing.TB, p *session.Plan) *Set {
	tb.Helper()
	s, err := NewSet(p, "127.0.0.1:81", nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestRequestsAsWritten(t *testing.T) {
	common := &commonHeaders{keepAlive: true, generated: []byte("0123456789")}
	for name, test := range map[string]struct {
		planned session.PlannedRequest
		common  *commonHeaders
		want    string
	}{
		"least": {session.PlannedRequest{Path: "/a?b=c"}, common,
			"GET /a?b=c HTTP/1.1\r\nHost: h\r\nUser-Agent: assay-load\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"},
		"its own host": {session.PlannedRequest{Method: "HEAD", Path: "/", Host: "o:81"}, &commonHeaders{},
			"HEAD / HTTP/1.1\r\nHost: o:81\r\nUser-Agent: assay-load\r\nAccept: */*\r\nConnection: close\r\n\r\n"},
		"other headers": {
			session.PlannedRequest{Path: "/", Headers: []session.Header{{Name: "user-agent", Value: "u"}, {Name: "X", Value: "y: z"}}},
			&commonHeaders{keepAlive: true, authorization: "Bearer t"},
			"GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nuser-agent: u\r\nX: y: z\r\nAuthorization: Bearer t\r\nConnection: keep-alive\r\n\r\n"},
		"text": {session.PlannedRequest{Method: "DELETE", Path: "/", Body: []byte("ß")}, common,
			"DELETE / HTTP/1.1\r\nHost: h\r\nUser-Agent: assay-load\r\nAccept: */*\r\nContent-Type: text/plain; charset=utf-8\r\n" +
				"Content-Length: 2\r\nConnection: keep-alive\r\n\r\nß"},
		"made": {session.PlannedRequest{Method: "PUT", Path: "/", GeneratedBytes: 4, Headers: []session.Header{{Name: "Content-Type", Value: "a/b"}}}, common,
			"PUT / HTTP/1.1\r\nHost: h\r\nUser-Agent: assay-load\r\nAccept: */*\r\nContent-Length: 4\r\nContent-Type: a/b\r\n" +
				"Connection: keep-alive\r\n\r\n0123"},
		"no body": {session.PlannedRequest{Method: "POST", Path: "/"}, common,
			"POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: assay-load\r\nAccept: */*\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRequest(&test.planned, "h", test.common)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(r.Bytes) + string(r.LongBody); got != test.want {
				t.Errorf("got\n%q, want\n%q", got, test.want)
			}
			if _, body, _ := strings.Cut(test.want, "\r\n\r\n"); string(r.Bytes[r.Fields:]) != "\r\n"+body {
				t.Errorf("further headers would come before %q", r.Bytes[r.Fields:])
			}
		})
	}
}

// TestListRequestsAsWritten compares requests from a list with the same requests
// outside of a list.
func TestListRequestsAsWritten(t *testing.T) {
	p := listed(t, "/a?b=c\nPOST /longer/d\nHEAD /e\n/f")
	p.Lengths = map[string]int64{"/a?b=c": 3, "/longer/d": 3, "/e": 3}
	set := setOf(t, p)
	choose := set.Chooser(0)
	for i, planned := range []session.PlannedRequest{
		{Path: "/a?b=c", Length: 3}, {Method: "POST", Path: "/longer/d", Length: -1}, {Method: "HEAD", Path: "/e", Length: -1}, {Path: "/f", Length: -1},
		{Path: "/a?b=c", Length: 3},
	} {
		want, err := newRequest(&planned, "127.0.0.1:81", &set.common)
		if err != nil {
			t.Fatal(err)
		}
		got := choose()
		if diff := cmp.Diff(string(want.Bytes), string(got.Bytes)); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
		if got.Fields != want.Fields || got.Length != want.Length || got.NoBody != want.NoBody || got.Host != want.Host {
			t.Errorf("request %d: %+v, want %+v", i, got, want)
		}
		if diff := cmp.Diff(session.PlannedRequest{Method: planned.Method, Path: planned.Path, Decoded: true}, *got.Planned); diff != "" {
			t.Errorf("request %d as planned (-want +got):\n%s", i, diff)
		}
	}
}

func TestRequestsInSequence(t *testing.T) {
	p := planOfSet(session.PlannedRequest{Path: "/a", Weight: 2}, session.PlannedRequest{Path: "/b"}, session.PlannedRequest{Path: "/c", Weight: 3})
	set := setOf(t, p)
	for connection := range 2 {
		choose := set.Chooser(connection)
		var got []string
		for range 9 {
			got = append(got, choose().Planned.Path)
		}
		if want := strings.Fields("/a /a /b /c /c /c /a /a /b"); !slices.Equal(got, want) {
			t.Errorf("connection %d makes %v, want %v", connection, got, want)
		}
	}
}
func TestRequestsAreDrawnByWeight(t *testing.T) {
	p := planOfSet(session.PlannedRequest{Path: "/a"}, session.PlannedRequest{Path: "/b", Weight: 3}, session.PlannedRequest{Path: "/c", Weight: 6})
	p.Seed, p.Sequential = 42, false
	set := setOf(t, p)
	const draws = 100_000
	counts := map[*Request]int{}
	choose, again, other := set.Chooser(0), set.Chooser(0), set.Chooser(1)
	differ := false
	for range draws {
		r := choose()
		counts[r]++
		if again() != r {
			t.Fatal("the same seed and connection have another sequence")
		}
		differ = differ || other() != r
	}
	if !differ {
		t.Error("two connections have the same sequence")
	}
	for i, weight := range []int{1, 3, 6} {
		if share := counts[set.Requests[i]] * 10 * 100 / draws; share < weight*100-10 || share > weight*100+10 {
			t.Errorf("request %d of weight %d was drawn %d times of %d", i, weight, counts[set.Requests[i]], draws)
		}
	}
}

// TestListsAreSmall checks that the longest list takes only a few MiB of a
// client's memory.
func TestListsAreSmall(t *testing.T) {
	p := listed(t, strings.Repeat("/assets/\n", requestlist.MaxRequests))
	before := heapBytes()
	set := setOf(t, p)
	if used := heapBytes() - before; used > 8<<20 {
		t.Errorf("%d requests take %.1f MiB", len(set.list.entries), float64(used)/(1<<20))
	}
	runtime.KeepAlive(set)
}

// heapBytes returns the number of bytes in use after a garbage collection.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// BenchmarkListed measures choosing the next request: from the longest list, and
// from as many requests as a spec may have.
func BenchmarkListed(b *testing.B) {
	for name, p := range map[string]*session.Plan{
		"list":     listed(b, strings.Repeat("/assets/index.html?page=1\n", 30_000)),
		"weighted": listed(b, strings.Repeat("/assets/index.html?page=1 2\n", 30_000)),
		"spec":     planOfSet(make([]session.PlannedRequest, 128)...),
	} {
		for i := range p.Requests {
			p.Requests[i] = session.PlannedRequest{Path: "/assets/index.html?page=1", Weight: 2}
		}
		p.Sequential = false
		set := setOf(b, p)
		b.Run(name, func(b *testing.B) {
			choose := set.Chooser(0)
			b.ReportAllocs()
			for b.Loop() {
				choose()
			}
		})
	}
}
