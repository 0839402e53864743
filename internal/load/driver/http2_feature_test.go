package driver

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// TestHTTP2Requests checks that each kind of request arrives at net/http as
// planned.
func TestHTTP2Requests(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := serveHTTP2(t, "", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[fmt.Sprintf("%s %s host=%s ua=%s a=%s type=%s length=%d body=%.9s", r.Method, r.URL, r.Host, r.UserAgent(), r.Header.Get("A"),
			r.Header.Get("Content-Type"), r.ContentLength, body)]++
		mu.Unlock()
		if r.Header.Get("Connection")+r.Header.Get("Keep-Alive") != "" {
			t.Errorf("header fields %v", r.Header)
		}
		w.Header().Set("Content-Length", "5")
		if r.Method == "DELETE" {
			w.Header().Del("Content-Length")
			w.WriteHeader(http.StatusNoContent)
		} else if r.Method != "HEAD" {
			_, _ = io.WriteString(w, "hello")
		}
	})
	long := strings.Repeat("x", 20_000)
	p := streamed(1, 1, 60, "")
	p.Sequential = true
	p.Requests = []session.PlannedRequest{
		{Path: "/a?b=c", Weight: 1, Length: 5},
		{Path: "/a?b=c", Method: "HEAD", Weight: 1, Length: 0, Host: "www.test:81", Headers: []session.Header{{Name: "A", Value: "b: c "}}},
		{Path: "/p", Method: "POST", Weight: 1, Length: 5, Body: []byte("text"), Headers: []session.Header{{Name: "User-Agent", Value: "own"}}},
		{Path: "/e", Method: "PUT", Weight: 1, Length: -1},
		{Path: "/d", Method: "DELETE", Weight: 1, Length: 0, Statuses: []int{204}},
		{Path: "/" + long, Weight: 1, Length: -1},
	}
	got := drive(t, p, server.address)
	if got.Succeeded() != 60 {
		t.Errorf("counts %+v", got.Counts)
	}
	for _, want := range []string{
		"GET /a?b=c host=" + server.address + " ua=assay-load a= type= length=0 body=",
		"HEAD /a?b=c host=www.test:81 ua=assay-load a=b: c type= length=0 body=",
		"POST /p host=" + server.address + " ua=own a= type=text/plain; charset=utf-8 length=4 body=text",
		"PUT /e host=" + server.address + " ua=assay-load a= type= length=0 body=",
		"DELETE /d host=" + server.address + " ua=assay-load a= type= length=0 body=",
		"GET /" + long + " host=" + server.address + " ua=assay-load a= type= length=0 body=",
	} {
		if seen[want] != 10 {
			t.Errorf("%d of %.80s in %v", seen[want], want, len(seen))
		}
	}
}

