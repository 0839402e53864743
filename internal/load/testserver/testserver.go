// Package testserver provides an HTTP/1.1 server with scripted behavior for tests. For each request
// the test chooses the exact bytes of the answer and the delay before them. The server counts what
// it received and sent. It listens on a loopback address only.
package testserver

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Request is a request that the server has read.
type Request struct {
	// Path is the request target. Head is the request line and the headers.
	Method, Path, Head string
	// Body is the body. Its length is the request's Content-Length.
	Body []byte
	// Number is the request's index among all requests of the server, OnConnection
	// that among the requests of its connection. Both start at 0.
	Number, OnConnection int
}

// Header returns the value of a header, or an empty string if the request
// doesn't have it. The name is case-insensitive.
func (r *Request) Header(name string) string {
	for line := range strings.SplitSeq(r.Head, "\r\n") {
		if found, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(found, name) {
			return value
		}
	}
	return ""
}

// Ending says what the server does with a connection after an answer.
type Ending int

// The values of Ending.
const (
	// Stay keeps the connection open for the next request.
	Stay Ending = iota
	// Close closes the connection.
	Close
	// HalfClose closes the server's side of the connection, and reads from the
	// client until it closes its side.
	HalfClose
	// Reset resets the connection.
	Reset
	// Hang keeps the connection open, but reads and writes nothing more.
	Hang
)

// Answer is the server's answer to a request.
type Answer struct {
	// Delay is the time before the first byte.
	Delay time.Duration
	// Parts holds the bytes of the answer. Each part is a separate write, with a
	// delay of Pause before each but the first.
	Parts []string
	Pause time.Duration
	// Body is the number of body bytes in Parts. It is only used for Seen.Body.
	Body int
	// Then says what happens to the connection after the answer.
	Then Ending
}

// OK returns an answer with status 200 and a body of the given length.
func OK(body int) Answer {
	return Answer{
		Parts: []string{head("200 OK", body) + string(bytes.Repeat([]byte("x"), body))},
		Body:  body,
	}
}

// head returns the head of a response with a body of the given length.
func head(status string, length int) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nServer: testserver\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", status, length)
}

// Status returns an answer with a short body and the given status, for example
// "500 Internal Server Error".
func Status(status string) Answer {
	const body = "as you wished\n"
	return Answer{Parts: []string{head(status, len(body)) + body}, Body: len(body)}
}

// Text returns an answer that consists of exactly these parts, with body bytes of body in them.
func Text(body int, then Ending, parts ...string) Answer {
	return Answer{Parts: parts, Body: body, Then: then}
}

// Seen holds the server's counters.
type Seen struct {
	Connections, Requests          int64
	BytesReceived, BytesSent, Body int64
	// Handshakes counts completed TLS handshakes, Resumed those of them that resumed a session.
	Handshakes, Resumed int64
	// Delayed holds, for each request, the time from the end of the request to the
	// beginning of its answer, in no particular order. No client can measure less.
	Delayed []time.Duration
	// Paths counts requests by path.
	Paths map[string]int64
}

// Server is a running test server.
type Server struct {
	listener net.Listener
	config   *tls.Config // nil without TLS
	answer   func(Request) Answer
	// headsOnly reports whether the bodies of requests stay unread.
	headsOnly bool
	group     sync.WaitGroup

	mu     sync.Mutex
	seen   Seen
	number int
	open   map[*net.TCPConn]struct{}
	stop   chan struct{}
}

// New starts a server and stops it at the end of the test. The server calls
// answer for each request, from several goroutines at a time.
func New(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	return NewTLS(tb, nil, answer)
}

// NewHeadsOnly starts a server that answers a request after its head and never reads its body.
func NewHeadsOnly(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	return start(tb, nil, true, answer)
}

// NewTLS starts a server that speaks TLS. Its byte counts don't include what TLS adds.
func NewTLS(tb testing.TB, config *tls.Config, answer func(Request) Answer) *Server {
	tb.Helper()
	return start(tb, config, false, answer)
}

