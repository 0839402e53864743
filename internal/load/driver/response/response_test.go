package response

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

// readOne reads one response from a source that ends after it.
func readOne(source io.Reader, head bool) (Response, *Reader) {
	r := &Reader{}
	r.Attach(source, time.Now())
	return r.Read(head), r
}

func TestResponseReader(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	ok := func(status int, body int64, persistent bool) Response {
		return Response{Status: status, Body: body, Persistent: persistent}
	}
	bad := func(kind result.ErrorKind) Response { return Response{Fault: faults[kind]} }
	for _, test := range []struct {
		name, text string
		head       bool
		want       Response
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, ok(200, 5, true)},
		{"length in other letters", "HTTP/1.1 200 OK\r\ncontent-LENGTH:5 \t\r\n\r\nhello", false, ok(200, 5, true)},
		{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", false, ok(200, 5, true)},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, true)},
		{"empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, true)},
		{"no fields", "HTTP/1.1 204 No Content\r\n\r\n", false, ok(204, 0, true)},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, ok(200, 0, true)},
		{"HEAD of chunks", chunked, true, ok(200, 0, true)},
		{"close", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, false)},
		{"close and keep-alive", "HTTP/1.0 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, false)},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, false)},
		{"HTTP/1.0 keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, true)},
		{"to the end", "HTTP/1.1 200 OK\r\n\r\nhello", false, ok(200, 5, false)},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, true)},
		{"chunks", chunked + "5\r\nhello\r\n006;a=\"b;c\"\r\n world\r\n0\r\n\r\n", false, ok(200, 11, true)},
		{"chunks with trailer", chunked + "A \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n", false, ok(200, 10, true)},
		{"longest size", chunked + "000000000000001\r\nx\r\n0\r\n\r\n", false, ok(200, 1, true)},

		{"line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", false, ok(200, 2, true)},
		{"both line ends", "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 2\r\n\nok", false, ok(200, 2, true)},
		{"continued line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length:\r\n  2\r\n\r\nok", false, ok(200, 2, true)},
		{"continued by spaces", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n \t \r\n\r\nok", false, ok(200, 2, true)},
		{"continued after a line feed", "HTTP/1.1 200 OK\nTransfer-Encoding:\n chunked\n\n2\r\nok\r\n0\r\nX: y\r\n z\r\n\r\n", false, ok(200, 2, true)},
		{"empty lines first", "\r\n\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, ok(200, 2, true)},
		{"empty lines after interim", "HTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, ok(200, 2, true)},

		{"many empty lines first", strings.Repeat("\r\n", maxEmptyLines+1) + "HTTP/1.1 204 No Content\r\n\r\n", false, bad(result.ErrorException)},
		{"nothing", "", false, bad(result.ErrorReceive)},
		{"cut in the status line", "HTTP/1.1 20", false, bad(result.ErrorReceive)},
		{"not HTTP", "hello", false, bad(result.ErrorException)},
		{"HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", false, bad(result.ErrorException)},
		{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", false, bad(result.ErrorException)},
		{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", false, bad(result.ErrorException)},
		{"status with a sign", "HTTP/1.1 +20 OK\r\n\r\n", false, bad(result.ErrorException)},
		{"status below 100", "HTTP/1.1 099 OK\r\n\r\n", false, bad(result.ErrorException)},
		{"no colon", "HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\n", false, bad(result.ErrorException)},
		{"space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", false, bad(result.ErrorException)},
		{"continued line before a field", "HTTP/1.1 200 OK\r\n b\r\n\r\n", false, bad(result.ErrorException)},
		{"length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", false, bad(result.ErrorException)},
		{"empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", false, bad(result.ErrorException)},
		{"list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", false, bad(result.ErrorException)},
		{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", false, bad(result.ErrorException)},
		{"other coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", false, bad(result.ErrorException)},
		{"chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, bad(result.ErrorException)},
		{"chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, bad(result.ErrorException)},
	} {
		t.Run(name(test.name), func(t *testing.T) {
			for way, source := range map[string]io.Reader{
				"whole":        bytes.NewReader([]byte(test.text)),
				"byte by byte": iotest.OneByteReader(bytes.NewReader([]byte(test.text))),
			} {
				got, r := readOne(source, test.head)
				if got = flat(got); got != test.want {
					t.Errorf("%s: got %+v, want %+v", way, got, test.want)
				}
				if got.Fault == nil && r.Received != int64(len(test.text)) {
					t.Errorf("%s: %d bytes received of %d", way, r.Received, len(test.text))
				}
			}
		})
	}
	for _, chunks := range []string{
		"\r\n", "g\r\n", "-1\r\n", "0x5\r\nhello\r\n", "5\nhello\r\n", "5\r\nhelloX\r\n", "5\r\nhello\n", "0\r\nno field\r\n\r\n",
		"0000000000000005\r\nhello\r\n", "5 5\r\nhello\r\n",
	} {
		if got, _ := readOne(bytes.NewReader([]byte(chunked+chunks+"0\r\n\r\n")), false); !got.Fault.Is(result.ErrorException) {
			t.Errorf("chunks %q: %+v", chunks, got)
		}
	}
}

func name(text string) string {
	if text == "" {
		return "empty"
	}
	return text
}

// TestLongestHead checks that a header section may be longer than a read buffer, up to the limit.
func TestLongestHead(t *testing.T) {
	for length, want := range map[int]*fault.Fault{
		BufferBytes: nil, BufferBytes + 1: nil, 40 << 10: nil, MaxHeadBytes: nil, MaxHeadBytes + 1: errLongHead,
	} {
		text := []byte("HTTP/1.1 204 No Content\r\nX: ")
		text = append(text, bytes.Repeat([]byte("x"), length-len(text)-len("\r\n\r\n"))...)
		text = append(text, "\r\n\r\n"...)
		if got, _ := readOne(bytes.NewReader(text), false); got.Fault != want {
			t.Errorf("a head of %d bytes: %+v", length, got)
		}
	}
}

// discarding is a source that implements Discarder.
type discarding struct{ *strings.Reader }

func (d discarding) Discard(p []byte) (int, error) { return d.Read(p) }

// TestDiscardStopsAtBodyEnd checks that bytes after a discarded body are
// detected, and that bytes after a chunk aren't discarded with it.
func TestDiscardStopsAtBodyEnd(t *testing.T) {
	body := strings.Repeat("x", BufferBytes+LongBodyBytes)
	for text, want := range map[string]Response{
		"HTTP/1.1 200 OK\r\nContent-Length: 40960\r\n\r\n" + body:                                {Status: 200, Body: 40960, Persistent: true},
		"HTTP/1.1 200 OK\r\nContent-Length: 40960\r\n\r\n" + body + "more":                       {Status: 200, Body: 40960, Fault: faults[result.ErrorLength]},
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na000\r\n" + body + "\r\n0\r\n\r\n": {Status: 200, Body: 40960, Persistent: true},
	} {
		r := &Reader{}
		for range 2 { // the second time r.long is set
			r.Attach(discarding{strings.NewReader(text)}, time.Now())
			got := r.Read(false)
			if got = flat(got); got != want {
				t.Errorf("%.60q: %+v, want %+v", text, got, want)
			}
		}
	}
}

// TestRepeatedHeads checks that a header section is recognized by its text,
// whatever follows it.
func TestRepeatedHeads(t *testing.T) {
	const known = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
	r := &Reader{}
	r.Attach(strings.NewReader(known+"ok"+known+"ok"+"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\noh!"+known+"ok"), time.Now())
	// The responses arrive together, which is a fault for all but the last.
	for i, want := range []Response{{Status: 200, Body: 2}, {Status: 200, Body: 2}, {Status: 404, Body: 3}, {Status: 200, Body: 2}} {
		if got := r.Read(false); got.Status != want.Status || got.Body != want.Body {
			t.Errorf("response %d: %+v, want %+v", i, got, want)
		}
	}
}

// BenchmarkHead reads a header section of nginx: the same as the one before, and
// another one.
func BenchmarkHead(b *testing.B) {
	const text = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 16:00:00 GMT\r\nContent-Type: application/octet-stream\r\n" +
		"Content-Length: 0\r\nLast-Modified: Sat, 21 Nov 2026 15:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"6740a000-400\"\r\nAccept-Ranges: bytes\r\n\r\n"
	for _, name := range []string{"known", "new"} {
		b.Run(name, func(b *testing.B) {
			source := strings.NewReader(text)
			r := &Reader{}
			r.Attach(source, time.Now())
			for b.Loop() {
				source.Reset(text)
				if name == "new" {
					r.knownText = r.knownText[:0]
				}
				if got := r.Read(false); got.Status != 200 {
					b.Fatalf("%+v", got)
				}
			}
		})
	}
}
