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
func (q *attempt) exchangeHTTP2(ctx context.Context, conn net.Conn) (*session.Evidence, error) {
	request, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	// That of net/http takes no connection that is open, as the one that was looked
	// at in the handshake.
	transport := &http2.Transport{AllowHTTP: true, DisableCompression: true, MaxHeaderListSize: headBytes} //nolint:staticcheck // see above
	// The beginning of what isn't HTTP/2 says what it is.
	reading := &peeked{Conn: conn, reader: bufio.NewReader(conn)}
	client, err := transport.NewClientConn(reading) //nolint:staticcheck // see above
	if err != nil {
		return nil, q.plain(err)
	}
	defer func() { _ = client.Close() }()
	answer, err := client.RoundTrip(request)
	switch {
	case err != nil && reading.other:
		return nil, q.noHTTP2()
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("no answer within %s", q.Timeout)
	case err != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && !reading.begun:
		return nil, fmt.Errorf("the connection was closed: %w", q.noHTTP2())
	case err != nil:
		return nil, q.plain(err)
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
	// begun is whether anything came, other whether that was HTTP/1.
	begun, other bool
}

// Read is as net.Conn's.
func (p *peeked) Read(b []byte) (int, error) {
	if !p.begun {
		const beginning = "HTTP/1."
		first, err := p.reader.Peek(len(beginning))
		p.begun, p.other = len(first) > 0, string(first) == beginning
		if len(first) == 0 {
			return 0, err
		}
	}
	return p.reader.Read(b)
}
