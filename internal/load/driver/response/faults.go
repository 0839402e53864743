package response

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

// The faults of responses that can't be read.
var (
	errSwitched    = malformed("switched protocols, which the request doesn't ask for (101)")
	errInterim     = malformed(fmt.Sprintf("more than %d interim responses (1xx)", MaxInterim))
	errStatusLine  = malformed("malformed status line")
	errLongHead    = malformed(fmt.Sprintf("header section longer than %d KiB", MaxHeadBytes>>10))
	errBareCR      = malformed("bare CR in header")
	errNUL         = malformed("NUL in header")
	errControl     = malformed("control character in header")
	errNoColon     = malformed("header line without a colon")
	errSpaceInName = malformed("space in a header's name or before its colon")
	errName        = malformed("invalid name of a header")
	errLength      = malformed("invalid Content-Length")
	errLengths     = malformed("different Content-Lengths")
	errBothLengths = malformed("Content-Length together with Transfer-Encoding")
	errCoding      = malformed("unsupported Transfer-Encoding")

	errChunkSize     = malformed("invalid size of a chunk")
	errLongChunkLine = malformed(fmt.Sprintf("size of a chunk with extensions longer than %d bytes", maxChunkLine))
	errBareLF        = malformed("bare LF in a chunked body")
	errAfterChunk    = malformed("no CR LF after a chunk")

	errLimit   = malformed("too many bytes of interim responses")
	errExcess  = malformed("bytes after the response")
	errShorter = fault.New(result.ErrorLength, "fewer bytes than Content-Length")

	errCutHead  = fault.New(result.ErrorReceive, "connection closed within the header section")
	errCutChunk = fault.New(result.ErrorReceive, "connection closed within a chunked body")
)

// Longer is the fault of a body with more bytes than its Content-Length.
var Longer = fault.New(result.ErrorLength, "more bytes than Content-Length")

// Shorter returns the fault of a body that ended before its Content-Length.
func Shorter(length, body int64) *fault.Fault {
	return errShorter.With("Content-Length %d, %d bytes before the end", length, body)
}

func malformed(cause string) *fault.Fault { return fault.New(result.ErrorException, cause) }

// notHTTP returns the fault of a response that begins like no response of HTTP/1.
func notHTTP(text []byte) *fault.Fault {
	switch {
	case strings.HasPrefix(string(text), "\x15\x03"):
		return malformed("not HTTP: the server speaks TLS")
	case strings.HasPrefix(string(text), "HTTP/"):
		return errStatusLine.With("%.24q", text)
	}
	return malformed("not HTTP").With("it begins with %.24q", text)
}
