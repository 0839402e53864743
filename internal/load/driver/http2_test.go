package driver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// streamed returns a plan with HTTP/2.
func streamed(connections, streams int, requests int64, path string) session.Plan {
	p := plan(connections, requests, path)
	p.Streams = streams
	return p
}

// http2Server is a net/http server that speaks only HTTP/2, with what it
// observed.
type http2Server struct {
	address     string
	server      *http.Server
	connections atomic.Int64
	requests    atomic.Int64
	// peak is the largest number of concurrent requests.
	active, peak atomic.Int64
	mu           sync.Mutex
	peers        map[string]int
}

// serveHTTP2 starts a server that stops at the end of the test. With a
// certificate in directory it speaks TLS.
func serveHTTP2(t *testing.T, directory string, handler http.HandlerFunc) *http2Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http2Server{address: listener.Addr().String(), peers: map[string]int{}}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(directory != "")
	protocols.SetUnencryptedHTTP2(directory == "")
	s.server = &http.Server{
		Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.connections.Add(1)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.requests.Add(1)
			now := s.active.Add(1)
			for most := s.peak.Load(); now > most && !s.peak.CompareAndSwap(most, now); most = s.peak.Load() {
			}
			defer s.active.Add(-1)
			s.mu.Lock()
			s.peers[r.RemoteAddr]++
			s.mu.Unlock()
			if r.ProtoMajor != 2 {
				t.Errorf("protocol %s", r.Proto)
			}
			handler(w, r)
		}),
	}
	served := make(chan error, 1)
	go func() {
		if directory != "" {
			served <- s.server.ServeTLS(listener, directory+"/client.crt", directory+"/client.key")
		} else {
			served <- s.server.Serve(listener)
		}
	}()
	t.Cleanup(func() {
		_ = s.server.Close()
		<-served
	})
	return s
}

func TestHTTP2(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	// The server uses the files of a client certificate.
	directory := tlstest.Directory(t, tlstest.Files{CA: authority.PEM(), Client: authority.ECDSA(t)})
	for name, test := range map[string]struct {
		directory            string
		connections, streams int
		requests             int64
	}{
		"one stream":          {"", 1, 1, 50},
		"many streams":        {"", 1, 100, 3000},
		"many connections":    {"", 7, 3, 1000},
		"TLS":                 {directory, 3, 8, 1000},
		"fewer than streams":  {"", 2, 10, 5},
		"more than a restart": {"", 2, 2, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			server := serveHTTP2(t, test.directory, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
			})
			p := streamed(test.connections, test.streams, test.requests, "/a")
			if test.directory != "" {
				p.TLS = &session.TLS{}
			}
			got := driveWith(t, p, server.address, Access{TLS: tlsConfig(t, &p, server.address, test.directory)})
			if got.Requests != test.requests || got.Succeeded() != test.requests || got.BodyBytes != 1000*test.requests {
				t.Errorf("counts %+v", got.Counts)
			}
			if server.requests.Load() != test.requests || server.connections.Load() != got.Connections || got.Connections > int64(test.connections) {
				t.Errorf("the server received %d requests on %d connections, %d were opened", server.requests.Load(), server.connections.Load(), got.Connections)
			}
			if most := server.peak.Load(); most > int64(test.connections*test.streams) {
				t.Errorf("%d requests at a time", most)
			}
			if got.KeepAlive+got.Connections != test.requests {
				t.Errorf("%d requests on %d connections, %d reused one", test.requests, got.Connections, got.KeepAlive)
			}
			if n := got.Latencies.Get(result.Connect).Count(); n != got.Connections {
				t.Errorf("%d connects were timed", n)
			}
		})
	}
}

// TestHTTP2KeepsAllStreamsOpen has a server that responds only when all streams
// of all connections have a request.
func TestHTTP2KeepsAllStreamsOpen(t *testing.T) {
	const connections, streams, rounds = 3, 20, 5
	var waiting sync.WaitGroup
	var mu sync.Mutex
	arrived, release := 0, make(chan struct{})
	server := serveHTTP2(t, "", func(_ http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		mine := release
		if arrived++; arrived == connections*streams {
			arrived, release = 0, make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
	})
	waiting.Wait()
	got := drive(t, streamed(connections, streams, connections*streams*rounds, "/"), server.address)
	if got.Succeeded() != connections*streams*rounds || server.peak.Load() != connections*streams {
		t.Errorf("counts %+v, %d at a time", got.Counts, server.peak.Load())
	}
	for peer, n := range server.peers {
		if n != streams*rounds {
			t.Errorf("%d requests from %s", n, peer)
		}
	}
}

// TestHTTP2Bodies checks bodies in both directions that are longer than any
// flow-control window.
func TestHTTP2Bodies(t *testing.T) {
	const size = 3 << 20
	server := serveHTTP2(t, "", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(w, r.Body)
		if err != nil || n != size {
			t.Errorf("a body of %d bytes, %v", n, err)
		}
	})
	p := streamed(2, 4, 24, "/")
	p.Requests[0].Method, p.Requests[0].GeneratedBytes, p.Requests[0].Length = "POST", size, size
	got := drive(t, p, server.address)
	if got.Succeeded() != 24 || got.BodyBytes != 24*size || got.BytesSent < 24*size || got.BytesReceived < 24*size {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestHTTP2LateStream has a stream that begins the last request when the others have left: it uses their connection.
func TestHTTP2LateStream(t *testing.T) {
	var connections, requests atomic.Int64
	address := serveFrames(t, func(p *peer) {
		connections.Add(1)
		serveEach(func(p *peer, id uint32) {
			requests.Add(1)
			p.head(id, true, ":status", "200")
		})(p)
	})
	p := streamed(1, 2, 9, "/")
	s := newLoad(t, &p, address, Access{}).NewStage(p.Measurement, recorder.New(1))
	defer s.Stop()
	s.Begin(time.Now())
	early, late := s.connections[0], s.connections[1]
	begin, ok := s.next(late)
	early.runAll()
	late.request(s.load.requests.Chooser(0)(), begin)
	late.end()
	if !ok || requests.Load() != 9 || connections.Load() != 1 {
		t.Errorf("%d requests on %d connections, want 9 on 1", requests.Load(), connections.Load())
	}
}
