package planfile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
)

// Bounds, as a BenchmarkRun has them. There the API server checks them, by a
// schema and rules that are too large to be part of each client.
const (
	mostConnections       = 20_000 // times streams
	mostStreams           = 1000
	mostPerSecond         = 100_000
	mostRequests          = 1_000_000_000_000
	mostSeconds           = 604_800
	mostLevelSeconds      = 86_400
	mostTimeoutSeconds    = 3600
	mostPauseMilliseconds = 3_600_000
	mostWeight            = 1_000_000
	mostBodyBytes         = 64 << 20
	mostLevels            = 20
	mostWindowSeconds     = 60
	leastWindows          = 2
	mostWindows           = 10
)

// load looks for what a BenchmarkRun would be refused for.
func (c *converter) load(l *v1alpha1.Load) {
	choice(c, "load.order", l.Order, v1alpha1.OrderRandom, v1alpha1.OrderSequential)
	choice(c, "load.scope", l.Scope, v1alpha1.ScopeClient, v1alpha1.ScopeRun)
	choice(c, "load.connection.keepAlive", l.Connection.KeepAlive, v1alpha1.Enabled, v1alpha1.Disabled)
	c.streams(l)
	choice(c, "load.connection.cookies", l.Connection.Cookies, v1alpha1.Disabled, v1alpha1.Enabled)
	within(c, "load.connection.timeoutSeconds", l.Connection.TimeoutSeconds, 1, mostTimeoutSeconds)
	if l.Authentication != nil {
		choice(c, "load.authentication.scheme", l.Authentication.Scheme,
			v1alpha1.AuthenticationBasic, v1alpha1.AuthenticationDigest, v1alpha1.AuthenticationBearer, v1alpha1.AuthenticationForm)
		c.form(l)
	}
	for i := range l.Requests {
		c.request(fmt.Sprintf("load.requests[%d]", i), &l.Requests[i])
	}
	if c.one("load", member{"closed", l.Closed != nil}, member{"open", l.Open != nil}, member{"stages", l.Stages != nil}) {
		c.closed(l)
		c.open(l.Open)
		c.stages(l.Stages)
	}
}

// streams looks at the protocol and how many requests there are on a connection.
func (c *converter) streams(l *v1alpha1.Load) {
	p := &l.Connection
	choice(c, "load.connection.protocol", p.Protocol, v1alpha1.HTTP1, v1alpha1.HTTP2)
	within(c, "load.connection.streams", p.Streams, 1, mostStreams)
	if p.Streams != nil && p.Protocol != v1alpha1.HTTP2 {
		c.wrong("load.connection.streams", "it's for the protocol HTTP2: in HTTP/1.1 a connection has one request at a time")
	}
	if p.Protocol == v1alpha1.HTTP2 && l.Authentication != nil && l.Authentication.Scheme == v1alpha1.AuthenticationForm {
		c.wrong("load.connection.protocol", "it must be HTTP1 with the scheme Form: connections log in by HTTP/1.1")
	}
	if p.Protocol == v1alpha1.HTTP2 && p.KeepAlive == v1alpha1.Disabled {
		c.wrong("load.connection.keepAlive", "it must be Enabled with the protocol HTTP2, whose connections are there to be shared")
	}
}

// concurrent is how many requests a closed load has at once, each of which the
// first of its requests must be there for.
func concurrent(l *v1alpha1.Load) int64 {
	if l.Closed == nil {
		return 1
	}
	return int64(l.Closed.Connections) * int64(ptr.Deref(l.Connection.Streams, 1))
}

// form looks at how connections log in.
func (c *converter) form(l *v1alpha1.Load) {
	a := l.Authentication
	isForm := a.Scheme == v1alpha1.AuthenticationForm
	switch {
	case isForm != (a.Form != nil):
		c.wrong("load.authentication.form", "it goes with the scheme Form and with no other")
	case isForm && !strings.HasPrefix(a.Form.Path, "/"):
		c.wrong("load.authentication.form.path", "%q must begin with a slash: give the path that the form is posted to", a.Form.Path)
	case isForm && l.Connection.Cookies != v1alpha1.Enabled:
		c.wrong("load.connection.cookies", "it must be Enabled with a form: the cookie is what the login is for")
	}
}