// TestHTTP2FollowUps checks redirects, cookies and challenges on streams.
func TestHTTP2FollowUps(t *testing.T) {
	directory := t.TempDir()
	for name, text := range map[string]string{session.UsernameKey: "ann", session.PasswordKey: "secret"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	credentials, err := request.ReadCredentials(session.AuthenticationDigest, directory)
	if err != nil {
		t.Fatal(err)
	}
	server := serveHTTP2(t, "", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), `username="ann"`) {
			w.Header().Set("WWW-Authenticate", `Digest realm="r", nonce="n", qop="auth"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/from":
			http.SetCookie(w, &http.Cookie{Name: "c", Value: "1", Path: "/"})
			http.Redirect(w, r, "/to", http.StatusSeeOther)
		default:
			if r.Header.Get("Cookie") != "c=1" {
				w.WriteHeader(http.StatusForbidden)
			}
		}
	})
	p := streamed(2, 3, 60, "/from")
	p.Requests[0].Follow, p.Cookies, p.Authentication = true, true, session.AuthenticationDigest
	got := driveWith(t, p, server.address, Access{Credentials: credentials})
	// Each stream that makes a request is challenged once.
	connections := map[int]bool{}
	for stream := range got.made {
		connections[stream/3] = true
	}
	if got.Succeeded() != 60 || server.requests.Load() != int64(2*60+len(got.made)) || int(got.Connections) != len(connections) {
		t.Errorf("counts %+v, the server had %d requests", got.Counts, server.requests.Load())
	}
}

// TestHTTP2List checks that each stream goes through a list from its beginning.
func TestHTTP2List(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := serveHTTP2(t, "", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		seen[fmt.Sprintf("%s %s host=%s ua=%s length=%d body=%s", r.Method, r.URL, r.Host, r.UserAgent(), r.ContentLength, body)]++
		mu.Unlock()
		_, _ = io.WriteString(w, r.URL.Path)
	})
	p := listPlan(t, 2, 50, "/a?b=c\nPOST /d\n/longer/"+strings.Repeat("e", 200)+"\nHEAD /f 2")
	p.Streams, p.Sequential, p.Host = 5, true, "www.test"
	p.Lengths = map[string]int64{"/a?b=c": 2, "/longer/" + strings.Repeat("e", 200): 3}
	got := drive(t, p, server.address)
	const rest = " host=www.test ua=assay-load length=0 body="
	long := "GET /longer/" + strings.Repeat("e", 200) + rest
	round := []string{"GET /a?b=c" + rest, "POST /d" + rest, long, "HEAD /f" + rest, "HEAD /f" + rest}
	want := map[string]int{}
	for _, requests := range got.made {
		for i := range requests {
			want[round[i%len(round)]]++
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Succeeded() != int64(50-seen[long]) || got.Errors[result.ErrorLength] != int64(seen[long]) {
		t.Errorf("counts %+v, the server saw %v", got.Counts, seen)
	}
}

// TestHTTP2AtARate checks that an open load uses no more connections than it
// needs, and all streams of one before the next.
func TestHTTP2AtARate(t *testing.T) {
	server := serveHTTP2(t, "", func(http.ResponseWriter, *http.Request) {})
	p := streamed(50, 20, 300, "/")
	p.Arrivals = &session.Arrivals{Shares: 1}
	p.Measurement.Profile = profile.Profile{{From: 1000, To: 1000}}
	got := drive(t, p, server.address)
	if got.Succeeded()+got.Dropped != 300 || got.Succeeded() < 200 {
		t.Errorf("counts %+v", got.Counts)
	}
	for stream := range len(got.made) {
		if got.made[stream] == 0 {
			t.Errorf("%d streams made requests, but not stream %d", len(got.made), stream)
		}
	}
	if used := int64(len(got.made)+p.Streams-1) / int64(p.Streams); got.Connections != used {
		t.Errorf("%d connections, %d streams made requests", got.Connections, len(got.made))
	}
	if n := got.Latencies.Get(result.Delay).Count(); n != got.Succeeded() {
		t.Errorf("%d delays", n)
	}
}

// TestHTTP2ThinkTime checks that each stream has think time, and that the profile
// excludes connections.
func TestHTTP2ThinkTime(t *testing.T) {
	server := serveHTTP2(t, "", func(http.ResponseWriter, *http.Request) {})
	p := streamed(2, 4, 0, "/")
	p.ThinkTime = &session.ThinkTime{MinMicroseconds: 50_000, MaxMicroseconds: 50_000}
	p.Measurement = session.Amount{DurationMicroseconds: 400_000, Profile: profile.Profile{
		{From: 2, To: 2, DurationMicroseconds: 200_000}, {From: 1, To: 1, DurationMicroseconds: 200_000},
	}}
	got := drive(t, p, server.address)
	// Each stream makes at most one request in 50 ms: four streams all the time, four for half of it.
	if got.Succeeded() != got.Requests || got.Requests > 4*9+4*5 || got.Requests < 8 || got.Connections != 2 {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestHTTP2NeedsALPN checks a TLS server that speaks only HTTP/1.1, with and
// without ALPN.
func TestHTTP2NeedsALPN(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	directory := tlstest.Directory(t, tlstest.Files{CA: authority.PEM(), Client: authority.ECDSA(t)})
	own, err := tls.LoadX509KeyPair(filepath.Join(directory, "client.crt"), filepath.Join(directory, "client.key"))
	if err != nil {
		t.Fatal(err)
	}
	for name, protocols := range map[string][]string{"without ALPN": nil, "with another protocol": {"http/1.1"}} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: protocols},
				func(testserver.Request) testserver.Answer { return testserver.OK(1) })
			p := streamed(1, 2, 6, "/")
			p.TLS = &session.TLS{}
			got := driveWith(t, p, server.Address(), Access{TLS: tlsConfig(t, &p, server.Address(), directory)})
			if got.Errors[result.ErrorTLS] != 6 || server.Seen().Requests > 0 {
				t.Errorf("counts %+v", got.Counts)
			}
		})
	}
}

// TestHTTP2Stop stops a stage with requests in flight.
func TestHTTP2Stop(t *testing.T) {
	arrived := make(chan struct{}, 100)
	address := serveFrames(t, serveEach(func(*peer, uint32) { arrived <- struct{}{} }))
	p := streamed(2, 3, 600, "/")
	load := newLoad(t, &p, address, Access{})
	r := &tapRecorder{Recorder: recorder.New(1)}
	stage := load.NewStage(p.Measurement, r)
	go stage.Run(0, 1)
	await(t, stage.Ready(), "the streams to be ready")
	stage.Begin(time.Now())
	for range 6 {
		<-arrived
	}
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
	recorder.NewSampler(r.Recorder, stage.start, nil, func(*result.ClientSecond) {}).Run(stage.Done())
	if len(r.outcomes) > 0 || r.Total().Unanswered != 6 {
		t.Errorf("outcomes %+v, %d unanswered", r.outcomes, r.Total().Unanswered)
	}
}

// TestHTTP2StreamNumbersExhausted checks connections that run out of stream
// numbers.
func TestHTTP2StreamNumbersExhausted(t *testing.T) {
	lastStream = 21
	defer func() { lastStream = 0 }()
	server := serveHTTP2(t, "", func(http.ResponseWriter, *http.Request) {})
	got := drive(t, streamed(1, 4, 110, "/"), server.address)
	if got.Succeeded() != 110 || got.Connections != 10 {
		t.Errorf("counts %+v", got.Counts)
	}
}
