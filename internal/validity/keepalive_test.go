package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestKeepAliveLimitReached(t *testing.T) {
	tomcat := validity.Limit{Setting: "keepAlive.maxRequests", Value: 100}
	for name, tc := range map[string]struct {
		closed    int64
		keepAlive bool
		tls       bool
		limit     validity.Limit
		figures   string // empty when nothing is to be found
	}{
		"Tomcat's 100":         {995, true, false, tomcat, "closed 995 connections, after 101 requests each in the mean, although keep-alive was requested: 0.99% of the requests had to open one again, which took 2.5ms"},
		"its name":             {995, true, false, tomcat, "Change keepAlive.maxRequests (100), or"},
		"an unknown limit":     {995, true, false, validity.Limit{}, "Change the server's limit of requests per connection, or"},
		"nginx's 1000":         {99, true, false, validity.Limit{Setting: "keepAlive.maxRequests"}, ""},
		"500 requests, TLS":    {198, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, "0.20% of the requests"},
		"nginx's 1000, TLS":    {99, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, ""},
		"no keep-alive asked":  {995, false, false, tomcat, ""},
		"no limit was reached": {0, true, false, tomcat, ""},
	} {
		r := sound()
		r.Run.KeepAlive = tc.keepAlive
		r.Merged.Requests, r.Merged.ClosedByServer = 100_000, tc.closed
		r.Merged.Latencies.Of(result.Connect).Record(2500)
		if tc.tls {
			r.Environment.TLS = &result.Handshake{Protocol: "TLSv1.3"}
		}
		got := find(r, "KeepAliveLimitReached", validity.Declared{KeepAlive: tc.limit})
		if (got.Severity == result.Warns) != (tc.figures != "") || !strings.Contains(got.Message, tc.figures) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.figures)
		}
	}
}