func (c *converter) request(field string, r *v1alpha1.Request) {
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsFunc(r.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
		c.wrong(field+".path", "%q must begin with a slash, and have only characters that a URL may have: percent-encode the others, a space as %%20", r.Path)
	}
	method := choice(c, field+".method", r.Method, v1alpha1.MethodGet, v1alpha1.MethodHead, v1alpha1.MethodPost,
		v1alpha1.MethodPut, v1alpha1.MethodPatch, v1alpha1.MethodDelete, v1alpha1.MethodOptions)
	choice(c, field+".redirects", r.Redirects, v1alpha1.RedirectsIgnore, v1alpha1.RedirectsFollow)
	within(c, field+".weight", r.Weight, 1, mostWeight)
	if b := r.Body; b != nil {
		if method == v1alpha1.MethodGet || method == v1alpha1.MethodHead {
			c.wrong(field+".body", "it has no meaning with %s: give method, such as POST, or leave it out", method)
		}
		c.one(field+".body", member{"text", b.Text != ""}, member{"sizeBytes", b.SizeBytes != nil})
		within(c, field+".body.sizeBytes", b.SizeBytes, 1, mostBodyBytes)
	}
	if e := r.Expect; e != nil {
		within(c, field+".expect.bodyBytes", e.BodyBytes, 0, 1<<40)
	}
}

func (c *converter) closed(load *v1alpha1.Load) {
	l := load.Closed
	if l == nil {
		return
	}
	required(c, "load.closed.connections", l.Connections, 1, mostConnections)
	within(c, "load.closed.rampSeconds", l.RampSeconds, 0, mostLevelSeconds)
	c.pause("load.closed.thinkTime", l.ThinkTime)
	c.amount("load.closed", l.Requests, l.DurationSeconds, concurrent(load))
}

func (c *converter) open(l *v1alpha1.OpenLoad) {
	if l == nil {
		return
	}
	required(c, "load.open.requestsPerSecond", l.RequestsPerSecond, 1, mostPerSecond)
	within(c, "load.open.maxConnections", l.MaxConnections, 1, mostConnections)
	choice(c, "load.open.interArrivalTimes", l.InterArrivalTimes, v1alpha1.InterArrivalConstant, v1alpha1.InterArrivalPoisson)
	if r := l.Ramp; r != nil {
		if r.From == nil {
			c.wrong("load.open.ramp.from", "it's missing: give the rate at the beginning, or 0")
		}
		within(c, "load.open.ramp.from", r.From, 0, mostPerSecond)
		required(c, "load.open.ramp.seconds", r.Seconds, 1, mostLevelSeconds)
		if l.DurationSeconds != nil && r.Seconds > *l.DurationSeconds {
			c.wrong("load.open.ramp.seconds", "it's %d: give at most durationSeconds, which is %d", r.Seconds, *l.DurationSeconds)
		}
	}
	c.amount("load.open", l.Requests, l.DurationSeconds, 1)
}

func (c *converter) stages(l *v1alpha1.StagesLoad) {
	if l == nil {
		return
	}
	if len(l.Levels) < 1 || len(l.Levels) > mostLevels {
		c.wrong("load.stages.levels", "there are %d: give from 1 to %d", len(l.Levels), mostLevels)
		return
	}
	connections := l.Levels[0].Connections != nil
	for i := range l.Levels {
		field, level := fmt.Sprintf("load.stages.levels[%d]", i), &l.Levels[i]
		c.one(field, member{"connections", level.Connections != nil}, member{"requestsPerSecond", level.RequestsPerSecond != nil})
		if connections != (level.Connections != nil) {
			c.wrong(field, "all levels must have the same of connections and requestsPerSecond")
		}
		within(c, field+".connections", level.Connections, 1, mostConnections)
		within(c, field+".requestsPerSecond", level.RequestsPerSecond, 1, mostPerSecond)
		within(c, field+".rampSeconds", level.RampSeconds, 0, mostLevelSeconds)
		required(c, field+".holdSeconds", level.HoldSeconds, 1, mostLevelSeconds)
	}
	c.pause("load.stages.thinkTime", l.ThinkTime)
	choice(c, "load.stages.interArrivalTimes", l.InterArrivalTimes, v1alpha1.InterArrivalConstant, v1alpha1.InterArrivalPoisson)
	within(c, "load.stages.maxConnections", l.MaxConnections, 1, mostConnections)
	if !connections && l.ThinkTime != nil {
		c.wrong("load.stages.thinkTime", "it's for levels of connections: a rate has no pauses")
	}
	if connections && l.InterArrivalTimes != "" {
		c.wrong("load.stages.interArrivalTimes", "it's for levels of requestsPerSecond")
	}
	if connections && l.MaxConnections != nil {
		c.wrong("load.stages.maxConnections", "it's for levels of requestsPerSecond")
	}
}

