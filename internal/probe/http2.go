package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/net/http2"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// exchangeHTTP2 is exchange in HTTP/2. A server that allows fewer concurrent
// requests on a connection than the load is to have is no answer.
func (q *attempt) exchangeHTTP2(ctx context.Context, conn net.Conn) (*session.ProbeResult, error) {
	request, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	// That of net/http takes no connection that is open, as the one that was looked
	// at in the handshake.
	transport := &http2.Transport{AllowHTTP: true, DisableCompression: true, MaxHeaderListSize: headBytes} //nolint:staticcheck // see above
	// The beginning of what isn't HTTP/2 says what it is.
	reading := &peeked{Conn: conn, reader: bufio.NewReader(conn), known: make(chan struct{})}
	client, err := transport.NewClientConn(reading) //nolint:staticcheck // see above
	if err != nil {
		return nil, q.plain(err)
	}
	defer func() { _ = client.Close() }()
	answer, err := client.RoundTrip(request)
	if err != nil {
		return nil, q.refusalHTTP2(ctx, reading, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if most := client.State().MaxConcurrentStreams; int64(most) < int64(q.Streams) {
		return nil, fmt.Errorf("the server allows %d streams on a connection: lower load.connection.streams from %d, or have the server allow as many", most, q.Streams)
	}
	evidence, err := q.read(answer)
	if err != nil {
		return nil, err
	}
	evidence.HTTP = result.HTTP2
	return evidence, nil
}

// refusalHTTP2 says why there was no answer, which RoundTrip may put down to the
// connection alone.
func (q *attempt) refusalHTTP2(ctx context.Context, reading *peeked, err error) error {
	select {
	case <-reading.known:
	case <-ctx.Done():
		return fmt.Errorf("no answer within %s", q.Timeout)
	}
	switch {
	case reading.other:
		return q.noHTTP2()
	case ctx.Err() != nil:
		return fmt.Errorf("no answer within %s", q.Timeout)
	case errors.Is(reading.failed, io.EOF):
		return fmt.Errorf("the connection was closed: %w", q.noHTTP2())
	case reading.failed != nil:
		return q.plain(reading.failed)
	}
	return q.plain(err)
}

// noHTTP2 says that the server doesn't speak HTTP/2, and what to change.
func (q *attempt) noHTTP2() error {
	if q.TLS != nil {
		return errors.New("the server doesn't speak HTTP/2, it didn't agree to h2 by ALPN: switch it on there, or set load.connection.protocol to HTTP1")
	}
	return errors.New("the server doesn't speak HTTP/2 without TLS (h2c with prior knowledge): switch it on there, or set load.connection.protocol to HTTP1")
}

// peeked is a connection of which is known how what came first begins.
type peeked struct {
	net.Conn
	reader *bufio.Reader
	// known is closed once something came or nothing will: then other is whether that
	// was HTTP/1, failed why it was nothing.
	known  chan struct{}
	begun  bool
	other  bool
	failed error
}

// Read is as net.Conn's.
func (p *peeked) Read(b []byte) (int, error) {
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