func start(tb testing.TB, config *tls.Config, headsOnly bool, answer func(Request) Answer) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{
		listener: listener, config: config, answer: answer, headsOnly: headsOnly,
		seen: Seen{Paths: map[string]int64{}}, open: map[*net.TCPConn]struct{}{}, stop: make(chan struct{}),
	}
	s.group.Go(s.accept)
	tb.Cleanup(s.Stop)
	return s
}

// Address returns the server's host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Seen returns a copy of the server's counters.
func (s *Server) Seen() Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	seen.Delayed, seen.Paths = slices.Clone(s.seen.Delayed), maps.Clone(s.seen.Paths)
	return seen
}

// Open returns the number of connections that the server hasn't closed.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Stop stops the server and closes its connections. Further calls do nothing.
func (s *Server) Stop() {
	s.mu.Lock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
		_ = s.listener.Close()
		for conn := range s.open {
			_ = conn.Close()
		}
	}
	s.mu.Unlock()
	s.group.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		tcp := conn.(*net.TCPConn)
		s.mu.Lock()
		s.seen.Connections++
		s.open[tcp] = struct{}{}
		s.mu.Unlock()
		s.group.Go(func() { s.serve(tcp) })
	}
}

func (s *Server) serve(tcp *net.TCPConn) {
	var conn net.Conn = tcp
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		delete(s.open, tcp)
		s.mu.Unlock()
	}()
	if s.config != nil {
		secure := tls.Server(tcp, s.config)
		conn = secure
		if secure.Handshake() != nil {
			return
		}
		s.mu.Lock()
		s.seen.Handshakes++
		if secure.ConnectionState().DidResume {
			s.seen.Resumed++
		}
		s.mu.Unlock()
	}
	reader := bufio.NewReader(conn)
	for i := 0; ; i++ {
		request, ok := s.read(reader, i)
		if !ok {
			return
		}
		began := time.Now()
		answer := s.answer(request)
		if !s.write(conn, answer, began) {
			return
		}
		s.mu.Lock()
		s.seen.Body += int64(answer.Body)
		s.mu.Unlock()
		switch answer.Then {
		case Close:
			return
		case HalfClose:
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
			_ = tcp.CloseWrite() // TLS's CloseWrite doesn't close the TCP connection
			_, _ = io.Copy(io.Discard, tcp)
			return
		case Reset:
			_ = tcp.SetLinger(0)
			_ = tcp.Close() // without a TLS close_notify
			return
		case Hang:
			_, _ = reader.Peek(1) // returns when the client gives up
			return
		}
	}
}

// read reads a request.
func (s *Server) read(reader *bufio.Reader, onConnection int) (Request, bool) {
	var text []byte
	for !bytes.HasSuffix(text, []byte("\r\n\r\n")) {
		line, err := reader.ReadSlice('\n')
		text = append(text, line...)
		if err != nil {
			return Request{}, false
		}
	}
	fields := bytes.Fields(text)
	request := Request{Method: string(fields[0]), Path: string(fields[1]), Head: string(text), OnConnection: onConnection}
	if length, err := strconv.Atoi(request.Header("Content-Length")); err == nil && !s.headsOnly {
		request.Body = make([]byte, length)
		if _, err := io.ReadFull(reader, request.Body); err != nil {
			return Request{}, false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	request.Number = s.number
	s.number++
	s.seen.Requests++
	s.seen.BytesReceived += int64(len(text) + len(request.Body))
	s.seen.Paths[request.Path]++
	return request, true
}

func (s *Server) write(conn net.Conn, answer Answer, began time.Time) bool {
	if !s.wait(answer.Delay) {
		return false
	}
	delayed := time.Since(began)
	s.mu.Lock()
	s.seen.Delayed = append(s.seen.Delayed, delayed)
	s.mu.Unlock()
	for i, part := range answer.Parts {
		if i > 0 && !s.wait(answer.Pause) {
			return false
		}
		n, err := conn.Write([]byte(part))
		s.mu.Lock()
		s.seen.BytesSent += int64(n)
		s.mu.Unlock()
		if err != nil {
			return false
		}
	}
	return true
}

// wait sleeps for d. It returns false if the server was stopped.
func (s *Server) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}
