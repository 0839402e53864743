package driver

import (
	mathrand "math/rand/v2"
	"sync"
	"testing"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// planOf returns a closed load of a number of requests of these kinds, in
// sequence on one connection.
func planOf(requests int64, kinds ...session.PlannedRequest) session.Plan {
	p := plan(1, requests, "/")
	p.Sequential, p.Requests = true, kinds
	for i := range kinds {
		kinds[i].Weight = max(1, kinds[i].Weight)
	}
	return p
}

// TestMethodsAndBodies checks that every method arrives as planned with short and
// long bodies, and that connections are kept.
func TestMethodsAndBodies(t *testing.T) {
	const joined = 64 << 10 // the longest body that is written together with its header section
	const long = joined + 12345
	kinds := []session.PlannedRequest{
		{Method: "HEAD", Path: "/head", Length: -1},
		{Method: "OPTIONS", Path: "/", Length: -1},
		{Method: "DELETE", Path: "/", Length: -1},
		{Method: "PATCH", Path: "/", Body: []byte("a\r\n\r\nb"), Length: 6},
		{Method: "PUT", Path: "/", GeneratedBytes: joined, Length: joined},
		{Method: "POST", Path: "/", GeneratedBytes: long, Length: long},
	}
	var mu sync.Mutex
	var seen []testserver.Request
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		mu.Lock()
		seen = append(seen, r)
		mu.Unlock()
		if r.Method == "HEAD" {
			return testserver.Text(0, testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
		}
		return testserver.OK(len(r.Body))
	})
	got := drive(t, planOf(18, kinds...), server.Address())
	server.Stop()
	if got.Succeeded() != 18 || got.Connections != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
	if s := server.Seen(); got.BytesSent != s.BytesReceived || got.BytesReceived != s.BytesSent || got.BodyBytes != s.Body {
		t.Errorf("counts %+v, the server's are %+v", got.Counts, s)
	}
	generated := make([]byte, long)
	_, _ = mathrand.NewChaCha8([32]byte{}).Read(generated) // never fails
	for i, r := range seen {
		planned := kinds[i%len(kinds)]
		want := string(planned.Body)
		if planned.GeneratedBytes > 0 {
			want = string(generated[:planned.GeneratedBytes])
		}
		if r.Method != planned.Method || string(r.Body) != want {
			t.Errorf("request %d is %s with %d bytes, want %s with %d", i, r.Method, len(r.Body), planned.Method, len(want))
		}
	}
}

// TestServerThatReadsNoBody checks that the response counts and that the
// connection is closed, because the server would parse the rest of the body as a
// request.
func TestServerThatReadsNoBody(t *testing.T) {
	for name, answer := range map[string]testserver.Answer{
		"and waits":  testserver.Text(0, testserver.Hang, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"),
		"and closes": testserver.Text(0, testserver.HalfClose, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewHeadsOnly(t, func(testserver.Request) testserver.Answer { return answer })
			p := planOf(3, session.PlannedRequest{Method: "PUT", Path: "/", GeneratedBytes: 32 << 20, Length: -1})
			got := drive(t, p, server.Address())
			if got.Errors[result.ErrorStatus] != 3 || got.Errors.Total() != 3 || got.Connections != 3 {
				t.Errorf("counts %+v", got.Counts)
			}
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
		})
	}
}

func TestExpectedStatus(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer { return testserver.Status(r.Path[1:] + " As Wished") })
	for _, test := range []struct {
		status string
		among  []int
		want   result.ErrorKind
	}{
		{"200", nil, recorder.NoError},
		{"399", nil, recorder.NoError},
		{"400", nil, result.ErrorStatus},
		{"404", []int{200, 404}, recorder.NoError},
		{"200", []int{200, 404}, recorder.NoError},
		{"302", []int{200, 404}, result.ErrorStatus},
	} {
		got := drive(t, planOf(1, session.PlannedRequest{Path: "/" + test.status, Statuses: test.among, Length: -1}), server.Address())
		if got.outcomes[0].Error != test.want {
			t.Errorf("status %s with expected statuses %v: error %v", test.status, test.among, got.outcomes[0].Error)
		}
	}
}
