// Package session holds what both ends of a session share: the plan that a
// client is given, the limits of the protocol, and the passage between
// messages and results. The manager's end is in manager, the pods' end in pod,
// the protocol itself in sessionpb.
package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// Audience is the audience of the service account tokens by which pods prove
	// who they are.
	Audience = "assay"

	// MaxMessageBytes bounds a message in either direction.
	MaxMessageBytes = 4 << 20

	// TokenPath is the file with a pod's token.
	TokenPath = "/var/run/assay/token"
	// CAPath is the file with the certificates by which a pod checks the manager.
	CAPath = "/var/run/assay/ca.crt"

	// ServerName is the name in the manager's serving certificate.
	ServerName = "assay-session"
)

// Plan is the load of one client.
type Plan struct {
	// Connections is the number of concurrent connections, with arrivals at most.
	Connections int `json:"connections"`
	// Streams has clients speak HTTP/2, with so many concurrent requests on each
	// connection; 0 for HTTP/1.1, with one.
	Streams int `json:"streams,omitempty"`
	// KeepAlive is whether a connection carries many requests.
	KeepAlive bool `json:"keepAlive"`
	// TimeoutMicroseconds is how long a request may take.
	TimeoutMicroseconds int64 `json:"timeoutMicroseconds"`
	// Host is the Host header; empty for the target's address.
	Host string `json:"host,omitempty"`
	// TLS says how TLS is spoken with the target; nil for none.
	TLS *TLS `json:"tls,omitempty"`
	// Requests are the kinds of requests.
	Requests []PlannedRequest `json:"requests,omitempty"`
	// RequestList has them instead, as package requestlist encodes them.
	RequestList []byte `json:"requestList,omitempty"`
	// Lengths are the lengths that responses to GET requests of RequestList must
	// have, in bytes, by path; others may have any.
	Lengths map[string]int64 `json:"lengths,omitempty"`
	// Sequential is whether each connection makes them in their order, instead of
	// drawing them in proportion to their weights.
	Sequential bool `json:"sequential,omitempty"`
	// Cookies is whether each connection sends back the cookies that it is given.
	Cookies bool `json:"cookies,omitempty"`
	// Authentication is the scheme by which requests are authenticated; empty for
	// none. The credentials are in CredentialsDirectory.
	Authentication string `json:"authentication,omitempty"`
	// Form is how connections log in; nil unless Authentication is Form.
	Form *Form `json:"form,omitempty"`
	// Arrivals says at what instants requests are made; nil for closed load, in
	// which a connection makes a request when it has read the response to its last.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// ThinkTime is how long a connection waits between two requests; nil for not.
	ThinkTime *ThinkTime `json:"thinkTime,omitempty"`
	// Seed starts the random numbers by which requests are drawn.
	Seed uint64 `json:"seed"`
	// Warmup is the load before the measurement; nil for none.
	Warmup *Amount `json:"warmup,omitempty"`
	// Measurement is the load that is measured.
	Measurement Amount `json:"measurement"`
	// Script is the k6 script that is the load, in place of connections, requests
	// and amounts; nil for none.
	Script *Script `json:"script,omitempty"`
	// Probe is a path that the client asks the target for until it is answered
	// with success, before it is ready: of a target that has no agent, or to which
	// connections log in. Empty for none.
	Probe string `json:"probe,omitempty"`
}

// Watch says what an agent asks the target for, and what it samples.
type Watch struct {
	// Address is the target's address and port.
	Address string `json:"address"`
	// Path is what is asked for until it is answered with success.
	Path string `json:"path"`
	// Host is the Host header; empty for the target's address.
	Host string `json:"host,omitempty"`
	// TLS says how TLS is spoken with the target; nil for none.
	TLS *TLS `json:"tls,omitempty"`
	// Streams has the agent ask in HTTP/2, of a server that allows so many
	// concurrent requests on a connection; 0 for HTTP/1.1.
	Streams int `json:"streams,omitempty"`
	// Containers are the names of the containers that are sampled apart, by the
	// runtime's identity of each without its scheme. What is in none of them
	// belongs to the server.
	Containers map[string]string `json:"containers,omitempty"`
}

// Amount is how much load a stage has: a number of requests or a duration;
// the other is zero.
type Amount struct {
	Requests             int64 `json:"requests,omitempty"`
	DurationMicroseconds int64 `json:"durationMicroseconds,omitempty"`
	// Profile is how the load changes: with arrivals the rate of all clients
	// together, in requests per second; else this client's connections, all of them
	// from the beginning without one.
	Profile profile.Profile `json:"profile,omitempty"`
}

