// Package testserver is a server of known behaviour for tests: it answers each
// request with exactly the bytes it is told to, after a time it is told to, and
// counts what it really saw and did. It listens on loopback alone.
package testserver

import (
	"bufio"
	"bytes"
	"crypto/tls"
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

// Request is a request as the server read it.
type Request struct {
	// Path is the request target, Head all of it but its body.
	Method, Path, Head string
	// Body is the body, as long as its Content-Length.
	Body []byte
	// Number counts all requests from 0, OnConnection those of one connection.
	Number, OnConnection int
}

// Header is the value of a header, whose name may be in any case; empty without.
func (r *Request) Header(name string) string {
	for line := range strings.SplitSeq(r.Head, "\r\n") {
		if found, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(found, name) {
			return value
		}
	}
	return ""
}

// Ending is what the server does with a connection after an answer.
type Ending int

// The endings.
const (
	// Stay leaves the connection open for the next request.
	Stay Ending = iota
	// Close ends it in good order.
	Close
	// HalfClose ends what the server says; what the client says is read to its end.
	HalfClose
	// Reset breaks it.
	Reset
	// Silence leaves it open, and nothing is read or written any more.
	Silence
)

// Answer is what the server does with a request.
type Answer struct {
	// Delay is the time before the first byte.
	Delay time.Duration
	// Parts are written one after the other, each a write of its own, with Pause
	// between them.
	Parts []string
	Pause time.Duration
	// Body is the number of bytes of bodies in the parts, for the count.
	Body int
	Then Ending
}

// OK is an answer with status 200 and a body of so many bytes.
func OK(body int) Answer {
	return Answer{
		Parts: []string{head("200 OK", body) + string(bytes.Repeat([]byte("x"), body))},
		Body:  body,
	}
}

// Seen is what the server saw and did.
type Seen struct {
	Connections, Requests          int64
	BytesReceived, BytesSent, Body int64
	// Handshakes are the TLS handshakes that were completed, Resumed those that
	// resumed a session.
	Handshakes, Resumed int64
	// Served are the times from having read a request to having written its
	// answer, in no order.
	Served []time.Duration
	// Paths counts requests by their path.
	Paths map[string]int64
}

// Server is a running server.
type Server struct {
	listener net.Listener
	config   *tls.Config // nil without TLS
	answer   func(Request) Answer
	// headsOnly is whether bodies of requests stay unread.
	headsOnly bool
	group     sync.WaitGroup

	mu     sync.Mutex
	seen   Seen
	number int
	open   map[*net.TCPConn]struct{}
	stop   chan struct{}
}

// New starts a server that ends with the test. It asks for an answer to each
// request, from many goroutines.
func New(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	return NewTLS(tb, nil, answer)
}

// NewHeadsOnly starts a server that answers a request when it has its head, and
// never reads its body.
func NewHeadsOnly(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	return start(tb, nil, true, answer)
}

// NewTLS starts a server that speaks TLS. Its counts are of what is inside of
// TLS.
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

// Address is host:port of the server.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Seen is what the server saw and did so far.
func (s *Server) Seen() Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	seen.Served, seen.Paths = slices.Clone(s.seen.Served), maps.Clone(s.seen.Paths)
	return seen
}

// Open is the number of connections that neither side has closed.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Stop ends the server; calling it again does nothing.
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
		if !s.write(conn, answer) {
			return
		}
		s.mu.Lock()
		s.seen.Body += int64(answer.Body)
		s.seen.Served = append(s.seen.Served, time.Since(began))
		s.mu.Unlock()
		switch answer.Then {
		case Close:
			return
		case HalfClose:
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
			_ = tcp.CloseWrite() // which TLS leaves open
			_, _ = io.Copy(io.Discard, tcp)
			return
		case Reset:
			_ = tcp.SetLinger(0)
			_ = tcp.Close() // with no word in TLS
			return
		case Silence:
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

func (s *Server) write(conn net.Conn, answer Answer) bool {
	if !s.wait(answer.Delay) {
		return false
	}
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

// wait waits for a time; false when the server was stopped.
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
