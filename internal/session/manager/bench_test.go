package manager

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	client = sessionpb.Role_ROLE_CLIENT
	agent  = sessionpb.Role_ROLE_AGENT

	warmup      = sessionpb.Stage_STAGE_WARMUP
	measurement = sessionpb.Stage_STAGE_MEASUREMENT
)

// bench is a manager that listens on loopback and can be killed and restarted.
type bench struct {
	t       testing.TB
	pem     []byte
	config  *tls.Config
	address string
	changes chan string
	// identify is that of this package, connections are 4096 if they aren't set.
	identify    Identify
	connections int

	*Server
	kill func()
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, address: "127.0.0.1:0", changes: make(chan string, 1), identify: identify, connections: 4096}
	b.pem, b.config = certificate(t)
	b.restart()
	return b
}

// restart kills the manager with all of its state, and starts another at the same
// address.
func (b *bench) restart() {
	b.t.Helper()
	if b.kill != nil {
		b.kill()
	}
	listener, err := net.Listen("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.address = listener.Addr().String()
	b.Server = New(b.identify, func(run string) {
		select {
		case b.changes <- run:
		default:
		}
	}, logr.Discard())
	b.ConnectionsPerAddress = b.connections // all pods have the address of this host
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	server := b.Server
	go func() { served <- server.Serve(ctx, listener, b.config) }()
	b.kill = func() {
		cancel()
		if err := <-served; err != nil {
			b.t.Errorf("Serve: %v", err)
		}
		b.kill = nil
	}
	b.t.Cleanup(func() {
		if b.kill != nil {
			b.kill()
		}
	})
}

// await waits until a run has reached a state.
func (b *bench) await(run, what string, reached func(session.Observation) bool) session.Observation {
	b.t.Helper()
	deadline := time.After(3 * time.Minute) // a guard against a hang, also on a machine that is overloaded
	for {
		if o := b.Observe(run); reached(o) {
			return o
		}
		select {
		case <-b.changes:
		case <-time.After(10 * time.Millisecond): // changed isn't called for samples
		case <-deadline:
			b.t.Fatalf("not %s: %+v", what, b.Observe(run))
		}
	}
}

// token returns a token that identify accepts.
func token(i Identity) string {
	text, err := json.Marshal(i)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func identify(_ context.Context, token string) (Identity, error) {
	var i Identity
	if err := json.Unmarshal([]byte(token), &i); err != nil {
		return i, fmt.Errorf("%w: %w", ErrUnauthenticated, err)
	}
	switch i.Run {
	case "":
		return i, fmt.Errorf("%w: pod %s", ErrForbidden, i.Pod)
	case "unknown":
		return i, errors.New("the API server doesn't answer")
	}
	return i, nil
}

func clientOf(run string, index int) Identity {
	return Identity{
		Run: run, Role: client, Index: index,
		Pod: fmt.Sprintf("%s-%d", run, index), PodUID: fmt.Sprintf("uid-%s-%d", run, index), Node: "node",
	}
}

func agentOf(run string) Identity {
	return Identity{Run: run, Role: agent, Pod: run + "-target", PodUID: "uid-" + run, Node: "node"}
}

// endpoint is a pod's end of a session.
type endpoint struct {
	*pod.Session
	ended  chan error
	cancel context.CancelFunc
}

func (b *bench) join(i Identity) *endpoint {
	ctx, cancel := context.WithCancel(context.Background())
	a := &endpoint{ended: make(chan error, 1), cancel: cancel, Session: pod.New(pod.Config{
		Addresses: b.address,
		Token:     func() (string, error) { return token(i), nil },
		CA:        func() ([]byte, error) { return b.pem, nil },
		Role:      i.Role,
	})}
	go func() { a.ended <- a.Run(ctx) }()
	b.t.Cleanup(cancel)
	return a
}

// order waits for an order of a kind.
func order[O pod.Order](t testing.TB, a *endpoint) O {
	t.Helper()
	select {
	case o, open := <-a.Orders():
		if got, ok := o.(O); ok {
			return got
		}
		t.Fatalf("the order %T came (%t), want %T", o, open, *new(O))
	case <-time.After(3 * time.Minute):
		t.Fatalf("no order came, want %T", *new(O))
	}
	panic("unreachable")
}

// raw is a pod's end of a session, message by message.
type raw struct {
	grpc.BidiStreamingClient[sessionpb.PodMessage, sessionpb.ManagerMessage]
	close func()
}

// connection returns a connection to the manager.
func (b *bench) connection() *grpc.ClientConn {
	b.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.pem)
	conn, err := grpc.NewClient("passthrough:///"+b.address, grpc.WithTransportCredentials(
		credentials.NewTLS(&tls.Config{ServerName: session.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS13})))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (b *bench) dial(token string) *raw {
	b.t.Helper()
	conn := b.connection()
	rpc, err := sessionpb.NewSessionsClient(conn).Join(
		metadata.AppendToOutgoingContext(b.t.Context(), "authorization", "Bearer "+token))
	if err != nil {
		b.t.Fatal(err)
	}
	return &raw{rpc, func() { _ = conn.Close() }}
}

// send sends messages. If the manager has ended the session, the receiver finds
// out.
func (r *raw) send(messages ...*sessionpb.PodMessage) {
	for _, m := range messages {
		if r.Send(m) != nil {
			return
		}
	}
}

// until receives messages until get returns one.
func until[M any](t testing.TB, r *raw, get func(*sessionpb.ManagerMessage) *M) *M {
	t.Helper()
	for {
		m, err := r.Recv()
		if err != nil {
			t.Fatalf("want %T: %v", new(M), err)
		}
		if got := get(m); got != nil {
			return got
		}
	}
}

// end receives messages until the session ends.
func (r *raw) end() error {
	for {
		if _, err := r.Recv(); err != nil {
			return err
		}
	}
}

// hello returns a message with a Hello. It sets this version of the protocol if none
// is set.
func hello(h *sessionpb.Hello) *sessionpb.PodMessage {
	if h.Protocol == 0 {
		h.Protocol = session.ProtocolVersion
	}
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Hello{Hello: h}}
}

func started(at int64) []*sessionpb.Start {
	return []*sessionpb.Start{{Stage: measurement, At: at}}
}

// second returns a sample second with requests that took the given times, in
// microseconds.
func second(number int64, took ...int64) *result.ClientSecond {
	s := &result.ClientSecond{Second: number, Measure: *measure(took...)}
	s.Usage = result.ClientUsage{UserCPU: 700, SystemCPU: 300, Throttled: -1, MaxResident: 1 << 20}
	return s
}

func measure(took ...int64) *result.Measure {
	m := &result.Measure{}
	m.Requests = int64(len(took))
	m.BytesReceived = 100 * m.Requests
	for _, t := range took {
		m.Latencies.Of(result.Total).Record(t)
	}
	return m
}

// probeResult returns the result of a probe.
func probeResult() *session.ProbeResult {
	return &session.ProbeResult{Software: "nginx", DocumentLength: 7, TLS: &result.Handshake{Protocol: "TLSv1.3", KeySize: 256}}
}

func probedMessage(result *session.ProbeResult) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeSucceeded{ProbeSucceeded: mustEncode(result)}}
}

func sampleMessage(t testing.TB, number uint64, stage sessionpb.Stage, s *result.ClientSecond) *sessionpb.PodMessage {
	t.Helper()
	w, err := session.SecondToWire(stage, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &sessionpb.PodMessage{Number: number, Message: &sessionpb.PodMessage_ClientSample{ClientSample: w}}
}

func certificate(t testing.TB) ([]byte, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{session.ServerName},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
}
