package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
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
	// Slices are the times in which the load runs if it alternates with those of other variants, or nil. The amounts are in
	// virtual time then.
	Slices *profile.Slices `json:"slices,omitempty"`
	// Seed is the seed of the random choice of requests.
	Seed uint64 `json:"seed"`
	// Warmup is the load before the measurement, or nil for none.
	Warmup *Amount `json:"warmup,omitempty"`
	// Measurement is the load that is measured.
	Measurement Amount `json:"measurement"`
	// Script is the k6 script that replaces connections, requests and amounts, or nil.
	Script *Script `json:"script,omitempty"`
	// Tool is the name of a load generator that replaces the client's own, or empty: result.ToolAB, result.ToolSiege or result.ToolK6.
	Tool string `json:"tool,omitempty"`
	// Probes are sent by the client until they succeed, one after the other, before it is ready. They are set for a
	// target that has no agent, or to which connections log in, and empty for any other.
	Probes []Probe `json:"probes,omitempty"`
}

// maxPerSecond bounds arrival rates, over all clients.
const maxPerSecond = 100_000_000

// maxScale bounds the scale of arrival rates.
const maxScale = 1000

// MaxLevels bounds the levels of a load.
const MaxLevels = 20

// Arrivals sets the intended start times of the requests of an open load, which don't depend on the
// responses to earlier ones. The arrival rate is that of all clients together. Each client has a
// share: together they send the requests that a single one would send.
type Arrivals struct {
	// Share is the client's number, from 0. Shares is the number of clients.
	Share  int `json:"share"`
	Shares int `json:"shares"`
	// Scale divides the rates of the amounts' profiles, so that a rate needn't be a whole number. 0 is 1.
	Scale int `json:"scale,omitempty"`
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
	case a.Scale < 0 || a.Scale > maxScale:
		return fmt.Errorf("scale %d of arrivals", a.Scale)
	case amount.Profile.Final() == 0:
		return fmt.Errorf("arrivals that end at rate 0")
	}
	return amount.Profile.Check(maxPerSecond * int64(max(1, a.Scale)))
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
	if err := p.check(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

func (p *Plan) check() error {
	if err := cmp.Or(p.TLS.check(), checkProbes(p.Probes), p.checkSlices()); err != nil {
		return err
	}
	if p.Script != nil {
		return p.Script.check()
	}
	switch {
	case p.Connections < 1:
		return fmt.Errorf("%d connections", p.Connections)
	case p.Streams < 0 || p.Streams > 0 && !p.KeepAlive:
		return fmt.Errorf("%d streams, keep-alive %t", p.Streams, p.KeepAlive)
	case p.TimeoutMicroseconds < 1:
		return fmt.Errorf("timeout of %d µs", p.TimeoutMicroseconds)
	case len(p.Requests) == 0 && len(p.RequestList) == 0 && len(p.Pages) == 0:
		return fmt.Errorf("no requests")
	case len(p.Requests) > 0 && len(p.RequestList) > 0:
		return fmt.Errorf("%d requests and a list of requests", len(p.Requests))
	case p.Authentication != "" && CredentialKeys(p.Authentication) == nil:
		return fmt.Errorf("authentication %q", p.Authentication)
	case p.Streams > 0 && p.Form != nil:
		return fmt.Errorf("form login over HTTP/2")
	}
	if err := p.checkTool(); err != nil {
		return err
	}
	if (p.Form != nil) != (p.Authentication == AuthenticationForm) {
		return fmt.Errorf("authentication %q, form %t", p.Authentication, p.Form != nil)
	}
	if p.Form != nil {
		if err := p.Form.check(); err != nil {
			return err
		}
	}
	if err := p.checkPages(); err != nil {
		return err
	}
	if p.ThinkTime != nil && (p.ThinkTime.MinMicroseconds < 0 || p.ThinkTime.MaxMicroseconds < p.ThinkTime.MinMicroseconds || p.Arrivals != nil) {
		return fmt.Errorf("think time of %d to %d µs", p.ThinkTime.MinMicroseconds, p.ThinkTime.MaxMicroseconds)
	}
	for i, r := range p.Requests {
		if err := r.check(); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	if p.Warmup != nil {
		if err := p.checkAmount(*p.Warmup); err != nil {
			return fmt.Errorf("warm-up: %w", err)
		}
	}
	if err := p.checkAmount(p.Measurement); err != nil {
		return fmt.Errorf("measurement: %w", err)
	}
	return nil
}

// checkSlices returns an error for a load that can't alternate: one that another program makes, whose pages take longer than a slice, or
// whose measurement doesn't consist of whole slices.
func (p *Plan) checkSlices() error {
	switch {
	case p.Slices == nil:
		return nil
	case p.Script != nil || p.Tool != "" || len(p.Pages) > 0:
		return fmt.Errorf("slices of a load with a script, another tool or pages")
	case p.Measurement.Duration() < profile.SliceLength || p.Measurement.Duration()%profile.SliceLength != 0:
		return fmt.Errorf("slices of a measurement that doesn't last whole seconds: %v", p.Measurement.Duration())
	}
	for _, amount := range []*Amount{&p.Measurement, p.Warmup} {
		if amount != nil && (len(amount.Profile) > 1 || amount.Profile.Duration() > 0) {
			return fmt.Errorf("slices of a load that changes")
		}
	}
	return p.Slices.Check()
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
	if p.Slices != nil {
		described.Variants = int64(p.Slices.Variants)
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

// RequestNames returns the names of the plan's requests, each once: documents of pages come before elements. Requests with the same
// name have their metrics together. There are at most result.MaxNamedRequests and, for all others, result.OtherRequests. A plan with
// a list or a script has none.
func (p *Plan) RequestNames() []string {
	var names []string
	seen := map[string]bool{}
	add := func(r *PlannedRequest) {
		if name := r.DisplayName(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for i := range p.Requests {
		add(&p.Requests[i])
	}
	for i := range p.Pages {
		add(&p.Pages[i].Document)
	}
	for i := range p.Pages {
		for _, path := range p.Pages[i].Elements {
			add(&PlannedRequest{Path: path})
		}
	}
	if len(names) > result.MaxNamedRequests {
		names = append(names[:result.MaxNamedRequests], result.OtherRequests)
	}
	return names
}

// Named returns the index of the name of each of Requests among RequestNames, and the number of names.
func (p *Plan) Named() (indexes []int, names int) {
	all := p.RequestNames()
	for i := range p.Requests {
		at := slices.Index(all, p.Requests[i].DisplayName())
		if at < 0 {
			at = len(all) - 1 // that of all others
		}
		indexes = append(indexes, at)
	}
	return indexes, len(all)
}

// DecodePlan decodes a plan. It returns an error for one that no client could run.
func DecodePlan(data []byte) (*Plan, error) {
	return decode("plan", data, MaxMessageBytes, (*Plan).check)
}