// Duration is the amount as a duration; zero when it is a number of requests.
func (a Amount) Duration() time.Duration {
	return time.Duration(a.DurationMicroseconds) * time.Microsecond
}

// Check returns an error that says what no client could carry out.
func (p *Plan) Check() error {
	if p.TLS != nil {
		if err := p.TLS.check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	if p.Probe != "" && p.Probe[0] != '/' {
		return fmt.Errorf("plan: a probe of the path %q", p.Probe)
	}
	if p.Script != nil {
		if err := p.Script.check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		return nil
	}
	switch {
	case p.Connections < 1:
		return fmt.Errorf("plan: %d connections", p.Connections)
	case p.Streams < 0 || p.Streams > 0 && !p.KeepAlive:
		return fmt.Errorf("plan: %d streams, keep-alive %t", p.Streams, p.KeepAlive)
	case p.TimeoutMicroseconds < 1:
		return fmt.Errorf("plan: a timeout of %d µs", p.TimeoutMicroseconds)
	case len(p.Requests) == 0 && len(p.RequestList) == 0:
		return fmt.Errorf("plan: no requests")
	case len(p.Requests) > 0 && len(p.RequestList) > 0:
		return fmt.Errorf("plan: %d requests beside a list of them", len(p.Requests))
	case p.Authentication != "" && CredentialKeys(p.Authentication) == nil:
		return fmt.Errorf("plan: authentication %q", p.Authentication)
	case p.Streams > 0 && p.Form != nil:
		return fmt.Errorf("plan: a form over HTTP/2")
	}
	if (p.Form != nil) != (p.Authentication == AuthenticationForm) {
		return fmt.Errorf("plan: authentication %q with a form or without", p.Authentication)
	}
	if p.Form != nil {
		if err := p.Form.check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	if p.ThinkTime != nil && (p.ThinkTime.MinMicroseconds < 0 || p.ThinkTime.MaxMicroseconds < p.ThinkTime.MinMicroseconds || p.Arrivals != nil) {
		return fmt.Errorf("plan: a pause of %d to %d µs", p.ThinkTime.MinMicroseconds, p.ThinkTime.MaxMicroseconds)
	}
	for i, r := range p.Requests {
		if err := r.check(); err != nil {
			return fmt.Errorf("plan: request %d: %w", i, err)
		}
	}
	if p.Warmup != nil {
		if err := p.checkAmount(*p.Warmup); err != nil {
			return fmt.Errorf("plan: warm-up: %w", err)
		}
	}
	if err := p.checkAmount(p.Measurement); err != nil {
		return fmt.Errorf("plan: measurement: %w", err)
	}
	return nil
}

func (p *Plan) checkAmount(a Amount) error {
	if (a.Requests > 0) == (a.DurationMicroseconds > 0) || a.Requests < 0 || a.DurationMicroseconds < 0 {
		return fmt.Errorf("%d requests and %d µs", a.Requests, a.DurationMicroseconds)
	}
	return p.checkShape(a)
}

// PlanToWire returns the plan as it is sent.
func PlanToWire(p *Plan) (*sessionpb.Plan, error) { return toMessage(p, &sessionpb.Plan{}) }

// PlanFromWire is the inverse of PlanToWire. It returns an error for a plan that
// no client could run.
func PlanFromWire(w *sessionpb.Plan) (*Plan, error) {
	var p Plan
	if err := fromMessage(w, &p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &p, p.Check()
}

// HostHeader returns the Host header of requests to a target: host, or where
// that is empty the target's address, without the port that is the scheme's own
// (RFC 9110, section 7.2).
func HostHeader(host, address string, secure bool) string {
	if host != "" {
		return host
	}
	if secure {
		return strings.TrimSuffix(address, ":443")
	}
	return strings.TrimSuffix(address, ":80")
}

// Check returns an error that says what no agent could carry out.
func (w *Watch) Check() error {
	if w.Address == "" || w.Path == "" || w.Path[0] != '/' {
		return fmt.Errorf("watch: path %q at address %q", w.Path, w.Address)
	}
	if w.TLS != nil {
		if err := w.TLS.check(); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	return nil
}

// WatchToWire returns what is to be watched as it is sent.
func WatchToWire(w *Watch) (*sessionpb.Watch, error) { return toMessage(w, &sessionpb.Watch{}) }

// WatchFromWire is the inverse of WatchToWire. It returns an error for a watch
// that no agent could run.
func WatchFromWire(m *sessionpb.Watch) (*Watch, error) {
	var w Watch
	if err := fromMessage(m, &w); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return &w, w.Check()
}
