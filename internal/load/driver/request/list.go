package request

import (
	"errors"
	"math/rand/v2"
	"sort"

	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// list is a long list of requests. As complete texts they would take some hundred bytes
// each. Therefore their common parts are stored once, and each connection composes its
// next request in a buffer of its own.
type list struct {
	entries []listEntry
	// cumulativeWeights holds the sum of the weights up to each entry. It is nil if all
	// weights are 1.
	cumulativeWeights []int
	host              string
}

// listEntry is the path of a request and what it shares with others.
type listEntry struct {
	path   string
	method *listMethod
	// Length is the expected length of the body, as in request.
	length int64
}

// listMethod holds what all requests with a method have in common.
type listMethod struct {
	// prefix is the method and a space. suffix is the text after the path.
	prefix, suffix []byte
	// Fields is like request.fields, but counts from the start of suffix.
	fields int
	noBody bool
	// FieldIndexes is like request.FieldIndexes, but omits the path.
	fieldIndexes []int
	name         string // the method as in session.PlannedRequest
}

// newList decodes the plan's list.
func (s *Set) newList() (*list, error) {
	entries, err := requestlist.Decode(s.plan.RequestList)
	if err != nil {
		return nil, err
	}
	l := &list{entries: make([]listEntry, len(entries)), host: s.host}
	methods := map[string]*listMethod{}
	weighted := false
	for i, e := range entries {
		if methods[e.Method] == nil {
			if methods[e.Method], err = s.newListMethod(e.Method); err != nil {
				return nil, err
			}
		}
		l.entries[i] = listEntry{path: e.Path, method: methods[e.Method], length: -1}
		if length, known := s.plan.Lengths[e.Path]; known && e.Method == "GET" {
			l.entries[i].length = length
		}
		weighted = weighted || e.Weight != 1
	}
	if weighted {
		sum := 0
		l.cumulativeWeights = make([]int, len(entries))
		for i, e := range entries {
			sum += e.Weight
			l.cumulativeWeights[i] = sum
		}
	}
	return l, nil
}

func (s *Set) newListMethod(method string) (*listMethod, error) {
	m := &listMethod{prefix: []byte(method + " "), noBody: method == "HEAD"}
	if method != "GET" {
		m.name = method
	}
	r, err := newRequest(&session.PlannedRequest{Method: m.name, Path: "/"}, s.host, &s.common)
	if err != nil {
		return nil, err
	}
	if s.index != nil {
		s.index(r, false)
		m.fieldIndexes = r.FieldIndexes
	}
	before := len(m.prefix) + len("/")
	if r.Fields < before {
		return nil, errors.New("a request without a header section") // can't happen
	}
	m.suffix, m.fields = r.Bytes[before:], r.Fields-before
	return m, nil
}

// write turns r into the request of an entry. It doesn't allocate once r.bytes is large enough.
func (l *list) write(r *Request, entry int) {
	e := &l.entries[entry]
	r.Bytes = append(append(append(r.Bytes[:0], e.method.prefix...), e.path...), e.method.suffix...)
	r.Fields = len(e.method.prefix) + len(e.path) + e.method.fields
	r.Length, r.NoBody = e.length, e.method.noBody
	r.FieldIndexes, r.OwnPath = e.method.fieldIndexes, e.path
	r.Planned.Method, r.Planned.Path = e.method.name, e.path
}

// Chooser is like Set.chooser. A request that it returns is valid until the next one.
func (l *list) chooser(sequential bool, seed uint64, connection int) func() *Request {
	r := &Request{Planned: &session.PlannedRequest{Decoded: true}, Host: l.host, hostname: hostname(l.host)}
	total := len(l.entries)
	at := func(choice int) int { return choice }
	if l.cumulativeWeights != nil {
		total = l.cumulativeWeights[len(l.cumulativeWeights)-1]
		at = func(choice int) int { return sort.SearchInts(l.cumulativeWeights, choice+1) }
	}
	next := -1
	random := rand.New(rand.NewPCG(seed, uint64(connection)))
	return func() *Request {
		if sequential {
			next = (next + 1) % total
		} else {
			next = random.IntN(total)
		}
		l.write(r, at(next))
		return r
	}
}
