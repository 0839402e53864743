package driver

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// request is one kind of request, ready to be written.
type request struct {
	bytes []byte
	// length is the length that the response's body must have; -1 for any.
	length int64
}

func newRequest(planned session.PlannedRequest, host string, keepAlive bool) (request, error) {
	for _, text := range []string{planned.Path, host} {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return request{}, fmt.Errorf("request %q to %q: spaces and control characters must be percent-encoded", planned.Path, host)
		}
	}
	connection := "close"
	if keepAlive {
		connection = "keep-alive"
	}
	return request{
		bytes: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: assay-load\r\nAccept: */*\r\nConnection: %s\r\n\r\n",
			planned.Path, host, connection),
		length: planned.Length,
	}, nil
}

// chooser returns the requests that one connection makes, one after the other:
// drawn in proportion to their weights, from a sequence that depends on the
// plan's seed and the connection's number alone.
func (l *Load) chooser(connection int) func() *request {
	if len(l.requests) == 1 {
		only := &l.requests[0]
		return func() *request { return only }
	}
	random := rand.New(rand.NewPCG(l.plan.Seed, uint64(connection)))
	total := l.choices[len(l.choices)-1]
	return func() *request {
		return &l.requests[sort.SearchInts(l.choices, random.IntN(total)+1)]
	}
}
