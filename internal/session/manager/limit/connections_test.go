package limit

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// TestNewConnectionsOfAnAddress opens connections one after the other and closes each: as many at once as an address may open, and
// hardly more. Another address isn't affected.
func TestNewConnectionsOfAnAddress(t *testing.T) {
	const most = 4
	tcp, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := NewListener(tcp, most)
	ended := make(chan error)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				ended <- err
				return
			}
			_, _ = conn.Write([]byte("x"))
			_ = conn.Close()
		}
	}()
	accepted := func(from string) bool {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := dialer.DialContext(context.Background(), "tcp", listener.Addr().String())
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close() }()
		read, _ := io.ReadAll(conn)
		return len(read) == 1
	}
	n := 0
	for n < 1000 && accepted("127.0.0.1") {
		n++
	}
	if n < 2*most || n == 1000 {
		t.Errorf("%d connections were accepted, want about %d", n, 2*most)
	}
	if !accepted("127.0.0.2") {
		t.Error("another address was refused")
	}
	_ = listener.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
