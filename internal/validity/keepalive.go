package validity

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// closedShare is the connections that the server closed, divided by the requests, from which on opening them
	// again costs half a percent of the throughput: a connection costs about as much as a request.
	closedShare = 0.005
	// closedShareTLS is the same with TLS, where a handshake costs as much as 20 requests or more.
	closedShareTLS = closedShare / 20
)

// keepAliveLimitReached finds connections that the server closed after responses, although keep-alive was
// requested: the load then also opens connections, which it doesn't declare.
func keepAliveLimitReached(r *result.Result, d Declared) *result.Finding {
	closed, requests := closedByLimit(r), r.Merged.Requests
	least := closedShare
	if usedTLS(r) {
		least = closedShareTLS
	}
	if !r.Run.KeepAlive || closed == 0 || float64(closed) < least*float64(requests) {
		return nil
	}
	limit := "the server's limit of requests per connection"
	if d.KeepAlive.Setting != "" {
		limit = d.KeepAlive.Setting
		if d.KeepAlive.Value > 0 {
			limit += fmt.Sprintf(" (%d)", d.KeepAlive.Value)
		}
	}
	opening := r.Merged.Latencies.Get(result.Connect).Mean() + r.Merged.Latencies.Get(result.TLS).Mean()
	return found(ReasonKeepAliveLimitReached, result.Warns,
		"The server closed %d connections, after %.0f requests each on average, although keep-alive was requested: %.2f%% of the requests had to open one again, "+
			"which took %s on average and costs CPU time. Change %s, or read the result as one of connections that are opened that often.",
		closed, float64(requests)/float64(closed), 100*float64(closed)/float64(requests), milliseconds(int64(opening)), limit)
}

// closedByLimit returns the least number of connections that the server closed after a response that was no error: after
// one that is, such as 400 or 500, servers close the connection whatever its limit.
func closedByLimit(r *result.Result) int64 {
	return max(0, r.Merged.ClosedByServer-r.Merged.Errors[result.ErrorStatus])
}

func usedTLS(r *result.Result) bool {
	return r.Environment.TLS != nil || r.Merged.Latencies.Get(result.TLS).Count() > 0
}
