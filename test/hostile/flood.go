package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const (
	// floodConnections is the number of connections to each door, and floodHeader the length of the header that each
	// begins and never ends, in bytes.
	floodConnections = 400
	floodHeader      = 1 << 20
	// floodPause is the time after which a connection that the other side has closed is replaced.
	floodPause = 50 * time.Millisecond
)

// flood opens connections to addresses, begins a request with a large header on each, and replaces those that are closed,
// until ctx is done. It returns how many it opened and how many of them the other side closed or refused.
func flood(ctx context.Context, addresses []string, connections int) (opened, closed int64) {
	var all sync.WaitGroup
	var open, end atomic.Int64
	for _, address := range addresses {
		secure := speaksTLS(ctx, address)
		for range connections {
			all.Go(func() {
				for ctx.Err() == nil {
					if unfinished(ctx, address, secure) {
						open.Add(1)
					}
					if ctx.Err() == nil {
						end.Add(1)
					}
					harness.Sleep(ctx, floodPause)
				}
			})
		}
	}
	all.Wait()
	return open.Load(), end.Load()
}

// speaksTLS reports whether a door accepts a TLS handshake.
func speaksTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := (&tls.Dialer{Config: anyServer}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// anyServer is for doors: an attacker doesn't care who answers.
var anyServer = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}

// unfinished begins a request and keeps it open until the other side closes the connection or ctx is done. It reports whether
// there was a connection.
func unfinished(ctx context.Context, address string, secure bool) bool {
	var conn net.Conn
	var err error
	if secure {
		conn, err = (&tls.Dialer{Config: anyServer}).DialContext(ctx, "tcp", address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\nX-Unfinished: ", address)
	for sent := 0; err == nil && sent < floodHeader; sent += len(filler) {
		_, err = conn.Write(filler)
	}
	for buffer := make([]byte, 512); err == nil; {
		_, err = conn.Read(buffer)
	}
	return true
}

var filler = bytes.Repeat([]byte("x"), 64<<10)
