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
		metrics   string // empty when nothing is to be found
		failed    int64  // responses with a status of an error
	}{
		"Tomcat's 100":         {995, true, false, tomcat, "closed 995 connections, after 101 requests each on average, although keep-alive was requested: 0.99% of the requests had to open one again, which took 2.5ms", 0},
		"its name":             {995, true, false, tomcat, "Change keepAlive.maxRequests (100), or", 0},
		"an unknown limit":     {995, true, false, validity.Limit{}, "Change the server's limit of requests per connection, or", 0},
		"nginx's 1000":         {99, true, false, validity.Limit{Setting: "keepAlive.maxRequests"}, "", 0},
		"500 requests, TLS":    {198, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, "0.20% of the requests", 0},
		"nginx's 1000, TLS":    {99, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, "after 1010 requests each on average, although keep-alive was requested: 0.10% of the requests", 0},
		"4000, TLS":            {25, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, "0.03% of the requests", 0},
		"5000, TLS":            {20, true, true, validity.Limit{Setting: "keepAlive.maxRequests"}, "", 0},
		"no keep-alive asked":  {995, false, false, tomcat, "", 0},
		"closed after errors":  {995, true, false, tomcat, "", 700},
		"and by the limit":     {995, true, false, tomcat, "closed 595 connections, after 168 requests", 400},
		"no limit was reached": {0, true, false, tomcat, "", 0},
	} {
		r := sound()
		r.Run.KeepAlive = tc.keepAlive
		r.Merged.Requests, r.Merged.ClosedByServer = 100_000, tc.closed
		r.Merged.Errors[result.ErrorStatus] = tc.failed
		r.Merged.Latencies.Of(result.Connect).Record(2500)
		if tc.tls {
			r.Environment.TLS = &result.Handshake{Protocol: "TLSv1.3"}
		}
		got := find(r, "KeepAliveLimitReached", validity.Declared{KeepAlive: tc.limit})
		if (got.Severity == result.Warns) != (tc.metrics != "") || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.metrics)
		}
	}
}
