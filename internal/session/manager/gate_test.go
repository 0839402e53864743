package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestRefusedTokens sends tokens from one address that are all refused. Of 10,000 in ten seconds, the
// API server is asked about a few. Another address isn't affected.
func TestRefusedTokens(t *testing.T) {
	g, now, asked := newGate(), time.Unix(0, 0), 0
	refuse := func() (Identity, error) { asked++; return Identity{}, fmt.Errorf("%w: planted", ErrUnauthenticated) }
	accept := func() (Identity, error) { return clientOf("run", 0), nil }
	for i := range 10_000 {
		if _, err := g.identify(now, "attacker", fmt.Sprint(i), refuse); !errors.Is(err, ErrUnauthenticated) && !errors.Is(err, errTooManyTokens) {
			t.Fatal(err)
		}
		now = now.Add(time.Millisecond)
	}
	if most := maxRefusals + 10*refusalRate; asked > most || asked < maxRefusals {
		t.Errorf("the API server was asked %d times, want at most %d", asked, most)
	}
	if _, err := g.identify(now, "other", "good", accept); err != nil {
		t.Errorf("another address: %v", err)
	}
	if _, err := g.identify(now.Add(time.Second), "attacker", "good as well", accept); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// TestAcceptedTokens sends one token again and again, and many tokens at once.
func TestAcceptedTokens(t *testing.T) {
	g, now, asked := newGate(), time.Unix(0, 0), 0
	accept := func() (Identity, error) { asked++; return clientOf("run", 0), nil }
	for range 1000 {
		if i, err := g.identify(now, "pod", "token", accept); err != nil || i != clientOf("run", 0) {
			t.Fatal(i, err)
		}
	}
	if asked != 1 {
		t.Errorf("the API server was asked %d times", asked)
	}
	if _, err := g.identify(now.Add(identityLifetime), "pod", "token", accept); err != nil || asked != 2 {
		t.Errorf("after %s: asked %d times, %v", identityLifetime, asked, err)
	}
	for i := range 3 * maxIdentities {
		if _, err := g.identify(now, fmt.Sprint(i), fmt.Sprint(i), accept); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.identities) > maxIdentities || len(g.callers) > 1 {
		t.Errorf("%d identities and %d addresses are kept", len(g.identities), len(g.callers))
	}

	// While the API server doesn't answer, an address can't have any number of calls wait for it.
	waiting, blocked := 0, newGate()
	var nest func() (Identity, error)
	nest = func() (Identity, error) {
		waiting++
		return blocked.identify(now, "pod", fmt.Sprint("token ", waiting), nest)
	}
	if _, err := nest(); !errors.Is(err, errTooManyTokens) || waiting != maxIdentifying+1 {
		t.Errorf("%d calls wait: %v", waiting-1, err)
	}
}

// TestStreamsOfAPod opens streams with a pod's token, over as many connections, and sends no Hello.
func TestStreamsOfAPod(t *testing.T) {
	b := newBench(t)
	for range maxPodStreams {
		b.dial(token(clientOf("run", 0)))
	}
	streams := func() int {
		b.gate.mu.Lock()
		defer b.gate.mu.Unlock()
		return b.gate.streams[clientOf("run", 0).PodUID]
	}
	for deadline := time.Now().Add(30 * time.Second); streams() < maxPodStreams; {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams", streams())
		}
		runtime.Gosched()
	}
	if err := b.dial(token(clientOf("run", 0))).end(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more ended with %v", err)
	}
	other := b.dial(token(clientOf("run", 1)))
	other.send(hello(&sessionpb.Hello{Role: client}))
	until(t, other, welcome)
}

// TestHalfOpenHandshakes opens connections that send nothing. Those above the limit are closed at
// once. A connection with a session doesn't count.
func TestHalfOpenHandshakes(t *testing.T) {
	b := newBench(t)
	b.join(clientOf("run", 0))
	b.await("run", "connected", func(o session.Observation) bool { return o.Clients[0].Connected })
	const maxWaiting = 64 // of limit.NewListener
	for i := range maxWaiting + 10 {
		conn, err := net.Dial("tcp", b.address)
		if errors.Is(err, syscall.ECONNRESET) && i >= maxWaiting {
			continue // it was closed before the dialing side looked
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if i < maxWaiting {
			continue
		}
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("connection %d is open, and sent %d bytes", i, n)
		}
	}
	if o := b.Observe("run"); !o.Clients[0].Connected {
		t.Error("a session was closed")
	}
}

// TestConnectionsOfAnAddress opens connections with complete handshakes, and closes them.
func TestConnectionsOfAnAddress(t *testing.T) {
	_, config := certificate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(identify, func(string) {}, logr.Discard())
	s.ConnectionsPerAddress = 8
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, listener, config) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	dial := func() (*tls.Conn, error) {
		return tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	}
	var open []*tls.Conn
	for len(open) < s.ConnectionsPerAddress {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	if conn, err := dial(); err == nil {
		_ = conn.Close()
		t.Error("one more is accepted")
	}
	_ = open[0].Close()
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := dial()
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("in place of one that was closed: %v", err)
		}
	}
	for _, conn := range open {
		_ = conn.Close()
	}
}

// TestChangesAreAnnouncedOnce has runs change while their announcement waits.
func TestChangesAreAnnouncedOnce(t *testing.T) {
	c := newChanges()
	for range 100_000 {
		c.add("a")
		c.add("b")
	}
	if len(c.runs) != 2 {
		t.Errorf("%d runs are kept", len(c.runs))
	}
	ctx, cancel := context.WithCancel(t.Context())
	announced := map[string]int{}
	c.announce(ctx, func(run string) {
		announced[run]++
		if run == "c" {
			cancel()
		}
		if len(announced) == 2 { // it changes while the runs are announced
			c.add("c")
		}
	})
	if announced["a"] != 1 || announced["b"] != 1 || announced["c"] != 1 {
		t.Errorf("announced %v", announced)
	}
}

// TestPanicsOfReadings damages the metrics of a run, so that the controller's call panics. The run
// fails with the reason.
func TestPanicsOfReadings(t *testing.T) {
	s := New(identify, func(string) {}, logr.Discard())
	for name, read := range map[string]func(run string){
		"observe": func(run string) { s.Observe(run) },
		"series":  func(run string) { s.Series(run) },
	} {
		t.Run(name, func(t *testing.T) {
			r := s.of(name)
			st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
			if err := r.join(st, clientOf(name, 0), &sessionpb.Hello{Role: client, Instance: 1, Starts: started(fuzzStart)}); err != nil {
				t.Fatal(err)
			}
			r.series = nil
			r.progress = map[sessionpb.Stage]*progress{measurement: nil}
			read(name)
			if c := s.Observe(name).Clients[0]; !strings.HasPrefix(c.Failure, "the manager panicked") {
				t.Errorf("%+v", c)
			}
			if err := <-st.ends; status.Code(err) != codes.Internal {
				t.Errorf("the session ends with %v", err)
			}
		})
	}
}
