package driver

import (
	"bytes"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/assay-dev/assay/test/rawserver"
)

// peer is the server's side of an HTTP/2 connection in a test.
type peer struct {
	*http2.Framer
	conn net.Conn
	text bytes.Buffer
	hpack.Encoder
}

// serveFrames starts a server that calls serve for each connection after reading
// its preface, and stops at the end of the test. serve may ignore write errors.
func serveFrames(t *testing.T, serve func(*peer)) string {
	t.Helper()
	return rawserver.Start(t, func(conn net.Conn) { serveFramesOn(conn, serve) })
}

// serveFramesOn calls serve for a connection after reading its preface.
func serveFramesOn(conn net.Conn, serve func(*peer)) {
	p := &peer{Framer: http2.NewFramer(conn, conn), conn: conn}
	p.Encoder = *hpack.NewEncoder(&p.text)
	p.AllowIllegalWrites = true
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err == nil {
		serve(p)
	}
}

// request reads until a request's header section and returns its stream, or 0 at
// the end of the connection.
func (p *peer) request() uint32 {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		if h, ok := f.(*http2.HeadersFrame); ok {
			return h.StreamID
		}
	}
}

// drain reads until the client closes the connection.
func (p *peer) drain() {
	_, _ = io.Copy(io.Discard, p.conn)
}

// block encodes a header section from names and values.
func (p *peer) block(fields ...string) []byte {
	p.text.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = p.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(p.text.Bytes())
}

func (p *peer) head(id uint32, end bool, fields ...string) {
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(fields...), EndHeaders: true, EndStream: end})
}

// serveEach calls answer for each request of a connection.
func serveEach(answer func(p *peer, id uint32)) func(*peer) {
	return func(p *peer) {
		_ = p.WriteSettings()
		for id := p.request(); id != 0; id = p.request() {
			answer(p, id)
		}
	}
}

func raw(text string) func(*peer) {
	return func(p *peer) {
		_, _ = io.WriteString(p.conn, text)
		p.drain()
	}
}
