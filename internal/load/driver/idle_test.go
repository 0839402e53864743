package driver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
	"github.com/assay-dev/assay/test/rawserver"
)

const (
	okayResponse    = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	timeoutResponse = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)

// secureServer is the server's side of a connection with a version of TLS before 1.3.
type secureServer struct {
	*tls.Conn
	socket *net.TCPConn
}

// The functions below say what a server does with a connection after its first response.
type (
	plainAct  func(*net.TCPConn)
	secureAct func(*secureServer)
	recordAct func(*recordWriter) []byte
)

func write(text string, then func(*net.TCPConn)) plainAct {
	return func(conn *net.TCPConn) {
		_, _ = conn.Write([]byte(text))
		then(conn)
	}
}

func stay(*net.TCPConn) {}

func finish(conn *net.TCPConn) { _ = conn.CloseWrite() }

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// idleCases are what servers do to idle connections, and the state in which the client must find them.
var idleCases = map[string]struct {
	act      any
	want     idleState
	together bool // the records are in one write with the response
}{
	"nothing":                 {plainAct(stay), usable, false},
	"end":                     {plainAct(finish), ended, false},
	"reset":                   {plainAct(reset), ended, false},
	"408":                     {write(timeoutResponse, stay), unrequested, false},
	"408 and the end":         {write(timeoutResponse, finish), unrequested, false},
	"another response":        {write(okayResponse, stay), unrequested, false},
	"half a response":         {write("H", stay), unrequested, false},
	"an interim response":     {write("HTTP/1.1 100 Continue\r\n\r\n", stay), unrequested, false},
	"an empty line":           {write("\r\n", stay), unrequested, false},
	"more than a read buffer": {write(string(make([]byte, 100_000)), stay), unrequested, false},

	"TLS 1.2, nothing":       {secureAct(func(*secureServer) {}), usable, false},
	"TLS 1.2, close_notify":  {secureAct(func(s *secureServer) { _ = s.CloseWrite() }), ended, false},
	"TLS 1.2, both ends":     {secureAct(func(s *secureServer) { _ = s.CloseWrite(); finish(s.socket) }), ended, false},
	"TLS 1.2, end":           {secureAct(func(s *secureServer) { finish(s.socket) }), ended, false},
	"TLS 1.2, reset":         {secureAct(func(s *secureServer) { reset(s.socket) }), ended, false},
	"TLS 1.2, 408":           {secureAct(func(s *secureServer) { _, _ = s.Write([]byte(timeoutResponse)) }), unrequested, false},
	"TLS 1.2, 408 and close": {secureAct(func(s *secureServer) { _, _ = s.Write([]byte(timeoutResponse)); _ = s.CloseWrite() }), unrequested, false},
	"TLS 1.2, broken record": {secureAct(func(s *secureServer) { _, _ = s.socket.Write([]byte{recordHandshake, 3, 3, 0, 4, 0, 0, 0, 0}) }), ended, false},

	"TLS 1.3, nothing":              {recordAct(func(*recordWriter) []byte { return nil }), usable, false},
	"TLS 1.3, a ticket":             {recordAct((*recordWriter).ticket), usable, false},
	"TLS 1.3, two tickets":          {recordAct(func(w *recordWriter) []byte { return append(w.ticket(), w.ticket()...) }), usable, false},
	"TLS 1.3, a key update":         {recordAct(func(w *recordWriter) []byte { return w.keyUpdate(false) }), usable, false},
	"TLS 1.3, two key updates":      {recordAct(func(w *recordWriter) []byte { return append(w.keyUpdate(true), w.keyUpdate(true)...) }), usable, false},
	"TLS 1.3, close_notify":         {recordAct((*recordWriter).closeNotify), ended, false},
	"TLS 1.3, ticket and close":     {recordAct(func(w *recordWriter) []byte { return append(w.ticket(), w.closeNotify()...) }), ended, false},
	"TLS 1.3, an alert":             {recordAct(func(w *recordWriter) []byte { return w.record(recordAlert, []byte{2, 80}) }), ended, false},
	"TLS 1.3, an empty record":      {recordAct(func(w *recordWriter) []byte { return w.data("") }), usable, false},
	"TLS 1.3, 408":                  {recordAct(func(w *recordWriter) []byte { return w.data(timeoutResponse) }), unrequested, false},
	"TLS 1.3, update and 408":       {recordAct(func(w *recordWriter) []byte { return append(w.keyUpdate(true), w.data(timeoutResponse)...) }), unrequested, false},
	"TLS 1.3, 408 and close":        {recordAct(func(w *recordWriter) []byte { return append(w.data(timeoutResponse), w.closeNotify()...) }), unrequested, false},
	"TLS 1.3, a broken record":      {recordAct(func(*recordWriter) []byte { return append([]byte{23, 3, 3, 0, 50}, make([]byte, 50)...) }), ended, false},
	"TLS 1.3, 408 with response":    {recordAct(func(w *recordWriter) []byte { return w.data(timeoutResponse) }), unrequested, true},
	"TLS 1.3, close with response":  {recordAct((*recordWriter).closeNotify), ended, true},
	"TLS 1.3, ticket with response": {recordAct((*recordWriter).ticket), usable, true},
}

