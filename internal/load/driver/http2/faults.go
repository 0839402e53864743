package http2

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/result"
)

// The faults of responses that can't be read.
var (
	errStatus          = malformed("missing or malformed :status")
	errLength          = malformed("invalid or different Content-Lengths")
	errConnectionField = malformed("header of HTTP/1.1, such as Connection")
	errField           = malformed("malformed header")
	errLongHead        = malformed(fmt.Sprintf("header section longer than %d KiB", response.MaxHeadBytes>>10))
	errTrailer         = malformed("malformed trailer section")
	errInterim         = malformed(fmt.Sprintf("interim response that ends the stream, switches protocols, or is one of more than %d", response.MaxInterim))
	errEarlyBody       = malformed("DATA before the header section")
	errBody            = malformed("body of a response that has none")
	errNoHead          = malformed("stream ended before the header section")
	errWindow          = malformed("WINDOW_UPDATE of 0 or beyond the limit")

	errNoStream = fault.New(result.ErrorTimeout, "HTTP/2: the server allowed no further stream in time")
	errTimeout  = fault.New(result.ErrorTimeout, "timeout")
)

// The faults of servers that can't serve the load.
var (
	FewStreams = malformed("the server allows fewer streams than planned")
	OtherHTTP  = malformed("the server speaks HTTP/1")
)

func malformed(cause string) *fault.Fault {
	return fault.New(result.ErrorException, "HTTP/2: "+cause)
}

// refusal returns the fault of requests on a connection that is closed with an error code because of the latest frame.
func (f *frameReader) refusal(code errorCode) *fault.Fault {
	text := f.buffer[f.from:f.to]
	switch {
	case f.kind == frameContinuation && code == codeEnhanceYourCalm:
		return errLongHead
	case f.hasSettings:
	case bytes.HasPrefix(text, []byte("HTTP/1.")):
		return OtherHTTP
	default:
		return malformed("the server speaks another protocol").With("it begins with %.24q", text)
	}
	kind := strconv.Itoa(int(f.kind))
	if int(f.kind) < len(frameNames) {
		kind = frameNames[f.kind]
	}
	return malformed(code.String() + " in a frame of type " + kind)
}

// frameNames are the names of the types of frames (RFC 9113, section 6).
var frameNames = [...]string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

// codeNames are the names of error codes (RFC 9113, section 7).
var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

// String returns the name of the code.
func (c errorCode) String() string {
	if int64(c) < int64(len(codeNames)) {
		return codeNames[c]
	}
	return "unknown error code"
}
