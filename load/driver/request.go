package driver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// joinedBytes bounds a body that is written together with its head.
const joinedBytes = 64 << 10

// request is one kind of request, ready to be written.
type request struct {
	// bytes is the head and, unless that is long, the body. Headers that differ
	// from one time to the next go in at fields, before the empty line.
	bytes  []byte
	fields int
	// body is a body that bytes doesn't have.
	body []byte
	// length is the length that the response's body must have; -1 for any.
	length int64
	// noBody is whether responses have no body whatever they say: to HEAD.
	noBody bool
	// statuses are those of a success; empty for all from 200 to 399.
	statuses []int
	// planned is what the request was made from, host its Host header.
	planned *session.PlannedRequest
	host    string
	// fieldPlaces are the places of its fields in the load's table for HTTP/2, those
	// that begin with a colon first; none where they have none. ownPath is a path
	// that isn't among them.
	fieldPlaces []int
	ownPath     string
}

// text is the request's body.
func (r *request) text() []byte {
	if len(r.body) > 0 {
		return r.body
	}
	return r.bytes[r.fields+len("\r\n"):]
}

// fixed are the headers that all requests of a load have in common.
type fixed struct {
	keepAlive bool
	// authorization is the value of the header Authorization; empty for none.
	authorization string
	// generated is as much as the longest body that is made.
	generated []byte
}

// newRequest makes a request from a plan that has been checked.
func newRequest(planned *session.PlannedRequest, host string, common *fixed) (*request, error) {
	if planned.Host != "" {
		host = planned.Host
	}
	if strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, fmt.Errorf("the host %q: spaces and control characters have no place in it", host)
	}
	method := planned.Method
	if method == "" {
		method = "GET"
	}
	body, kind := planned.Body, "text/plain; charset=utf-8"
	if planned.GeneratedBytes > 0 {
		body, kind = common.generated[:planned.GeneratedBytes], "application/octet-stream"
	}

	text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, planned.Path, host)
	field := func(name, value string) { text = fmt.Appendf(text, "%s: %s\r\n", name, value) }
	own := func(name, value string) {
		if !slices.ContainsFunc(planned.Headers, func(h session.Header) bool { return strings.EqualFold(h.Name, name) }) {
			field(name, value)
		}
	}
	own("User-Agent", "assay-load")
	own("Accept", "*/*")
	if len(body) > 0 {
		own("Content-Type", kind)
	}
	if len(body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
		field("Content-Length", fmt.Sprint(len(body)))
	}
	for _, h := range planned.Headers {
		field(h.Name, h.Value)
	}
	if common.authorization != "" {
		field("Authorization", common.authorization)
	}
	if common.keepAlive {
		field("Connection", "keep-alive")
	} else {
		field("Connection", "close")
	}
	r := &request{
		fields: len(text), length: planned.Length, noBody: method == "HEAD", statuses: planned.Statuses, planned: planned, host: host,
	}
	text = append(text, "\r\n"...)
	if len(body) <= joinedBytes {
		text = append(text, body...)
	} else {
		r.body = body
	}
	r.bytes = text
	return r, nil
}

// succeeds is whether a status is one of a success.
func (r *request) succeeds(status int) bool {
	if len(r.statuses) == 0 {
		return 200 <= status && status <= 399
	}
	return slices.Contains(r.statuses, status)
}

// generate makes bytes for bodies, the same each time, which can hardly be
// compressed.
func generate(length int64) []byte {
	bytes := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{}).Read(bytes) // never fails
	return bytes
}

// chooser returns the requests that one connection makes, one after the other:
// in their order, or drawn in proportion to their weights, from a sequence that
// depends on the plan's seed and the connection's number alone.
func (l *Load) chooser(connection int) func() *request {
	if l.list != nil {
		return l.list.chooser(l.plan.Sequential, l.plan.Seed, connection)
	}
	total := l.choices[len(l.choices)-1]
	at := func(choice int) *request { return l.requests[sort.SearchInts(l.choices, choice+1)] }
	switch {
	case len(l.requests) == 1:
		return func() *request { return l.requests[0] }
	case l.plan.Sequential:
		next := -1
		return func() *request {
			next = (next + 1) % total
			return at(next)
		}
	default:
		random := rand.New(rand.NewPCG(l.plan.Seed, uint64(connection)))
		return func() *request { return at(random.IntN(total)) }
	}
}
