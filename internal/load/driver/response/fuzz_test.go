package response

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

// stricter lists why the reader rejects responses that net/http accepts: a
// reason, and a pattern that matches such a response. If the reader rejects a
// response that net/http accepts and no pattern matches, that is a defect.
var stricter = []struct {
	why    string
	occurs *regexp.Regexp
}{
	{"a carriage return that ends no line (RFC 9112, section 2.2)", regexp.MustCompile(`\r([^\n]|$)`)},
	{"a control character in a line (RFC 9110, section 5.5)", regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]`)},
	{"a field whose name is no token (RFC 9110, section 5.1)", regexp.MustCompile("\\n[^:\\r\\n]*[^-!#$%&'*+.^_`|~0-9A-Za-z:\\r\\n][^:\\r\\n]*:")},
	{"a version that isn't HTTP/1.0 or HTTP/1.1", regexp.MustCompile(`(^|\n)HTTP/([^1]|1\.[^01])`)},
	{"a status below 100, or not of three digits (RFC 9112, section 4)", regexp.MustCompile(`(^|\n)HTTP/1\.[01] +([^1-9]|.[^0-9]|..[^0-9]| )`)},
	{"more than one space before the status (RFC 9112, section 4)", regexp.MustCompile(`(^|\n)HTTP/1\.[01]  `)},
	{"an unrequested switch of protocols", regexp.MustCompile(`(^|\n)HTTP/1\.[01] 101`)},
	{"a length and a transfer coding, as in request smuggling (RFC 9112, section 6.3)", regexp.MustCompile(`(?is)content-length.*transfer-encoding|transfer-encoding.*content-length`)},
	{"a transfer coding in HTTP/1.0, which has none (RFC 9112, section 6.1)", regexp.MustCompile(`(?is)HTTP/1\.0.*transfer-encoding`)},
	{"a length of more than 2⁵⁰ bytes", regexp.MustCompile(`(?i)content-length:[ \t]*[0-9]{16,}`)},
	{"a chunk size of more than 15 digits", regexp.MustCompile(`\n[0-9A-Fa-f]{16}`)},
}

// responses are the seeds of the fuzzing. Every test run reads them.
var responses = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200\r\n\r\nuntil the end",
	"HTTP/1.1 204 No Content\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 1\r\n\r\n!",
	"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello and more",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nA b: c\r\n d\r\n\r\n",
	"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
	"\r\n\nHTTP/1.1 200 OK\nContent-Length:\n\t5\r\nX: a\r\n b\n\r\nhello",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\n\n1\r\nx\r\n0\r\nA: b\r\n c\r\n\r\n",
	"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nx\n0\n\n",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000000A\r\n0123456789\r\n0\r\n\r\n",
	"HTTP/1.1  200 OK\r\nContent-Length:\r\n\r\n",
}

// FuzzResponse compares the reader with net/http's. What the reader accepts,
// net/http must accept with the same result. What the reader rejects, net/http
// must reject too, unless a reason in stricter applies. A response must be read
// the same in one piece and byte by byte.
func FuzzResponse(f *testing.F) {
	for _, seed := range responses {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool) {
		got, r := readOne(bytes.NewReader(text), head)
		inPieces, _ := readOne(iotest.OneByteReader(bytes.NewReader(text)), head)
		unused := r.to - r.from
		if got.Fault != nil && got.Fault == got.Excess && got.Status != 0 {
			got.Fault = nil // byte by byte, the excess isn't detected
			got.Persistent = inPieces.Persistent
		}
		if flat(got) != flat(inPieces) {
			t.Fatalf("%q is %+v at once, %+v byte by byte", text, got, inPieces)
		}
		source := bufio.NewReaderSize(bytes.NewReader(text), len(text)+16)
		want, body, err := readByNetHTTP(source, head)
		if got.Fault != nil {
			if err == nil && !refusedFor(text) {
				t.Errorf("%q is %+v, net/http reads status %d and %d bytes", text, got, want.StatusCode, body)
			}
			return
		}
		switch {
		case err != nil:
			t.Fatalf("%q is %+v, net/http fails: %v", text, got, err)
		case got.Status != want.StatusCode || got.Body != body:
			t.Errorf("%q is %+v, net/http has status %d and %d bytes", text, got, want.StatusCode, body)
		case unused != source.Buffered():
			t.Errorf("%q: %d bytes unused, net/http leaves %d", text, unused, source.Buffered())
		case got.Persistent && want.Close:
			t.Errorf("%q: the connection is kept, net/http closes it", text)
		}
	})
}

// flat returns what a response has in common however it arrives: the cause of a fault may depend on that.
func flat(r Response) Response {
	r.Excess = nil
	if r.Fault != nil {
		r.Fault = faults[r.Fault.Kind]
	}
	return r
}

// faults has a fault of each kind.
var faults = func() (all [result.ErrorKinds]*fault.Fault) {
	for kind := range all {
		all[kind] = fault.New(result.ErrorKind(kind), "")
	}
	return all
}()

// readByNetHTTP reads a response and its body with net/http. It skips interim
// responses.
func readByNetHTTP(source *bufio.Reader, head bool) (*http.Response, int64, error) {
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	for {
		for range maxEmptyLines { // which net/http doesn't skip
			start, _ := source.Peek(2)
			_, _ = source.Discard(leadingEmptyLine(start))
		}
		resp, err := http.ReadResponse(source, &http.Request{Method: method})
		if err != nil {
			return nil, 0, err
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			body, err := io.Copy(io.Discard, resp.Body)
			return resp, body, err
		}
	}
}

// refusedFor reports whether there is a reason to reject a response that net/http
// accepts.
func refusedFor(text []byte) bool {
	// The reader limits the number of interim responses and the length of lines,
	// and its buffer limits header sections.
	if len(text) >= maxChunkLine || strings.Count(string(text), "HTTP/1.") > MaxInterim {
		return true
	}
	for _, s := range stricter {
		if s.occurs.Match(text) {
			return true
		}
	}
	return false
}

// TestStricter checks that each reason in stricter has a response that net/http
// accepts and the reader rejects.
func TestStricter(t *testing.T) {
	examples := []string{
		"HTTP/1.1 200 O\rK\r\n\r\n",
		"HTTP/1.1 200 \x01\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX y: a\r\n\r\n",
		"HTTP/1.9 200 OK\r\n\r\n",
		"HTTP/1.1 099 OK\r\n\r\n",
		"HTTP/1.1  200 OK\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 9999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000001\r\nx\r\n0\r\n\r\n",
	}
	if len(examples) != len(stricter) {
		t.Fatalf("%d examples of %d reasons", len(examples), len(stricter))
	}
	for i, text := range examples {
		if !stricter[i].occurs.MatchString(text) {
			t.Errorf("%q isn't %s", text, stricter[i].why)
		}
		if got, _ := readOne(strings.NewReader(text), false); !got.Fault.Is(result.ErrorException) {
			t.Errorf("%q is %+v", text, got)
		}
		if _, _, err := readByNetHTTP(bufio.NewReader(strings.NewReader(text)), false); err != nil {
			t.Errorf("%q: net/http fails: %v", text, err)
		}
	}
}
