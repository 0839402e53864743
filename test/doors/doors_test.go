// Package doors attacks each port of Assay's pods as a pod without any right can: with more connections than a port
// has, and with everything that is too large. SECURITY.md has the bounds.
package doors

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/door"
	"github.com/assay-dev/assay/internal/plugin/ui"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	attackers = 2000
	// shakers are attackers that finish a handshake, which takes time of the CPU: more than any address may keep.
	shakers = 500
	// most limits the memory, in bytes, that all connections of an attack may take. They are in the same process
	// as the attacker's ends, which take about as much. The manager's limit is 512 MiB.
	most = 128 << 20
	// patience bounds a request. It is never reached unless the test fails.
	patience = 20 * time.Second
	// friend is the address of whoever asks properly.
	friend = "127.0.0.1"
)

// port is a port of Assay's pods.
type port struct {
	address string
	// secure is the client's configuration of TLS, or nil.
	secure *tls.Config
	// ask sends a proper request from an address, and returns an error unless it is answered as it should be.
	ask func(from string) error
	// http reports whether the port serves HTTP/1.
	http bool
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
}

// keyPair returns a server's configuration of TLS, and its clients'.
func keyPair(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	bundle, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"localhost"}, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(bundle.Certificate, bundle.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle.CA)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, &tls.Config{ServerName: "localhost", RootCAs: roots, MinVersion: tls.VersionTLS13}
}

// get sends a GET request and compares the status of the answer.
func (p *port) get(path, token string, want int) func(from string) error {
	return func(from string) error {
		transport := &http.Transport{DialContext: dialer(from).DialContext, TLSClientConfig: p.secure, DisableKeepAlives: true}
		scheme := "http"
		if p.secure != nil {
			scheme = "https"
		}
		request, err := http.NewRequest(http.MethodGet, scheme+"://"+p.address+path, nil)
		if err != nil {
			return err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := (&http.Client{Transport: transport, Timeout: patience}).Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != want {
			return fmt.Errorf("status %s", response.Status)
		}
		return nil
	}
}

func healthPort(t *testing.T) *port {
	listener := listen(t)
	server := door.NewServer(door.Health(func() error { return nil }))
	go func() { _ = server.Serve(door.Listen(listener, door.Machines)) }()
	t.Cleanup(func() { _ = server.Close() })
	p := &port{address: listener.Addr().String(), http: true}
	p.ask = p.get("/healthz", "", http.StatusOK)
	return p
}

// metricsPort serves what the manager's metrics are served by: the answer of the API server is the test's.
func metricsPort(t *testing.T) *port {
	listener := listen(t)
	authorize := func(next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer good" {
				http.Error(w, "Unauthorized", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		}), nil
	}
	handler, err := door.LimitTokens(authorize, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }))
	if err != nil {
		t.Fatal(err)
	}
	server := door.NewServer(handler)
	ours, theirs := keyPair(t)
	go func() { _ = server.Serve(tls.NewListener(door.Listen(listener, door.Machines), ours)) }()
	t.Cleanup(func() { _ = server.Close() })
	p := &port{address: listener.Addr().String(), secure: theirs, http: true}
	p.ask = p.get("/metrics", "good", http.StatusOK)
	return p
}

func sessionPort(t *testing.T) *port {
	listener := listen(t)
	identify := func(context.Context, string) (manager.Identity, error) {
		return manager.Identity{}, fmt.Errorf("%w: a test", manager.ErrUnauthenticated)
	}
	server := manager.New(identify, func(string) {}, logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	ours, theirs := keyPair(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener, ours) }()
	t.Cleanup(func() { cancel(); <-served })
	p := &port{address: listener.Addr().String(), secure: theirs}
	p.ask = func(from string) error {
		conn, err := grpc.NewClient("passthrough:///"+p.address, grpc.WithTransportCredentials(credentials.NewTLS(theirs)), grpc.WithNoProxy(),
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return dialer(from).DialContext(ctx, "tcp", address)
			}))
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer token"), patience)
		defer cancel()
		stream, err := sessionpb.NewSessionsClient(conn).Join(ctx)
		if err != nil {
			return err
		}
		if _, err := stream.Recv(); status.Code(err) != codes.Unauthenticated {
			return fmt.Errorf("the token was not reviewed: %w", err)
		}
		return nil
	}
	return p
}

