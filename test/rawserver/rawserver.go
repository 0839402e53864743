// Package rawserver has a server for tests that need connections alone.
package rawserver

import (
	"net"
	"sync"
	"testing"
)

// Start starts a server that calls serve for each connection, and then closes it. It returns the server's host and port.
// At the end of the test it waits for all connections.
func Start(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			})
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}
