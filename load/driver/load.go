// Package driver makes the requests of a plan: HTTP/1.1 over TCP, many
// connections, each with a goroutine of its own that has its request ready in
// bytes and reads the response by a minimal and strict parser. It costs about
// what wrk costs. It never repeats a request on its own account: what fails is
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
	"net/netip"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/session"
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

// Load is what a plan's requests have in common in all stages.
type Load struct {
	plan    *session.Plan
	address netip.AddrPort
	dial    dialer
	// coarse has arrivals wait by Go's own timers, which tests' clocks move.
	coarse   bool
	security []*tls.Config // by connection; nil without TLS
	requests []request
	// choices are the sums of the requests' weights up to each.
	choices []int
}

// New returns the load of a plan against a target, given as host and port. A
// name is resolved here, once, so that no request waits for it. Where the plan
// has TLS, config is how it is spoken; nil otherwise.
func New(ctx context.Context, plan *session.Plan, target string, config *tls.Config) (*Load, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if (plan.TLS == nil) != (config == nil) {
		return nil, errors.New("a plan with TLS needs its configuration, and no other does")
	}
	address, err := resolve(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("resolve the target's address %q: %w", target, err)
	}
	host := session.HostHeader(plan.Host, target, plan.TLS != nil)
	l := &Load{plan: plan, address: address, dial: dialTCP(address)}
	if config != nil {
		l.security = security(config, plan.TLS.Resume, plan.Connections)
	}
	sum := 0
	for _, planned := range plan.Requests {
		r, err := newRequest(planned, host, plan.KeepAlive)
		if err != nil {
			return nil, err
		}
		sum += planned.Weight
		l.requests = append(l.requests, r)
		l.choices = append(l.choices, sum)
	}
	return l, nil
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