// noLogin knows no token.
type noLogin struct{}

func (noLogin) User(context.Context, string) (string, error) {
	return "", apierrors.NewUnauthorized("a test")
}

func (noLogin) Open(string, ui.Scope, ui.Limits) (*ui.App, error) { return nil, errors.New("a test") }

func pagesPort(t *testing.T) *port {
	listener := listen(t)
	portal, err := ui.NewPortal("http://localhost", noLogin{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- portal.Serve(ctx, door.Listen(listener, door.Browsers)) }()
	t.Cleanup(func() { cancel(); <-served })
	p := &port{address: listener.Addr().String(), http: true}
	p.ask = p.get("/healthz", "", http.StatusOK)
	return p
}

var ports = map[string]func(*testing.T) *port{"health": healthPort, "metrics": metricsPort, "session": sessionPort, "pages": pagesPort}

// address returns the n-th address of the loopback network after 127.1.0.0.
func address(n int) string {
	return netip.AddrFrom4([4]byte{127, 1, byte(n >> 8), byte(n)}).String()
}

// TestConnections holds 2,000 connections to each port, from one address and from as many, each with an unfinished
// request: in clear, and within TLS where the port has that. Whoever comes with a proper request is answered.
func TestConnections(t *testing.T) {
	unfinished := []byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20))
	handshake := append([]byte{22, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb}, make([]byte, 16000)...) // most of a long ClientHello
	for name, open := range ports {
		for from, of := range map[string]func(int) string{"one address": func(int) string { return "127.0.0.2" }, "as many addresses": address} {
			for _, finishes := range []bool{false, true} {
				p := open(t)
				if finishes && p.secure == nil {
					continue
				}
				t.Run(fmt.Sprintf("%s from %s, TLS %v", name, from, finishes), func(t *testing.T) {
					if err := p.ask(friend); err != nil {
						t.Fatal(err)
					}
					before := memory()
					number := attackers
					if finishes {
						number = shakers
					}
					held := hold(t, number, func(n int) (net.Conn, error) {
						conn, err := dialer(of(n)).Dial("tcp", p.address)
						if err != nil {
							return nil, err
						}
						_ = conn.SetDeadline(time.Now().Add(patience))
						switch {
						case p.secure == nil:
							_, _ = conn.Write(unfinished)
						case !finishes:
							_, _ = conn.Write(handshake)
						default:
							secured := tls.Client(conn, p.secure)
							_, _ = secured.Write(unfinished)
						}
						return conn, nil
					})
					for range 3 {
						if err := p.ask(friend); err != nil {
							t.Errorf("a proper request beside %d connections: %v", len(held), err)
						}
					}
					took := memory() - before
					t.Logf("%d connections of %d take %.1f MiB", len(held), number, float64(took)/(1<<20))
					if took > most {
						t.Errorf("%d connections take %d MiB", len(held), took>>20)
					}
				})
			}
		}
	}
}

// hold opens the attackers' connections and keeps them until the test has ended. One that is refused is none.
func hold(t *testing.T, number int, open func(n int) (net.Conn, error)) []net.Conn {
	t.Helper()
	var mu sync.Mutex
	var held []net.Conn
	var group sync.WaitGroup
	next := make(chan int)
	for range 64 {
		group.Go(func() {
			for n := range next {
				conn, err := open(n)
				if err != nil {
					continue
				}
				mu.Lock()
				held = append(held, conn)
				mu.Unlock()
			}
		})
	}
	for n := range number {
		next <- n
	}
	close(next)
	group.Wait()
	t.Cleanup(func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	})
	return held
}