// idleServer answers requests and acts after the first response on each connection, when the client has recorded that. The client waits
// for it. It is the client's recorder, too.
type idleServer struct {
	tapRecorder
	certificate tls.Certificate
	act         any
	together    bool // response and records are in one write
	// idle is the least time for which the first connection stays idle then, if the client is late for its next request.
	idle            time.Duration
	recorded, acted chan struct{}
}

func (s *idleServer) Record(connection int, o *recorder.Outcome) {
	s.tapRecorder.Record(connection, o)
	if o.Opened {
		s.recorded <- struct{}{}
		<-s.acted
		time.Sleep(s.idle)
	}
}

func (s *idleServer) serve(conn net.Conn) {
	socket := conn.(*net.TCPConn)
	reads, answer, first := conn, func() { _, _ = conn.Write([]byte(okayResponse)) }, func() {}
	switch act := s.act.(type) {
	case plainAct:
		first = func() { act(socket) }
	case secureAct:
		secure := &secureServer{tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{s.certificate}, MaxVersion: tls.VersionTLS12}), socket}
		reads, answer = secure, func() { _, _ = secure.Write([]byte(okayResponse)) }
		first = func() { act(secure) }
	case recordAct:
		w, err := serveRecords(conn, s.certificate)
		if err != nil {
			return
		}
		reads, answer = w, func() {
			text := w.data(okayResponse)
			if s.together {
				text = append(text, act(w)...)
			}
			_, _ = conn.Write(text)
		}
		first = func() {
			if !s.together {
				_, _ = conn.Write(act(w))
			}
		}
	}
	reader := bufio.NewReader(reads)
	for n := 0; readRequest(reader); n++ {
		answer()
		if n == 0 {
			<-s.recorded
			first()
			s.acted <- struct{}{}
		}
	}
}

