package driver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/http2"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
)

// Recorder records outcomes. It must be safe for concurrent use and must not retain the outcome.
type Recorder interface {
	Record(connection int, o *recorder.Outcome)
	// Page records the outcome of a page of a user.
	Page(user int, p *recorder.Page)
	// Drop counts requests that were dropped before they started. at is the time from the
	// stage's start.
	Drop(at time.Duration, requests int64)
	// Unanswered counts requests that were under way, or due, when the stage was stopped at a time from its start, and
	// the age of the oldest.
	Unanswered(at time.Duration, requests int64, oldest time.Duration)
}

// Access holds what a load needs beyond its plan.
type Access struct {
	// TLS is the TLS configuration, or nil for a plan without TLS.
	TLS *tls.Config
	// Credentials are those for the plan's authentication, or nil for a plan without.
	Credentials *request.Credentials
}

// Load holds what the requests of a plan have in common in all stages.
type Load struct {
	plan    *session.Plan
	address netip.AddrPort
	// looped reports whether loops run the connections and open them to endpoint. Otherwise
	// goroutines run them and open them with dial.
	looped   bool
	endpoint endpoint
	dial     dialer
	// coarse makes arrivals wait with Go's timers, which advance with the fake clock of tests.
	coarse     bool
	tlsConfigs []*tls.Config // by connection; nil without TLS
	// slack is the time beyond its timeout at which a request is given up, so that a response in the last moment is still read. A
	// response that completes within the slack counts as timed out nevertheless.
	slack    time.Duration
	timeouts *fault.Timeouts
	requests *request.Set
	// jars holds the cookies of connections that have logged in, by connection, or is nil without a
	// login. formCredentials and formTransport are the credentials and the transport for the login.
	jars            []request.Jar
	formCredentials *request.Credentials
	formTransport   http.RoundTripper
	// table holds the requests' header fields for HTTP/2. It is nil with HTTP/1.1.
	table *http2.Table
	// lastStream is the highest stream number that a connection uses, or 0 for the highest that there is.
	lastStream uint32
}

// New returns the load of a plan against a target, given as host and port. It resolves
// the host name once, so that no request waits for a lookup.
func New(ctx context.Context, plan *session.Plan, target string, access Access) (*Load, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if (plan.TLS == nil) != (access.TLS == nil) {
		return nil, errors.New("the TLS configuration must be set if and only if the plan has TLS")
	}
	if (plan.Authentication == "") != (access.Credentials == nil) {
		return nil, errors.New("the credentials must be set if and only if the plan has authentication")
	}
	if err := checkLimits(plan); err != nil {
		return nil, err
	}
	address, err := resolve(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("resolve target address %q: %w", target, err)
	}
	l := &Load{plan: plan, address: address}
	l.timeouts = fault.NewTimeouts(l.timeout())
	l.slack = min(l.timeout()/20, 50*time.Millisecond)
	var index func(*request.Request, bool)
	if plan.Streams > 0 {
		l.table, access.TLS = http2.NewTable(map[bool]string{false: "http", true: "https"}[access.TLS != nil]), targettls.HTTP2(access.TLS)
		index = l.table.Add
	}
	if access.TLS != nil {
		l.tlsConfigs = tlsConfigs(access.TLS, plan.TLS.Resume, plan.Connections)
	}
	if plan.Authentication == session.AuthenticationForm {
		l.formCredentials, l.formTransport = access.Credentials, l.newFormTransport(access)
	}
	l.requests, err = request.NewSet(plan, target, access.Credentials, index)
	option := noDelay
	if l.writesOnce() {
		option = acknowledgeLater
	}
	l.endpoint = newEndpoint(address, option)
	l.dial = dialTCP(address.String())
	l.looped = l.loopable()
	return l, err
}

// Looped reports whether loops run the load's connections, rather than a goroutine for each.
func (l *Load) Looped() bool { return l.looped }

// loopable reports whether loops can run the load's connections, which costs less CPU than goroutines
// (docs/performance.md). They can't if a connection has to wait for two things at once: with HTTP/2, and with a body
// that is sent while its response is read.
func (l *Load) loopable() bool { return l.plan.Streams == 0 && !l.requests.LongBodies() }

// writesOnce reports whether each connection carries one request, which is written at once.
func (l *Load) writesOnce() bool {
	return !l.plan.KeepAlive && l.plan.Streams == 0 && l.tlsConfigs == nil && !l.requests.LongBodies()
}

// NamedRequests returns the number of names of the plan's requests.
func (l *Load) NamedRequests() int { return l.requests.Named }

// Address returns the resolved address of the target.
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
