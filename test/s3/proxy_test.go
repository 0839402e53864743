package s3

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// proxy forwards connections to a server. It kills the server once, either when clients have sent a number of bytes, or
// when the server answers a request that it has read as a whole. Clients then lose their connections.
type proxy struct {
	listener net.Listener
	server   *server

	mu sync.Mutex
	// request is the number of bytes of requests after which the server is killed; 0 for never.
	request int
	// response makes the proxy kill the server when it answers.
	response bool
	open     map[net.Conn]bool
	wait     sync.WaitGroup
	struck   chan struct{} // closed when the server was killed
}

func newProxy(t *testing.T, s *server) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: s, open: map[net.Conn]bool{}, struck: make(chan struct{})}
	p.wait.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.closeAll()
		p.wait.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp4", p.server.address)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		p.wait.Go(func() { p.forward(server, client, p.sent) })
		p.wait.Go(func() { p.forward(client, server, p.answered) })
	}
}

// forward copies from one connection to another until strikes says that the server must go.
func (p *proxy) forward(to, from net.Conn, strikes func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && strikes(buffer[:n]) {
			p.server.kill()
			p.closeAll()
			close(p.struck)
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) sent(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.request == 0 {
		return false
	}
	p.request = max(p.request-len(data), 0)
	return p.request == 0
}

func (p *proxy) answered(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.response || bytes.HasPrefix(data, []byte("HTTP/1.1 100 ")) {
		return false
	}
	p.response = false
	return true
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
}