// TestIdleConnections checks that what happens to an idle connection neither fails a request nor answers one, in all engines and
// with all reasons to be idle.
func TestIdleConnections(t *testing.T) {
	own := tlstest.SelfSigned(t)
	thinking := func(microseconds int64) func(*session.Plan) {
		return func(p *session.Plan) {
			p.ThinkTime = &session.ThinkTime{MinMicroseconds: microseconds, MaxMicroseconds: microseconds}
		}
	}
	arriving := func(rate int64) func(*session.Plan) {
		return func(p *session.Plan) {
			p.Arrivals = &session.Arrivals{Shares: 1}
			p.Measurement.Profile = profile.Profile{{From: rate, To: rate}}
		}
	}
	for name, test := range idleCases {
		for shape, change := range map[string]func(*session.Plan){
			"think time": thinking(120_000), "short think time": thinking(90_000), "open": arriving(5),
		} {
			for engine, looped := range map[string]bool{"loops": true, "goroutines": false} {
				t.Run(name+"/"+shape+"/"+engine, func(t *testing.T) {
					t.Parallel()
					const requests = 2
					p := plan(1, requests, "/")
					change(&p)
					if _, plain := test.act.(plainAct); !plain {
						p.TLS = &session.TLS{Unverified: true}
					}
					server := &idleServer{
						tapRecorder: tapRecorder{Recorder: recorder.New(1)}, certificate: own.Certificate, act: test.act, together: test.together,
						recorded: make(chan struct{}), acted: make(chan struct{}),
					}
					if p.Arrivals != nil {
						server.idle = idleAfter + time.Millisecond
					}
					address := rawserver.Start(t, server.serve)
					load := newLoad(t, &p, address, Access{TLS: tlsConfig(t, &p, address, "")})
					load.looped = looped
					stage := load.NewStage(p.Measurement, server)
					go stage.Run(0, 1)
					await(t, stage.Ready(), "the connections to be ready")
					go stage.Begin(time.Now())
					await(t, stage.Done(), "the stage to end")
					stage.Stop()

					var opened, unasked int
					for _, o := range server.outcomes {
						if o.Error != recorder.NoError || o.Status != 200 {
							t.Errorf("outcome %+v", o)
						}
						if o.Opened {
							opened++
						}
						unasked += int(o.Unrequested)
					}
					wantOpened, wantUnasked := requests, 0
					switch test.want {
					case usable:
						wantOpened = 1
					case unrequested:
						wantUnasked = requests - 1 // nobody looks at the last connection
					}
					if len(server.outcomes) != requests || opened != wantOpened || unasked != wantUnasked {
						t.Errorf("%d requests on %d connections, %d with unrequested bytes, want %d and %d",
							len(server.outcomes), opened, unasked, wantOpened, wantUnasked)
					}
				})
			}
		}
	}
}

// TestRecordsWithLaterResponses checks that what arrives together with a response over TLS answers no request of an open load and fails none,
// also where loops make the requests by themselves.
func TestRecordsWithLaterResponses(t *testing.T) {
	own := tlstest.SelfSigned(t)
	for name, test := range idleCases {
		if !test.together {
			continue
		}
		for engine, looped := range map[string]bool{"loops": true, "goroutines": false} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				t.Parallel()
				const requests, each = 20, 5 // each fifth response of a connection has something with it
				address := rawserver.Start(t, func(conn net.Conn) {
					w, err := serveRecords(conn, own.Certificate)
					if err != nil {
						return
					}
					reader := bufio.NewReader(w)
					for n := 1; readRequest(reader); n++ {
						text := w.data(okayResponse)
						if n%each == 0 {
							text = append(text, test.act.(recordAct)(w)...)
						}
						_, _ = conn.Write(text)
					}
				})
				p := plan(1, requests, "/")
				p.TLS, p.TimeoutMicroseconds = &session.TLS{Unverified: true}, time.Hour.Microseconds()
				p.Arrivals, p.Measurement.Profile = &session.Arrivals{Shares: 1}, profile.Profile{{From: 200, To: 200}}
				outcomes, byLoop, _ := drivePlain(t, p, address, looped)
				var opened, unasked int
				for _, o := range outcomes {
					if o.Error != recorder.NoError || o.Status != 200 {
						t.Errorf("outcome %+v", o)
					}
					if o.Opened {
						opened++
					}
					unasked += int(o.Unrequested)
				}
				wantOpened, wantUnasked := requests/each, 0
				switch test.want {
				case usable:
					wantOpened = 1
				case unrequested:
					wantUnasked = requests/each - 1 // nobody looks at the last connection
				}
				if len(outcomes) != requests || opened != wantOpened || unasked != wantUnasked || looped != (byLoop > 0) {
					t.Errorf("%d requests, %d by loops themselves, on %d connections, %d with unrequested bytes, want %d and %d",
						len(outcomes), byLoop, opened, unasked, wantOpened, wantUnasked)
				}
			})
		}
	}
}

