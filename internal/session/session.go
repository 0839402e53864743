// Package session holds what both ends of a session share: the plan of a client, the limits of the
// protocol, and the conversion between messages and the types that the rest of the code uses. The
// manager's end is in package manager, the pods' end in pod, the protocol itself in sessionpb.
package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// Audience is the audience of the service account tokens with which pods authenticate.
	Audience = "assay"

	// MaxMessageBytes bounds a message in either direction.
	MaxMessageBytes = 4 << 20

	// TokenPath is the path of a pod's token.
	TokenPath = "/var/run/assay/token"
	// CAPath is the path of the CA certificates with which a pod verifies the manager.
	CAPath = "/var/run/assay/ca.crt"

	// ServerName is the name in the manager's serving certificate.
	ServerName = "assay-session"
)

// Plan is the load of one client.
type Plan struct {
	// Connections is the number of concurrent connections, with Arrivals the maximum.
	Connections int `json:"connections"`
	// Streams is the number of concurrent requests on each connection over HTTP/2, or
	// 0 for HTTP/1.1.
	Streams int `json:"streams,omitempty"`
	// KeepAlive sends many requests over a connection instead of one.
	KeepAlive bool `json:"keepAlive"`
	// TimeoutMicroseconds is the timeout of a request.
	TimeoutMicroseconds int64 `json:"timeoutMicroseconds"`
	// Host is the Host header; empty for the target's address.
	Host string `json:"host,omitempty"`
	// TLS holds the settings of TLS with the target, or nil for none.
	TLS *TLS `json:"tls,omitempty"`
	// Requests are the kinds of requests.
	Requests []PlannedRequest `json:"requests,omitempty"`
	// RequestList replaces Requests. It is encoded by package requestlist.
	RequestList []byte `json:"requestList,omitempty"`
	// Pages replace Requests. Connections and the profiles of amounts are users then, and the
	// requests of amounts are pages. UserConnections is the number of connections of each user.
	Pages           []Page `json:"pages,omitempty"`
	UserConnections int    `json:"userConnections,omitempty"`
	// Lengths are the expected lengths of responses to GET requests of RequestList and for
	// elements of Pages, in bytes, by path. Other responses may have any length.
	Lengths map[string]int64 `json:"lengths,omitempty"`
	// Sequential sends the requests of each connection in their order, instead of at
	// random in proportion to their weights.
	Sequential bool `json:"sequential,omitempty"`
	// Cookies sends back on each connection the cookies that it received.
	Cookies bool `json:"cookies,omitempty"`
	// Authentication is the authentication scheme of requests, or empty for none. The
	// credentials are in CredentialsDirectory.
	Authentication string `json:"authentication,omitempty"`
	// Form is the login of connections, or nil unless Authentication is Form.
	Form *Form `json:"form,omitempty"`
	// Arrivals sets the intended start times of requests in open load (the open
	// model). It is nil for closed load (the closed model), in which a connection
	// sends a request once it has read the response to the one before.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// ThinkTime is the time that a connection waits between two requests, or nil for none.
	ThinkTime *ThinkTime `json:"thinkTime,omitempty"`
	// Seed is the seed of the random choice of requests.
	Seed uint64 `json:"seed"`
	// Warmup is the load before the measurement, or nil for none.
	Warmup *Amount `json:"warmup,omitempty"`
	// Measurement is the load that is measured.
	Measurement Amount `json:"measurement"`
	// Script is the k6 script that replaces connections, requests and amounts, or nil.
	Script *Script `json:"script,omitempty"`
	// Tool is the name of a load generator that replaces the client's own, or empty: result.ToolAB or result.ToolSiege.
	Tool string `json:"tool,omitempty"`
	// Probe is a path that the client probes until it succeeds, before it is ready. It is set for a
	// target that has no agent, or to which connections log in, and empty for any other.
	Probe string `json:"probe,omitempty"`
}

// maxPerSecond bounds arrival rates, over all clients.
const maxPerSecond = 100_000_000

// MaxLevels bounds the levels of a load.
const MaxLevels = 20

// Arrivals sets the intended start times of the requests of an open load, which don't depend on the
// responses to earlier ones. The arrival rate is that of all clients together. Each client has a
// share: together they send the requests that a single one would send.
type Arrivals struct {
	// Share is the client's number, from 0. Shares is the number of clients.
	Share  int `json:"share"`
	Shares int `json:"shares"`
	// Poisson makes the inter-arrival times independent and exponentially
	// distributed, instead of constant.
	Poisson bool `json:"poisson,omitempty"`
}

