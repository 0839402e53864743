package driver

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// causes are the causes of the failures that tests provoke, by the test's name and the failure's: with HTTP/1.1 or HTTP/2, plain or
// over TLS, in loops or goroutines.
var causes = map[string]map[string]string{
	"HTTP/1.1": {
		"storm of interim responses":    "more than 100 interim responses (1xx)",
		"switched protocols":            "switched protocols, which the request doesn't ask for (101)",
		"error status":                  "status 503",
		"not found":                     "status 404",
		"half-closed at once":           "connection closed before the response",
		"half-closed in the head":       "connection closed within the header section",
		"half-closed in the body":       "fewer bytes than Content-Length",
		"reset in the body":             "ECONNRESET",
		"closed before the last chunk":  "connection closed within a chunked body",
		"body longer than promised":     "more bytes than Content-Length",
		"longer, and the end announced": "more bytes than Content-Length",
		"unrequested response":          "bytes after the response",
		"garbage":                       "not HTTP",
		"another protocol":              "not HTTP",
		"HTTP/2":                        "malformed status line",
		"bad chunk size":                "invalid size of a chunk",
		"chunk too long":                "no CR LF after a chunk",
		"two lengths":                   "different Content-Lengths",
		"length and chunks":             "Content-Length together with Transfer-Encoding",
		"endless head":                  "header section longer than 64 KiB",
		"endless trailer":               "header section longer than 64 KiB",
		"endless chunk extension":       "size of a chunk with extensions longer than 4096 bytes",
		"bare CR":                       "bare CR in header",
		"NUL":                           "NUL in header",
		"a space before the colon":      "space in a header's name or before its colon",
		"no colon":                      "header line without a colon",
		"LF after a chunk's size":       "bare LF in a chunked body",
		"unknown coding":                "unsupported Transfer-Encoding",
		"a record of TLS":               "not HTTP: the server speaks TLS",
	},
	"HTTP/2": {
		"storm of interim responses":   "HTTP/2: interim response that ends the stream, switches protocols, or is one of more than 100",
		"no status":                    "HTTP/2: missing or malformed :status",
		"a capital":                    "HTTP/2: malformed header",
		"a field of HTTP/1.1":          "HTTP/2: header of HTTP/1.1, such as Connection",
		"two lengths":                  "HTTP/2: invalid or different Content-Lengths",
		"an error status":              "status 503",
		"a body before the head":       "HTTP/2: DATA before the header section",
		"a body shorter than promised": "fewer bytes than Content-Length",
		"a body longer than promised":  "more bytes than Content-Length",
		"reset":                        "HTTP/2: RST_STREAM INTERNAL_ERROR",
		"refused":                      "HTTP/2: RST_STREAM REFUSED_STREAM",
		"too large a head":             "HTTP/2: header section longer than 64 KiB",
		"a stream without response":    "no response within 100ms",
		"an endless body":              "no complete response within 100ms",
		"gone away":                    "HTTP/2: GOAWAY NO_ERROR",
		"gone away with an error":      "HTTP/2: GOAWAY ENHANCE_YOUR_CALM",
		"HTTP/1.1":                     "HTTP/2: the server speaks HTTP/1",
		"garbage":                      "HTTP/2: the server speaks another protocol",
		"fewer streams than planned":   "HTTP/2: the server allows fewer streams than planned",
		"too long a frame":             "HTTP/2: FRAME_SIZE_ERROR in a frame of type DATA",
		"settings on a stream":         "HTTP/2: PROTOCOL_ERROR in a frame of type SETTINGS",
		"an endless head":              "HTTP/2: header section longer than 64 KiB",
		"a head that isn't HPACK":      "HTTP/2: COMPRESSION_ERROR in a frame of type HEADERS",
		"a storm of pings":             "HTTP/2: ENHANCE_YOUR_CALM in a frame of type PING",
	},
	"handshake": {
		"wrong name":                        "tls: certificate not valid for the server name",
		"expired":                           "tls: certificate has expired or is not yet valid",
		"unknown authority":                 "tls: certificate signed by unknown authority",
		"no protocol in common":             "tls: alert protocol_version(70)",
		"no cipher in common":               "tls: alert handshake_failure(40)",
		"wrong client certificate, TLSv1.2": "tls: alert unknown_ca(48)",
		"wrong client certificate, TLSv1.3": "tls: alert unknown_ca(48)",
		"no client certificate, TLSv1.2":    "tls: alert handshake_failure(40)",
		"no client certificate, TLSv1.3":    "tls: alert certificate_required(116)",
	},
	"no TLS": {
		"plain HTTP":   "tls: the server doesn't speak TLS",
		"an alert":     "tls: alert handshake_failure(40)",
		"closes later": "tls: connection closed in the handshake",
		"stalls":       "no TLS handshake within 100ms",
	},
	"nobody": {"": "ECONNREFUSED"},
}

// checkCause checks that all requests of a stage failed for the cause of a failure, if that is in the table, and that there is an
// example.
func checkCause(t *testing.T, test, failure string, got stageResult) {
	t.Helper()
	want, known := causes[test][failure]
	if !known {
		return
	}
	for kind, n := range got.Errors.Occurred() {
		list := got.causes[kind]
		if len(list) != 1 || list[0].Text != want || list[0].Count != n || list[0].Example == nil || list[0].Example.Request != "GET /" {
			t.Errorf("%s: causes %+v, want %q", kind, list, want)
		}
	}
	if got.Errors.Total() == 0 {
		t.Errorf("nothing failed for %q", want)
	}
}

// checkCauses checks that the causes of each kind of errors add up to its number, and that none is unknown.
func checkCauses(t *testing.T, counts result.ErrorCounts, causes result.Causes) {
	t.Helper()
	for kind, list := range causes {
		sum := int64(0)
		for _, c := range list {
			if sum += c.Count; c.Text == "unknown" {
				t.Errorf("%s: a cause is unknown", result.ErrorKind(kind))
			}
		}
		if sum != counts[kind] {
			t.Errorf("%s: causes of %d requests, %d failed: %+v", result.ErrorKind(kind), sum, counts[kind], list)
		}
	}
}

// TestTableOfCauses checks that each failure in the table is one that a test provokes.
func TestTableOfCauses(t *testing.T) {
	for name := range causes["HTTP/1.1"] {
		if _, known := faults[name]; !known {
			t.Errorf("HTTP/1.1: no test provokes %q", name)
		}
	}
	for name := range causes["HTTP/2"] {
		if _, known := http2Faults[name]; !known {
			t.Errorf("HTTP/2: no test provokes %q", name)
		}
	}
}
