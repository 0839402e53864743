package manager

import (
	"context"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/assay-dev/assay/internal/session/pod"
)

// names is a DNS server with the addresses of one host.
type names struct {
	mu        sync.Mutex
	addresses []string
}

func (n *names) set(addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses = addresses
}

// serveNames starts a DNS server that answers the lookups of this process.
func serveNames(t *testing.T) *names {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{}
	go func() {
		buffer := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer := n.answer(buffer[:size]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() { net.DefaultResolver = before; _ = conn.Close() })
	return n
}

func (n *names) answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true}, Questions: m.Questions}
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		for _, address := range n.addresses {
			answer.Answers = append(answer.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1},
				Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(address).To4())},
			})
		}
	}
	packed, err := answer.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

// TestPodFindsTheLeader has several addresses of managers, of which only the leader
// listens. The leader changes, at last to an address that is new.
func TestPodFindsTheLeader(t *testing.T) {
	names := serveNames(t)
	b := newBench(t)
	_, port, err := net.SplitHostPort(b.address)
	if err != nil {
		t.Fatal(err)
	}
	b.kill()

	// 192.0.2.1 (RFC 5737) doesn't answer at all.
	names.set("192.0.2.1", "127.0.0.2", "127.0.0.3")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := pod.New(pod.Config{
		Addresses: net.JoinHostPort("managers.example.com", port), Role: client,
		Token: func() (string, error) { return token(clientOf("run", 0)), nil },
		CA:    func() ([]byte, error) { return b.pem, nil },
	})
	go func() { _ = c.Run(ctx) }()
	c.Ready("3")
	for _, leader := range []string{"127.0.0.3", "127.0.0.2", "127.0.0.4"} {
		names.set("192.0.2.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
		b.address = net.JoinHostPort(leader, port)
		b.restart()
		b.await("run", "ready at "+leader, ready(1))
	}
}
