package driver

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// encodings are the values of Content-Encoding by path, and the coding that each is counted as.
var encodings = map[string]struct{ value, coding string }{
	"/plain":    {"", ""},
	"/identity": {"identity", ""},
	"/gzip":     {"gzip", "gzip"},
	"/x-gzip":   {"X-GZIP", "gzip"},
	"/br":       {"br", "br"},
	"/zstd":     {"zstd", "zstd"},
	"/deflate":  {"deflate", "deflate"},
	"/several":  {"gzip, br", "other"},
	"/own":      {"assay", "other"},
}

func encodedAnswer(r testserver.Request) testserver.Answer {
	answer, field := testserver.OK(5), ""
	if value := encodings[r.Path].value; value != "" {
		field = "Content-Encoding: " + value + "\r\n"
	}
	answer.Parts[0] = strings.Replace(answer.Parts[0], "\r\n", "\r\n"+field, 1)
	return answer
}

// TestContentEncodings checks with each way of driving that a response with a content coding needn't have the length of the file, while
// others must, and that codings are counted.
func TestContentEncodings(t *testing.T) { inBothModes(t, testContentEncodings) }

func testContentEncodings(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	files := tlstest.Files{CA: authority.PEM(), Client: authority.ECDSA(t)}
	secure := planTLS(2, 90, session.TLS{Protocols: []string{"TLSv1.3"}})
	each := plan(2, 90, "")
	each.KeepAlive = false
	for name, p := range map[string]session.Plan{
		"keep-alive": plan(2, 90, ""), "connection each": each, "open": open(8, 400, 2e8), "TLS": secure, "HTTP/2": streamed(2, 3, 90, ""),
		"pages": pagePlan(2, 2, 20), "a list": {},
	} {
		for path, test := range encodings {
			t.Run(name+path, func(t *testing.T) {
				p, tlsSettings := p, p.TLS
				switch name {
				case "pages":
					p.Pages = []session.Page{page(path, path)}
					p.Pages[0].Document.Length, p.Pages[0].Document.Decoded, p.Lengths = 9, true, map[string]int64{path: 9}
				case "a list":
					p = listPlan(t, 2, 90, path)
					p.Lengths = map[string]int64{path: 9}
				default:
					p.Requests = []session.PlannedRequest{{Path: path, Weight: 1, Length: 9, Decoded: true}}
				}
				var got stageResult
				switch {
				case tlsSettings != nil:
					server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{authority.ECDSA(t).Certificate}}, encodedAnswer)
					got = driveTLS(t, p, server.Address(), files)
				case p.Streams > 0:
					got = drive(t, p, serveHTTP2(t, "", func(w http.ResponseWriter, _ *http.Request) {
						if test.value != "" {
							w.Header().Set("Content-Encoding", test.value)
						}
						_, _ = fmt.Fprint(w, "xxxxx")
					}).address)
				default:
					got = drive(t, p, testserver.New(t, encodedAnswer).Address())
				}
				want, failed := result.Encodings(nil), got.Requests
				if test.coding != "" {
					want, failed = result.Encodings{test.coding: got.Requests}, 0
				}
				if got.Requests == 0 || got.Errors[result.ErrorLength] != failed || got.Errors.Total() != failed || !maps.Equal(got.encodings, want) {
					t.Errorf("%d requests, errors %v, encodings %v, want %v", got.Requests, got.Errors, got.encodings, want)
				}
			})
		}
	}
}

// TestDeclaredLengthOfEncodedResponses checks that a length that isn't that of a file must be that of the encoded body.
func TestDeclaredLengthOfEncodedResponses(t *testing.T) {
	p := plan(2, 50, "/gzip")
	p.Requests[0].Length = 9
	if got := drive(t, p, testserver.New(t, encodedAnswer).Address()); got.Errors[result.ErrorLength] != 50 || got.encodings["gzip"] != 50 {
		t.Errorf("errors %v, encodings %v", got.Errors, got.encodings)
	}
}
