package driver

import (
	"errors"
	"math/rand/v2"
	"sort"

	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// list is a long list of requests. Ready in bytes, each would take some hundred
// of them: what they have in common is kept once, and a connection puts its next
// request together in a place of its own.
type list struct {
	entries []listed
	// choices are the sums of the weights up to each entry; nil where all are 1.
	choices []int
	host    string
}

// listed is an entry: its path and what it has in common with others.
type listed struct {
	path string
	kind *listedKind
	// length is as in request.
	length int64
}

// listedKind is what all requests with a method have in common.
type listedKind struct {
	// method is the method with a space after it, rest what follows the path.
	method, rest []byte
	// fields is as in request, counted in rest.
	fields int
	noBody bool
	// fieldPlaces are as in request, without the path's.
	fieldPlaces []int
	planned     string // as session.PlannedRequest has the method
}

// newList decodes a plan's list. A table has its fields for HTTP/2; it is nil in
// HTTP/1.1.
func newList(plan *session.Plan, host string, common *fixed, table *http2Table) (*list, error) {
	entries, err := requestlist.Decode(plan.RequestList)
	if err != nil {
		return nil, err
	}
	l := &list{entries: make([]listed, len(entries)), host: host}
	kinds := map[string]*listedKind{}
	weighted := false
	for i, e := range entries {
		if kinds[e.Method] == nil {
			if kinds[e.Method], err = newListedKind(e.Method, host, common, table); err != nil {
				return nil, err
			}
		}
		l.entries[i] = listed{path: e.Path, kind: kinds[e.Method], length: -1}
		if length, known := plan.Lengths[e.Path]; known && e.Method == "GET" {
			l.entries[i].length = length
		}
		weighted = weighted || e.Weight != 1
	}
	if weighted {
		sum := 0
		l.choices = make([]int, len(entries))
		for i, e := range entries {
			sum += e.Weight
			l.choices[i] = sum
		}
	}
	return l, nil
}

func newListedKind(method, host string, common *fixed, table *http2Table) (*listedKind, error) {
	kind := &listedKind{method: []byte(method + " "), noBody: method == "HEAD"}
	if method != "GET" {
		kind.planned = method
	}
	r, err := newRequest(&session.PlannedRequest{Method: kind.planned, Path: "/"}, host, common)
	if err != nil {
		return nil, err
	}
	if table != nil {
		table.take(r, false)
		kind.fieldPlaces = r.fieldPlaces
	}
	before := len(kind.method) + len("/")
	if r.fields < before {
		return nil, errors.New("a request without a head") // never
	}
	kind.rest, kind.fields = r.bytes[before:], r.fields-before
	return kind, nil
}

// write makes a request the entry's. It allocates nothing once the request's
// bytes have room.
func (l *list) write(r *request, entry int) {
	e := &l.entries[entry]
	r.bytes = append(append(append(r.bytes[:0], e.kind.method...), e.path...), e.kind.rest...)
	r.fields = len(e.kind.method) + len(e.path) + e.kind.fields
	r.length, r.noBody = e.length, e.kind.noBody
	r.fieldPlaces, r.ownPath = e.kind.fieldPlaces, e.path
	r.planned.Method, r.planned.Path = e.kind.planned, e.path
}

// chooser is as Load's. The requests that it returns are good until the next.
func (l *list) chooser(sequential bool, seed uint64, connection int) func() *request {
	r := &request{planned: &session.PlannedRequest{}, host: l.host}
	total := len(l.entries)
	at := func(choice int) int { return choice }
	if l.choices != nil {
		total = l.choices[len(l.choices)-1]
		at = func(choice int) int { return sort.SearchInts(l.choices, choice+1) }
	}
	next := -1
	random := rand.New(rand.NewPCG(seed, uint64(connection)))
	return func() *request {
		if sequential {
			next = (next + 1) % total
		} else {
			next = random.IntN(total)
		}
		l.write(r, at(next))
		return r
	}
}