// memory returns the bytes of the heap and the stacks that are in use.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestFlood opens connections to each port without a pause, and keeps some of them. Whoever comes with a proper request
// beside that is answered each time.
func TestFlood(t *testing.T) {
	for name, open := range ports {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			for n := range 8 {
				group.Go(func() {
					var kept []net.Conn
					for ctx.Err() == nil {
						conn, err := dialer(address(n)).DialContext(ctx, "tcp", p.address)
						if err != nil {
							continue
						}
						_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nX: ")
						if kept = append(kept, conn); len(kept) > 100 {
							_ = kept[0].Close()
							kept = kept[1:]
						}
					}
					for _, conn := range kept {
						_ = conn.Close()
					}
				})
			}
			for range 20 {
				if err := p.ask(friend); err != nil {
					t.Errorf("a proper request: %v", err)
				}
			}
			stop()
			group.Wait()
		})
	}
}

// TestOversize sends each port what is too large. It must be refused with a status of 400 or more, or by the end of the
// connection, and the next proper request must be answered.
func TestOversize(t *testing.T) {
	const large = 4 << 20
	x := strings.Repeat("x", large)
	const head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
	requests := map[string]string{
		"a header":         head + "X: " + x + "\r\n\r\n",
		"a header's name":  head + x + ": x\r\n\r\n",
		"many headers":     head + strings.Repeat("X: x\r\n", large/6) + "\r\n",
		"a path":           "GET /" + x + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a method":         x + " / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a version":        "GET / HTTP/" + x + "\r\n\r\n",
		"a host":           "GET / HTTP/1.1\r\nHost: " + x + "\r\n\r\n",
		"a token":          head + "Authorization: Bearer " + x + "\r\n\r\n",
		"a body":           fmt.Sprintf("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", large, x),
		"a body of GET":    fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, large, x),
		"a chunk":          fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, large, x),
		"many chunks":      head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", large/6) + "0\r\n\r\n",
		"a trailer":        head + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\nX: " + x + "\r\n\r\n",
		"a frame of h2":    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x01\x04\x00\x00\x00\x01" + x,
		"nothing but text": x,
	}
	for name, open := range ports {
		p := open(t)
		for what, request := range requests {
			t.Run(name+" "+what, func(t *testing.T) {
				if err := p.send("127.0.0.3", request); err != nil {
					t.Error(err)
				}
				if err := p.ask(friend); err != nil {
					t.Errorf("a proper request after it: %v", err)
				}
			})
		}
	}
}

// send sends a request, and returns an error unless it is refused.
func (p *port) send(from, request string) error {
	conn, err := dialer(from).Dial("tcp", p.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if p.secure != nil {
		secure := p.secure.Clone()
		if !p.http {
			secure.NextProtos = []string{"h2"}
		}
		conn = tls.Client(conn, secure)
	}
	go func() { _, _ = io.WriteString(conn, request) }()
	if !p.http {
		_, err := io.Copy(io.Discard, conn)
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			return fmt.Errorf("the connection goes on: %w", err)
		}
		return nil
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("no answer: %w", err)
	}
	if err != nil {
		return nil // the connection has ended
	}
	_ = response.Body.Close()
	if response.StatusCode < http.StatusBadRequest && !response.Close { // a server that closes hasn't read the rest
		return fmt.Errorf("it was answered with %s", response.Status)
	}
	return nil
}

// TestUnknownTokens sends many tokens that nobody knows. They are refused without a question to the API server, and
// whoever's token was accepted before is answered, also from the same address.
func TestUnknownTokens(t *testing.T) {
	p := metricsPort(t)
	if err := p.ask(friend); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for n := range 64 {
		if p.get("/metrics", fmt.Sprint("bad", n), http.StatusUnauthorized)(friend) != nil {
			refused++
		}
	}
	if refused < 32 {
		t.Errorf("%d of 64 unknown tokens were refused before they were reviewed", refused)
	}
	if err := p.ask(friend); err != nil {
		t.Errorf("a token that was accepted before: %v", err)
	}
	if err := p.get("/metrics", "good", http.StatusOK)("127.0.0.4"); err != nil {
		t.Errorf("another address: %v", err)
	}
}