// ThinkTime is the time between two requests of a connection. It is uniformly
// distributed between two bounds.
type ThinkTime struct {
	MinMicroseconds int64 `json:"minMicroseconds"`
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

func (a *Arrivals) check(amount Amount) error {
	switch {
	case a.Share < 0 || a.Share >= a.Shares:
		return fmt.Errorf("share %d of %d arrivals", a.Share, a.Shares)
	case amount.Profile.Final() == 0:
		return fmt.Errorf("arrivals that end at rate 0")
	}
	return amount.Profile.Check(maxPerSecond)
}

// Watch sets what an agent probes and samples.
type Watch struct {
	// Address is the target's address and port.
	Address string `json:"address"`
	// Path is the path that is probed until it succeeds.
	Path string `json:"path"`
	// Host is the Host header; empty for the target's address.
	Host string `json:"host,omitempty"`
	// TLS holds the settings of TLS with the target, or nil for none.
	TLS *TLS `json:"tls,omitempty"`
	// Streams is the number of concurrent requests that the server allows on a
	// connection over HTTP/2, or 0 to probe over HTTP/1.1.
	Streams int `json:"streams,omitempty"`
	// Containers are the names of the containers that are sampled on their own, by the container ID
	// without its scheme. Processes in none of them belong to the server.
	Containers map[string]string `json:"containers,omitempty"`
}

// Amount is the amount of load of a stage: a number of requests or a duration. The other is zero.
type Amount struct {
	Requests             int64 `json:"requests,omitempty"`
	DurationMicroseconds int64 `json:"durationMicroseconds,omitempty"`
	// Profile describes how the load changes. With Plan.Arrivals it is the rate of all
	// clients together, in requests per second, else the number of this client's
	// connections. Without a profile all of them start at once.
	Profile profile.Profile `json:"profile,omitempty"`
}

// Duration returns the amount as a duration, or zero if it is a number of requests.
func (a Amount) Duration() time.Duration {
	return time.Duration(a.DurationMicroseconds) * time.Microsecond
}

// Check returns an error for a plan that no client could run.
func (p *Plan) Check() error {
	if p.TLS != nil {
		if err := p.TLS.check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	if p.Probe != "" && p.Probe[0] != '/' {
		return fmt.Errorf("plan: probe path %q must begin with /", p.Probe)
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
		return fmt.Errorf("plan: timeout of %d µs", p.TimeoutMicroseconds)
	case len(p.Requests) == 0 && len(p.RequestList) == 0 && len(p.Pages) == 0:
		return fmt.Errorf("plan: no requests")
	case len(p.Requests) > 0 && len(p.RequestList) > 0:
		return fmt.Errorf("plan: %d requests and a list of requests", len(p.Requests))
	case p.Authentication != "" && CredentialKeys(p.Authentication) == nil:
		return fmt.Errorf("plan: authentication %q", p.Authentication)
	case p.Streams > 0 && p.Form != nil:
		return fmt.Errorf("plan: form login over HTTP/2")
	}
	if err := p.checkTool(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if (p.Form != nil) != (p.Authentication == AuthenticationForm) {
		return fmt.Errorf("plan: authentication %q, form %t", p.Authentication, p.Form != nil)
	}
	if p.Form != nil {
		if err := p.Form.check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	if err := p.checkPages(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if p.ThinkTime != nil && (p.ThinkTime.MinMicroseconds < 0 || p.ThinkTime.MaxMicroseconds < p.ThinkTime.MinMicroseconds || p.Arrivals != nil) {
		return fmt.Errorf("plan: think time of %d to %d µs", p.ThinkTime.MinMicroseconds, p.ThinkTime.MaxMicroseconds)
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
	if p.Arrivals != nil {
		return p.Arrivals.check(a)
	}
	return a.Profile.Check(int64(p.Connections))
}

// Describe returns what results say of a plan, which is nothing of its target, name and time.
func (p *Plan) Describe() result.Run {
	described := result.Run{
		Connections: int64(p.Connections), Streams: int64(p.Streams), KeepAlive: p.KeepAlive, Sequential: p.Sequential,
		Cookies: p.Cookies, Authentication: p.Authentication, Tool: p.Tool, Requests: []result.Request{}, UserConnections: int64(p.UserConnections),
	}
	for _, r := range p.Requests {
		described.Requests = append(described.Requests, r.describe())
	}
	for _, page := range p.Pages {
		document := page.Document.describe()
		document.Elements = int64(len(page.Elements))
		described.Requests = append(described.Requests, document)
	}
	return described
}

// PlanToWire returns the message for a plan.
func PlanToWire(p *Plan) *sessionpb.Plan { return toMessage(p, &sessionpb.Plan{}) }

// PlanFromWire is the inverse of PlanToWire. It returns an error for a plan that
// no client could run.
func PlanFromWire(w *sessionpb.Plan) (*Plan, error) {
	var p Plan
	if err := fromMessage(w, &p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &p, p.Check()
}

// HostHeader returns the Host header of requests to a target: host, or if that is empty the
// target's address, without the default port of the scheme (RFC 9110, section 7.2).
func HostHeader(host, address string, secure bool) string {
	if host != "" {
		return host
	}
	if secure {
		return strings.TrimSuffix(address, ":443")
	}
	return strings.TrimSuffix(address, ":80")
}

// Check returns an error for a watch that no agent could run.
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

// WatchToWire returns the message for a watch.
func WatchToWire(w *Watch) *sessionpb.Watch { return toMessage(w, &sessionpb.Watch{}) }

// WatchFromWire is the inverse of WatchToWire. It returns an error for a watch
// that no agent could run.
func WatchFromWire(m *sessionpb.Watch) (*Watch, error) {
	var w Watch
	if err := fromMessage(m, &w); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return &w, w.Check()
}
