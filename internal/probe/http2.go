package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"golang.org/x/net/http2"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// exchangeHTTP2 is exchange for HTTP/2. It fails if the server allows too few streams for the load.
func (q *attempt) exchangeHTTP2(ctx context.Context, conn net.Conn) (*session.ProbeResult, error) {
	request, err := q.httpRequest(ctx)
	if err != nil {
		return nil, err
	}
	// The transport of net/http can't use an open connection, whose handshake was observed.
	transport := &http2.Transport{AllowHTTP: true, DisableCompression: true, MaxHeaderListSize: maxHeadBytes} //nolint:staticcheck // see above
	// The first bytes of a response that isn't HTTP/2 show what it is.
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn), known: make(chan struct{})}
	client, err := transport.NewClientConn(peeked) //nolint:staticcheck // see above
	if err != nil {
		return nil, q.plain(err)
	}
	defer func() { _ = client.Close() }()
	response, err := client.RoundTrip(request)
	if err != nil {
		return nil, q.failureHTTP2(ctx, peeked, err)
	}
	defer func() { _ = response.Body.Close() }()
	if limit := client.State().MaxConcurrentStreams; int64(limit) < int64(q.Streams) {
		return nil, fmt.Errorf("the server allows %d streams on a connection: lower load.client.streams from %d, or configure the server to allow as many", limit, q.Streams)
	}
	r, err := q.read(response)
	if err != nil {
		return nil, err
	}
	r.HTTP = result.HTTP2
	return r, nil
}

// failureHTTP2 returns why there was no response: RoundTrip may only say that the connection
// failed.
func (q *attempt) failureHTTP2(ctx context.Context, conn *peekedConn, err error) error {
	select {
	case <-conn.known:
	case <-ctx.Done():
		return fmt.Errorf("no response within %s", q.Timeout)
	}
	switch {
	case conn.other:
		return q.noHTTP2()
	case ctx.Err() != nil:
		return fmt.Errorf("no response within %s", q.Timeout)
	// A server that closes before it has read the request resets the connection. If writing finds that out,
	// the transport closes the connection before it is read.
	case errors.Is(conn.failed, io.EOF), errors.Is(conn.failed, syscall.ECONNRESET), errors.Is(conn.failed, net.ErrClosed):
		return fmt.Errorf("the connection was closed: %w", q.noHTTP2())
	case conn.failed != nil:
		return q.plain(conn.failed)
	}
	return q.plain(err)
}

// noHTTP2 returns the error that the server doesn't speak HTTP/2, and what to change.
func (q *attempt) noHTTP2() error {
	if q.TLS != nil {
		return errors.New("the server doesn't speak HTTP/2: it didn't select h2 by ALPN: enable HTTP/2 on the server, or set load.client.protocol to HTTP1")
	}
	return errors.New("the server doesn't speak HTTP/2 without TLS (h2c with prior knowledge): enable it on the server, or set load.client.protocol to HTTP1")
}

// peekedConn is a connection that looks at the first bytes that it receives.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
	// known is closed when the first bytes were received or receiving failed. Then other reports
	// whether they were HTTP/1, and failed is the error.
	known  chan struct{}
	begun  bool
	other  bool
	failed error
}

// Read implements net.Conn.
func (p *peekedConn) Read(b []byte) (int, error) {
	if !p.begun {
		const beginning = "HTTP/1."
		first, err := p.reader.Peek(len(beginning))
		p.begun, p.other = true, string(first) == beginning
		if len(first) == 0 {
			p.failed = err
		}
		close(p.known)
	}
	return p.reader.Read(b)
}
