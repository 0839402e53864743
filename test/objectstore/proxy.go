package objectstore

import (
	"bytes"
	"net"
	"sync"
)

// Proxy forwards connections to a server, which it can kill. Clients then lose their connections.
type Proxy struct {
	listener net.Listener
	server   *Server
	wait     sync.WaitGroup

	mu sync.Mutex
	// request is the number of bytes of requests after which the server is killed; 0 for never. Those of a connection
	// count from the first request of the method on.
	request int
	method  string
	// response makes the proxy kill the server when it answers.
	response bool
	open     map[net.Conn]bool
	struck   chan struct{} // closed when the server was killed
}

// NewProxy starts a proxy on an address of a host. The caller must call Close.
func NewProxy(host string, s *Server) (*Proxy, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, server: s, open: map[net.Conn]bool{}}
	p.wait.Go(p.accept)
	return p, nil
}

// Close ends the proxy and all connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.closeAll()
	p.wait.Wait()
}

// Address returns the proxy's host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// KillAfter makes the proxy kill the server once, when clients have sent a number of bytes of requests of a method, or of all if that is
// empty. The channel is closed when the server is gone.
func (p *Proxy) KillAfter(bytes int, method string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.request, p.method, p.struck = bytes, method, make(chan struct{})
	return p.struck
}

// KillOnAnswer makes the proxy kill the server once, when it answers a request that it has read in full.
func (p *Proxy) KillOnAnswer() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.response, p.struck = true, make(chan struct{})
	return p.struck
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp4", p.server.Address)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		counts := false
		p.wait.Go(func() { p.forward(server, client, func(data []byte) bool { return p.sent(data, &counts) }) })
		p.wait.Go(func() { p.forward(client, server, p.answered) })
	}
}

// forward copies from one connection to another until strikes says that the server must go.
func (p *Proxy) forward(to, from net.Conn, strikes func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 1024)
	for {
		n, err := from.Read(buffer)
		if n > 0 && strikes(buffer[:n]) {
			p.server.Kill()
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

// sent reports whether the server must be killed before it receives data. counts says whether a connection's bytes count.
func (p *Proxy) sent(data []byte, counts *bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	*counts = *counts || bytes.HasPrefix(data, []byte(p.method))
	if p.request == 0 || !*counts {
		return false
	}
	p.request = max(p.request-len(data), 0)
	return p.request == 0
}

func (p *Proxy) answered(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.response || bytes.HasPrefix(data, []byte("HTTP/1.1 100 ")) {
		return false
	}
	p.response = false
	return true
}

func (p *Proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
}
