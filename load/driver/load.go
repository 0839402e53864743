// Package driver makes the requests of a plan: HTTP/1.1 or HTTP/2 over TCP, many
// connections, each of which has its request ready in bytes and reads the
// response by a minimal and strict parser. A connection is a goroutine or, where
// that is cheaper, a coroutine of an event loop. It costs about what wrk costs. It never repeats a request on its own account: what fails is
// an outcome, and the next request opens the next connection.
//
// What becomes of outcomes is the recorder's, when stages begin the client's.
package driver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/recorder"
)

// Recorder takes outcomes. It must be safe for concurrent use and must not
// keep the outcome.
type Recorder interface {
	Record(connection int, o *recorder.Outcome)
	// Drop counts requests that were given up at an instant, from the stage's start,
	// before they were made.
	Drop(at time.Duration, requests int64)
}

// Access is what a plan needs that isn't in it.
type Access struct {
	// TLS is how TLS is spoken; nil for none.
	TLS *tls.Config
	// Credentials are those that the plan's authentication needs; nil for none.
	Credentials *Credentials
}

// Load is what a plan's requests have in common in all stages.
type Load struct {
	plan    *session.Plan
	address netip.AddrPort
	// looped is whether loops carry connections, which open them to the endpoint; else
	// goroutines do, by dial.
	looped   bool
	endpoint endpoint
	dial     dialer
	// coarse has arrivals wait by Go's own timers, which tests' clocks move.
	coarse      bool
	security    []*tls.Config // by connection; nil without TLS
	credentials *Credentials  // of the scheme Digest; else nil
	fixed       fixed
	requests    []*request
	list        *list // instead of requests; else nil
	// jars are the cookies of connections that have logged in, by their numbers; nil
	// without. user is who logs in, forms what carries it.
	jars  []jar
	user  *Credentials
	forms http.RoundTripper
	// choices are the sums of the requests' weights up to each.
	choices []int
	// names are what a redirect may call the target.
	names []string
	// table is the requests' fields in HTTP/2; nil in HTTP/1.1.
	table *http2Table
	// attentive is whether fields of responses matter to the requests that follow.
	attentive bool
}

// New returns the load of a plan against a target, given as host and port. A
// name is resolved here, once, so that no request waits for it.
func New(ctx context.Context, plan *session.Plan, target string, access Access) (*Load, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if (plan.TLS == nil) != (access.TLS == nil) {
		return nil, errors.New("a plan with TLS needs its configuration, and no other does")
	}
	if (plan.Authentication == "") != (access.Credentials == nil) {
		return nil, errors.New("a plan with authentication needs its credentials, and no other does")
	}
	address, err := resolve(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("resolve the target's address %q: %w", target, err)
	}
	host := session.HostHeader(plan.Host, target, plan.TLS != nil)
	l := &Load{
		plan: plan, address: address, endpoint: newEndpoint(address), dial: dialTCP(address), fixed: fixed{keepAlive: plan.KeepAlive},
		names: []string{host, target}, attentive: plan.Cookies || plan.Authentication == session.AuthenticationDigest,
	}
	if plan.Streams > 0 {
		l.table, access.TLS = newHTTP2Table(map[bool]string{false: "http", true: "https"}[access.TLS != nil]), targettls.HTTP2(access.TLS)
	}
	if access.TLS != nil {
		l.security = security(access.TLS, plan.TLS.Resume, plan.Connections)
	}
	if access.Credentials != nil {
		l.fixed.authorization = access.Credentials.authorization(plan.Authentication)
		switch plan.Authentication {
		case session.AuthenticationDigest:
			l.credentials = access.Credentials
		case session.AuthenticationForm:
			l.user, l.forms = access.Credentials, l.newForms(access)
		}
	}
	if len(plan.RequestList) > 0 {
		l.list, err = newList(plan, host, &l.fixed, l.table)
	} else {
		err = l.makeRequests(host)
	}
	l.looped = l.loopable() && (!plan.KeepAlive || plan.Arrivals != nil)
	return l, err
}

// loopable is whether loops can carry the load: not where a connection waits for
// two things at once, as those of HTTP/2 do, and those with a body so long that
// its response is read beside.
//
// They do where that is cheaper: where connections are opened again and again, and
// where requests have their instants. On connections that are kept, one request
// after the other costs the same by goroutines (docs/performance.md).
func (l *Load) loopable() bool {
	return l.plan.Streams == 0 && !slices.ContainsFunc(l.requests, func(r *request) bool { return len(r.body) > 0 })
}

func (l *Load) makeRequests(host string) error {
	longest := int64(0)
	for i := range l.plan.Requests {
		longest = max(longest, l.plan.Requests[i].GeneratedBytes)
	}
	l.fixed.generated = generate(longest)
	sum := 0
	for i := range l.plan.Requests {
		planned := &l.plan.Requests[i]
		r, err := newRequest(planned, host, &l.fixed)
		if err != nil {
			return err
		}
		if l.table != nil {
			l.table.take(r, true)
		}
		sum += planned.Weight
		l.requests = append(l.requests, r)
		l.choices = append(l.choices, sum)
		l.attentive = l.attentive || planned.Follow
	}
	return nil
}

// Address is the target's, resolved.
func (l *Load) Address() string { return l.address.String() }

func resolve(ctx context.Context, target string) (netip.AddrPort, error) {
	if address, err := netip.ParseAddrPort(target); err == nil {
		return address, nil
	}
	host, service, err := net.SplitHostPort(target)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("port %q: %w", service, err)
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(addresses[0].Unmap(), uint16(port)), nil
}

func (l *Load) timeout() time.Duration {
	return time.Duration(l.plan.TimeoutMicroseconds) * time.Microsecond
}
