package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/util/flowcontrol"
)

// What is under way at a time, of one user and of all: one user, or a few, leave enough for the others.
const (
	userRequests, allRequests = 16, 64
	userStreams, allStreams   = 8, 64
	// userBytes and allBytes bound what the API server has answered to the requests that are under way. Decoded, it takes up to four times as much.
	userBytes, allBytes = 32 << 20, 96 << 20
	// allHeavy bounds what is parsed, decoded and drawn at a time: manifests and reports. A user has one.
	allHeavy = 2
)

var (
	errManyRequests = errors.New("too many of your requests, or of those of all users, are under way; try again in a moment")
	errManyStreams  = errors.New("too many pages are open, of yours or of all users; close some")
	errManyBytes    = errors.New("the cluster has more than these pages can read at a time; choose a namespace, or use kubectl assay ui")
)

// quota bounds what is under way, of each user and of all.
type quota struct {
	ofUser, ofAll int

	mu    sync.Mutex
	taken int
	users map[string]int
}

func newQuota(ofUser, ofAll int) *quota {
	return &quota{ofUser: ofUser, ofAll: ofAll, users: map[string]int{}}
}

// take takes n for a user, unless a bound would be exceeded. Each n must be given back.
func (q *quota) take(user string, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.users[user]+n > q.ofUser || q.taken+n > q.ofAll {
		return false
	}
	q.users[user] += n
	q.taken += n
	return true
}

func (q *quota) give(user string, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken -= n
	if q.users[user] -= n; q.users[user] == 0 {
		delete(q.users, user)
	}
}

// quotas are those of a Portal.
type quotas struct {
	requests, streams, bytes *quota
	heavy                    chan struct{}
}

func newQuotas() *quotas {
	return &quotas{newQuota(userRequests, allRequests), newQuota(userStreams, allStreams), newQuota(userBytes, allBytes), make(chan struct{}, allHeavy)}
}

// enter begins a request of a user, and returns what its answer may use and what ends it. An error is that the user, or all, have too many.
func (q *quotas) enter(r *http.Request, of *user) (*http.Request, Limits, func(), error) {
	counted, full := q.requests, errManyRequests
	stream := strings.HasSuffix(r.URL.Path, "/events")
	if stream {
		counted, full = q.streams, errManyStreams
	}
	if !counted.take(of.name, 1) {
		return nil, Limits{}, nil, full
	}
	ctx, cancel := context.WithCancel(r.Context())
	m := &meter{quota: q.bytes, user: of.name}
	if stream {
		m.exceeded = cancel // the browser opens another one
	}
	leave := func() {
		cancel()
		m.close()
		counted.give(of.name, 1)
	}
	return r.WithContext(ctx), Limits{Requests: of.requests, meter: m}, leave, nil
}

// serve answers a request of a user whose form was read. What is heavy waits for its turn, and is made before it is sent: neither who sends a form
// slowly nor who reads a report slowly keeps others waiting.
func (q *quotas) serve(w http.ResponseWriter, r *http.Request, of *user, limits Limits, pages http.Handler) {
	if !heavy(r) {
		pages.ServeHTTP(w, r)
		return
	}
	made := &buffer{ResponseWriter: w, status: http.StatusOK}
	if !inTurn(r.Context(), func() { pages.ServeHTTP(made, r) }, of.heavy, q.heavy) {
		return // the browser has gone
	}
	if limits.meter.take(made.body.Len()) != nil {
		http.Error(w, errManyBytes.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(made.status)
	_, _ = made.body.WriteTo(w) // the browser may have gone
}

// heavy reports whether an answer takes a manifest or a report: that of a form, of an object's page, or of a comparison.
func heavy(r *http.Request) bool {
	return r.Method == http.MethodPost || r.URL.Path == "/compare" || scopeOf(r).run+scopeOf(r).benchmark != "" && !strings.HasSuffix(r.URL.Path, "/events")
}

// inTurn calls do while it has a place of each channel. It returns false if the context ends before.
func inTurn(ctx context.Context, do func(), places ...chan struct{}) bool {
	if len(places) == 0 {
		do()
		return true
	}
	select {
	case places[0] <- struct{}{}:
		defer func() { <-places[0] }()
		return inTurn(ctx, do, places[1:]...)
	case <-ctx.Done():
		return false
	}
}

// buffer is an answer that is made before it is sent.
type buffer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (b *buffer) WriteHeader(status int) { b.status = status }

// Write implements http.ResponseWriter.
func (b *buffer) Write(p []byte) (int, error) { return b.body.Write(p) }

// Limits bound what the answer of one request may use.
type Limits struct {
	// Requests bounds those to the API server, of all requests of the user.
	Requests flowcontrol.RateLimiter
	meter    *meter
}

// Wrap bounds what the API server answers by a transport.
func (l Limits) Wrap(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(r)
		if err == nil && l.meter != nil {
			response.Body = &meteredBody{response.Body, l.meter}
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// meter counts what was read for a request of a user until that ends.
type meter struct {
	quota *quota
	user  string
	// exceeded, if it isn't nil, is called when more was read than may be.
	exceeded func()

	mu     sync.Mutex
	taken  int
	closed bool
}

func (m *meter) take(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || !m.quota.take(m.user, n) {
		if m.exceeded != nil {
			m.exceeded()
		}
		return errManyBytes
	}
	m.taken += n
	return nil
}

func (m *meter) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.quota.give(m.user, m.taken)
}

type meteredBody struct {
	io.ReadCloser
	meter *meter
}

// Read implements io.Reader.
func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := b.meter.take(n); full != nil {
		return 0, full
	}
	return n, err
}