func (c *converter) pause(field string, p *v1alpha1.ThinkTime) {
	if p == nil {
		return
	}
	required(c, field+".minMilliseconds", p.MinMilliseconds, 1, mostPauseMilliseconds)
	within(c, field+".maxMilliseconds", p.MaxMilliseconds, int64(p.MinMilliseconds), mostPauseMilliseconds)
}

func (c *converter) warmup(w *v1alpha1.Warmup, l *v1alpha1.Load) {
	least := concurrent(l)
	if w.Steady == nil || w.Requests != nil || w.DurationSeconds != nil {
		if c.one("load.warmup", member{"requests", w.Requests != nil}, member{"durationSeconds", w.DurationSeconds != nil}, member{"steady", w.Steady != nil}) {
			c.amount("load.warmup", w.Requests, w.DurationSeconds, least)
		}
		return
	}
	within(c, "load.warmup.steady.windowSeconds", w.Steady.WindowSeconds, 1, mostWindowSeconds)
	within(c, "load.warmup.steady.windows", w.Steady.Windows, leastWindows, mostWindows)
	within(c, "load.warmup.steady.throughputPercent", w.Steady.ThroughputPercent, 1, 100)
	within(c, "load.warmup.steady.p99Percent", w.Steady.P99Percent, 1, 100)
	within(c, "load.warmup.steady.timeoutSeconds", w.Steady.TimeoutSeconds, 1, mostLevelSeconds)
	criterion := loadplan.Steady(w.Steady)
	if least := criterion.Windows * criterion.WindowSeconds; criterion.TimeoutSeconds < least {
		c.wrong("load.warmup.steady.timeoutSeconds", "it's %d: give at least windows times windowSeconds, which is %d", criterion.TimeoutSeconds, least)
	}
}

// amount is a number of requests, one for each connection at least, or a duration.
func (c *converter) amount(field string, requests *int64, seconds *int32, connections int64) {
	if !c.one(field, member{"requests", requests != nil}, member{"durationSeconds", seconds != nil}) {
		return
	}
	within(c, field+".durationSeconds", seconds, 1, mostSeconds)
	if within(c, field+".requests", requests, 1, mostRequests) && requests != nil && *requests < connections {
		c.wrong(field+".requests", "it's %d for %d connections or streams: give at least as many requests, so that each makes one", *requests, connections)
	}
}

// member is a field of which there may be others instead.
type member struct {
	name  string
	given bool
}

// one says when not exactly one of some fields is given.
func (c *converter) one(field string, members ...member) bool {
	given, names := 0, make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
		if m.given {
			given++
		}
	}
	if given != 1 {
		last := len(names) - 1
		c.wrong(field, "give exactly one of %s and %s", strings.Join(names[:last], ", "), names[last])
	}
	return given == 1
}

// within says when a number that is given is out of bounds.
func within[N int32 | int64](c *converter, field string, n *N, least, most int64) bool {
	if n == nil || int64(*n) >= least && int64(*n) <= most {
		return true
	}
	c.wrong(field, "it's %d: give a number from %d to %d", *n, least, most)
	return false
}

// required says when a number isn't given or is out of bounds, which begin at 1.
func required[N int32 | int64](c *converter, field string, n N, least, most int64) {
	if n == 0 {
		c.wrong(field, "it's missing or 0: give a number from %d to %d", least, most)
		return
	}
	within(c, field, &n, least, most)
}

// choice is one of some values, the first when nothing was chosen.
func choice[S ~string](c *converter, field string, chosen S, values ...S) S {
	if chosen == "" {
		return values[0]
	}
	if !slices.Contains(values, chosen) {
		names := make([]string, len(values))
		for i, v := range values {
			names[i] = string(v)
		}
		last := len(names) - 1
		c.wrong(field, "it's %q: give %s or %s", chosen, strings.Join(names[:last], ", "), names[last])
	}
	return chosen
}
