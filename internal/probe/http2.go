package probe

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/http2"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// transport is a connection as the driver uses it. It calls written when the request is about to be written: then it is known to the
// connection, and gets whatever the server does.
type transport struct {
	rememberingConn
	once    sync.Once
	written func()
}

// Write implements net.Conn.
func (t *transport) Write(b []byte) (int, error) {
	t.once.Do(t.written)
	return t.Conn.Write(b)
}

// SetLinger does nothing: a probe needs no port for long.
func (*transport) SetLinger(int) error { return nil }

// exchangeHTTP2 is exchange for HTTP/2. It fails if the server allows too few streams for the load.
func (q *attempt) exchangeHTTP2(conn net.Conn) (*session.ProbeResult, error) {
	r, table, err := q.request()
	if err != nil {
		return nil, err
	}
	link := &transport{rememberingConn: rememberingConn{Conn: conn}}
	var serving sync.WaitGroup
	connection := http2.New(http2.Config{
		Transport: link, Table: table, Buffer: make([]byte, response.BufferBytes), Start: time.Now(), Timeout: q.Timeout, Streams: q.Streams,
		Go: serving.Go, Retired: func() {}, Closed: func(bool) {},
	})
	link.written = func() { serving.Go(connection.Serve) }
	stream, fields := http2.NewStream(), &response.Fields{}
	stream.Limit = maxBodyBytes
	connection.RoundTrip(stream, r, 0, nil, fields)
	connection.End()
	serving.Wait()
	got := &stream.Response
	switch f := got.Fault; {
	case f == nil:
	case f.Cause == http2.OtherHTTP.Cause:
		return nil, q.noHTTP2()
	case f.Cause == http2.FewStreams.Cause:
		return nil, fmt.Errorf("%s (%s): lower load.client.streams, or configure the server to allow as many", f.Cause, f.Detail)
	// A server that closes before it has read the request resets the connection.
	case f.Is(result.ErrorReceive) && (errors.Is(link.failed, io.EOF) || errors.Is(link.failed, syscall.ECONNRESET) || errors.Is(link.failed, net.ErrClosed)) && stream.FirstByte == 0:
		return nil, fmt.Errorf("the connection was closed: %w", q.noHTTP2())
	}
	shown, err := q.read(r, got, fields, link.failed)
	if err != nil {
		return nil, err
	}
	shown.HTTP = result.HTTP2
	return shown, nil
}

// noHTTP2 returns the error that the server doesn't speak HTTP/2, and what to change.
func (q *attempt) noHTTP2() error {
	if q.TLS != nil {
		return errors.New("the server doesn't speak HTTP/2: it didn't select h2 by ALPN: enable HTTP/2 on the server, or set load.client.protocol to HTTP1")
	}
	return errors.New("the server doesn't speak HTTP/2 without TLS (h2c with prior knowledge): enable it on the server, or set load.client.protocol to HTTP1")
}
