// Package request makes the requests of a plan: their text, which of them a connection makes next, and how they depend on earlier
// responses, by cookies, challenges and redirects. It sends nothing.
package request

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/session"
)

// Set holds the requests of a plan.
type Set struct {
	plan   *session.Plan
	target string // the host and port under which the plan has the target
	host   string // the Host header
	common commonHeaders
	// Requests are those of the plan, or the documents of its pages. list replaces them; it is nil if the plan has no list.
	Requests []*Request
	list     *list
	// Named is the number of names of session.Plan.RequestNames.
	Named int
	// cumulativeWeights holds the sum of the requests' weights up to each.
	cumulativeWeights []int
	// credentials are those for the Digest scheme, otherwise nil.
	credentials *Credentials
	// Index adds the header fields of a request to HTTP/2's table, with or without its path. It is nil with HTTP/1.1.
	index func(r *Request, withPath bool)
}

// NewSet returns the requests of a plan that has passed its checks, against a target that is given as host and port. credentials are
// nil for a plan without authentication.
func NewSet(plan *session.Plan, target string, credentials *Credentials, index func(r *Request, withPath bool)) (*Set, error) {
	s := &Set{
		plan: plan, target: target, host: session.HostHeader(plan.Host, target, plan.TLS != nil),
		common: commonHeaders{keepAlive: plan.KeepAlive}, index: index,
	}
	if credentials != nil {
		s.common.authorization = credentials.Authorization(plan.Authentication)
		if plan.Authentication == session.AuthenticationDigest {
			s.credentials = credentials
		}
	}
	switch {
	case len(plan.RequestList) > 0:
		var err error
		s.list, err = s.newList()
		return s, err
	case len(plan.Pages) > 0:
		if err := s.makePages(); err != nil {
			return s, err
		}
	default:
		if err := s.makeRequests(plan.Requests); err != nil {
			return s, err
		}
	}
	s.name()
	return s, nil
}

// name sets which name each request has.
func (s *Set) name() {
	names := s.plan.RequestNames()
	s.Named = len(names)
	indexes := make(map[string]int, len(names))
	for i, name := range names {
		indexes[name] = i
	}
	set := func(r *Request) {
		r.Named = len(names) - 1 // that of all others
		if i, has := indexes[r.Planned.DisplayName()]; has {
			r.Named = i
		}
	}
	for _, r := range s.Requests {
		set(r)
		for _, element := range r.Elements {
			set(element)
		}
	}
}

func (s *Set) makeRequests(all []session.PlannedRequest) error {
	longest := int64(0)
	for i := range all {
		longest = max(longest, all[i].GeneratedBytes)
	}
	s.common.generated = generate(longest)
	sum := 0
	for i := range all {
		planned := &all[i]
		r, err := newRequest(planned, s.host, &s.common)
		if err != nil {
			return err
		}
		if s.index != nil {
			s.index(r, true)
		}
		sum += planned.Weight
		r.Index = len(s.Requests)
		s.Requests = append(s.Requests, r)
		s.cumulativeWeights = append(s.cumulativeWeights, sum)
	}
	return nil
}

// makePages makes the requests for documents, each with those for its elements.
func (s *Set) makePages() error {
	pages := s.plan.Pages
	documents := make([]session.PlannedRequest, len(pages))
	for i := range pages {
		documents[i] = pages[i].Document
	}
	if err := s.makeRequests(documents); err != nil {
		return err
	}
	for i := range pages {
		for _, path := range pages[i].Elements {
			length, known := s.plan.Lengths[path]
			if !known {
				length = -1
			}
			element, err := newRequest(pages[i].Element(path, length), s.host, &s.common)
			if err != nil {
				return err
			}
			s.Requests[i].Elements = append(s.Requests[i].Elements, element)
		}
	}
	return nil
}

// RoundPages returns the number of pages of a user's round.
func (s *Set) RoundPages() int { return s.cumulativeWeights[len(s.cumulativeWeights)-1] }

// ReadsFields reports whether fields of responses affect later requests.
func (s *Set) ReadsFields() bool {
	return s.plan.Cookies || s.credentials != nil || slices.ContainsFunc(s.Requests, func(r *Request) bool { return r.Planned.Follow })
}

// LongBodies reports whether any request has a body that is written separately.
func (s *Set) LongBodies() bool {
	return slices.ContainsFunc(s.Requests, func(r *Request) bool { return len(r.LongBody) > 0 })
}

// Fixed reports whether all requests are known beforehand, don't depend on responses, and get responses whose length their
// header section tells.
func (s *Set) Fixed() bool {
	return s.list == nil && !s.ReadsFields() && !slices.ContainsFunc(s.Requests, func(r *Request) bool { return len(r.LongBody) > 0 || r.NoBody })
}

// Chooser returns a function that returns the requests of a connection one after the
// other: in the plan's order, or drawn by weight. The random sequence depends on the
// plan's seed and the connection's number only.
func (s *Set) Chooser(connection int) func() *Request {
	if s.list != nil {
		return s.list.chooser(s.plan.Sequential, s.plan.Seed, connection)
	}
	total := s.cumulativeWeights[len(s.cumulativeWeights)-1]
	at := func(choice int) *Request { return s.Requests[sort.SearchInts(s.cumulativeWeights, choice+1)] }
	switch {
	case len(s.Requests) == 1:
		return func() *Request { return s.Requests[0] }
	case s.plan.Sequential:
		next := -1
		return func() *Request {
			next = (next + 1) % total
			return at(next)
		}
	default:
		random := rand.New(rand.NewPCG(s.plan.Seed, uint64(connection)))
		return func() *Request { return at(random.IntN(total)) }
	}
}

// Memory holds what a connection keeps of responses for later requests, as one user does. It outlives the transport.
type Memory struct {
	Jar    Jar
	digest digest
	// Body is a buffer for requests that get additional headers.
	text []byte
}

// Compose returns the text of a request, including cookies and a digest if the memory has any. It is valid until the next call.
func (s *Set) Compose(r *Request, m *Memory) []byte {
	if len(m.Jar.cookies) == 0 && !m.digest.challenged {
		return r.Bytes
	}
	m.text = append(m.text[:0], r.Bytes[:r.Fields]...)
	m.text = m.Jar.AppendField(m.text, r, s.plan.TLS != nil)
	if m.digest.challenged {
		method := r.Planned.Method
		if method == "" {
			method = "GET"
		}
		m.text = m.digest.appendField(m.text, method, r.Planned.Path)
	}
	m.text = append(m.text, r.Bytes[r.Fields:]...)
	return m.text
}

// FollowUp returns the request that a response to r leads to, or nil if there is none. It returns false if the response calls for a
// request that can't be made. fields are those of the response, or nil; trips is the number of follow-ups so far.
func (s *Set) FollowUp(r *Request, m *Memory, status int, fields *response.Fields, trips int) (next *Request, ok bool) {
	if fields == nil {
		return nil, true
	}
	if s.plan.Cookies && len(fields.Cookies) > 0 {
		m.Jar.Store(fields.Cookies, r, time.Now())
	}
	switch {
	case status == 401 && s.credentials != nil:
		m.digest.credentials = s.credentials
		if trips == 0 && m.digest.challenge(fields.Challenges) {
			return r, true
		}
	case r.Planned.Follow && IsRedirect(status) && fields.Location != "":
		if trips >= MaxRedirects {
			return nil, false
		}
		return s.Redirected(r, status, fields.Location)
	}
	return nil, true
}