// TestIdleHTTP2 checks that what happens to an idle HTTP/2 connection fails no request, and whether it is used again.
func TestIdleHTTP2(t *testing.T) {
	own := tlstest.SelfSigned(t)
	for name, test := range map[string]struct {
		act  func(*peer)
		kept bool
	}{
		"nothing":              {func(*peer) {}, true},
		"PING":                 {func(p *peer) { _ = p.WritePing(false, [8]byte{1}) }, true},
		"SETTINGS":             {func(p *peer) { _ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 7}) }, true},
		"a late frame":         {func(p *peer) { _ = p.WriteData(1, true, []byte("late")) }, true},
		"a response":           {func(p *peer) { p.head(1, true, ":status", "408") }, true}, // to the first request, which is complete
		"GOAWAY":               {func(p *peer) { _ = p.WriteGoAway(1, http2.ErrCodeNo, nil) }, false},
		"GOAWAY with an error": {func(p *peer) { _ = p.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, []byte("idle")) }, false},
		"a shutdown":           {func(p *peer) { _ = p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil) }, false},
		"end":                  {func(p *peer) { _ = p.conn.Close() }, false},
		"GOAWAY and the end":   {func(p *peer) { _ = p.WriteGoAway(1, http2.ErrCodeNo, nil); _ = p.conn.Close() }, false},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/TLS %t", name, secure), func(t *testing.T) {
				t.Parallel()
				server := &idleServer{tapRecorder: tapRecorder{Recorder: recorder.New(1)}, recorded: make(chan struct{}), acted: make(chan struct{})}
				address := rawserver.Start(t, func(conn net.Conn) {
					if secure {
						conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own.Certificate}, NextProtos: []string{"h2"}})
					}
					serveFramesOn(conn, func(p *peer) {
						_ = p.WriteSettings()
						for n, id := 0, p.request(); id != 0; n, id = n+1, p.request() {
							p.head(id, true, ":status", "200")
							if n == 0 {
								<-server.recorded
								test.act(p)
								server.acted <- struct{}{}
							}
						}
					})
				})
				p := streamed(1, 1, 3, "/")
				p.ThinkTime = &session.ThinkTime{MinMicroseconds: 90_000, MaxMicroseconds: 90_000}
				if secure {
					p.TLS = &session.TLS{Unverified: true}
				}
				stage := newLoad(t, &p, address, Access{TLS: tlsConfig(t, &p, address, "")}).NewStage(p.Measurement, server)
				go stage.Run(0, 1)
				await(t, stage.Ready(), "the connections to be ready")
				go stage.Begin(time.Now())
				await(t, stage.Done(), "the stage to end")
				stage.Stop()
				opened := 0
				for _, o := range server.outcomes {
					if o.Error != recorder.NoError {
						t.Errorf("outcome %+v", o)
					}
					if o.Opened {
						opened++
					}
				}
				if want := map[bool]int{true: 1, false: 3}[test.kept]; len(server.outcomes) != 3 || opened != want {
					t.Errorf("%d requests on %d connections, want %d", len(server.outcomes), opened, want)
				}
			})
		}
	}
}

// TestIdlePageConnections has a server close a connection of a user that has loaded an element, while the other connection still waits
// for the page's last element. The next page opens it again.
func TestIdlePageConnections(t *testing.T) { inBothModes(t, testIdlePageConnections) }

func testIdlePageConnections(t *testing.T) {
	var server *testserver.Server
	arrived := make(chan struct{}, 1)
	server = testserver.New(t, func(r testserver.Request) testserver.Answer {
		answer := testserver.OK(5)
		switch r.Path {
		case "/closing":
			<-arrived // otherwise the same connection may get both
			answer.Then = testserver.Close
		case "/waiting":
			arrived <- struct{}{}
			eventually(t, func() bool { return server.Open() == 1 }, "the other connection to be closed")
		}
		return answer
	})
	const pages = 10
	got := drive(t, pagePlan(1, 2, pages, page("/", "/closing", "/waiting")), server.Address())
	if got.Pages != pages || got.FailedPages != 0 || got.Errors.Total() != 0 || got.Connections != pages+1 {
		t.Errorf("counts %+v", got.Counts)
	}
}
