package planfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
)

// Bounds that several fields have. All bounds are those of a BenchmarkRun. There the API server
// checks them, by a schema and rules that are too large to be part of each client.
const (
	maxConnections  = 20_000
	maxPerSecond    = 100_000
	maxLevelSeconds = 86_400
	maxThinkTime    = 3_600_000 // milliseconds
	maxLevels       = 20
)

// load checks a load as the API server checks that of a BenchmarkRun.
func (c *converter) load(l *v1alpha1.Load) {
	choice(c, "load.order", l.Order, v1alpha1.OrderRandom, v1alpha1.OrderSequential)
	choice(c, "load.loadIsPer", l.LoadIsPer, v1alpha1.LoadPerClient, v1alpha1.LoadPerRun)
	c.connection(l)
	c.authentication(l)
	for i := range l.Requests {
		c.request(fmt.Sprintf("load.requests[%d]", i), &l.Requests[i])
	}
	if c.one("load", member{"closed", l.Closed != nil}, member{"open", l.Open != nil}, member{"stages", l.Stages != nil}) {
		c.closed(l)
		c.open(l.Open)
		c.stages(l.Stages, l.Pages != nil)
	}
	c.pages(l)
}

// pages checks what only a load of pages may have, and may not.
func (c *converter) pages(l *v1alpha1.Load) {
	if l.Pages == nil {
		for i := range l.Requests {
			c.rejectIf(l.Requests[i].Elements != nil, fmt.Sprintf("load.requests[%d].elements", i), "must not be set unless load.pages is: set pages to {}")
		}
		return
	}
	if within(c, "load.pages.connectionsPerUser", l.Pages.ConnectionsPerUser, 1, session.MaxUserConnections) {
		most := int64(0)
		if l.Closed != nil {
			most = int64(l.Closed.Users)
		}
		if l.Stages != nil {
			for i := range l.Stages.Levels {
				most = max(most, int64(ptr.Deref(l.Stages.Levels[i].Users, 0)))
			}
		}
		c.rejectIf(most*int64(ptr.Deref(l.Pages.ConnectionsPerUser, loadplan.DefaultUserConnections)) > maxConnections,
			"load.pages.connectionsPerUser", "times the users must be at most %d", maxConnections)
	}
	c.rejectIf(len(l.Requests) == 0, "load.pages", "needs load.requests, the documents of the pages: a list has no elements")
	c.rejectIf(l.Open != nil, "load.open", "must not be set with load.pages: set closed or stages, with users")
	c.rejectIf(l.Client.Cookies == v1alpha1.Enabled, "load.client.cookies", "must be Disabled with load.pages")
	c.rejectIf(l.Client.Protocol == v1alpha1.HTTP2, "load.client.protocol", "must be HTTP1 with load.pages")
	for i := range l.Requests {
		field, elements := fmt.Sprintf("load.requests[%d].elements", i), l.Requests[i].Elements
		c.rejectIf(len(elements) > session.MaxElements, field, "must have at most %d elements, not %d", session.MaxElements, len(elements))
		for j, path := range elements {
			c.urlPath(fmt.Sprintf("%s[%d]", field, j), string(path))
		}
	}
}

// urlPath checks the path and query of a URL.
func (c *converter) urlPath(field, path string) {
	c.rejectIf(!strings.HasPrefix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }),
		field, "%q must begin with a slash and have only characters that a URL may have: percent-encode the others, a space as %%20", path)
}

func (c *converter) connection(l *v1alpha1.Load) {
	p := &l.Client
	http2 := p.Protocol == v1alpha1.HTTP2
	choice(c, "load.client.keepAlive", p.KeepAlive, v1alpha1.Enabled, v1alpha1.Disabled)
	choice(c, "load.client.protocol", p.Protocol, v1alpha1.HTTP1, v1alpha1.HTTP2)
	choice(c, "load.client.cookies", p.Cookies, v1alpha1.Disabled, v1alpha1.Enabled)
	within(c, "load.client.streams", p.Streams, 1, 1000)
	within(c, "load.client.timeoutSeconds", p.TimeoutSeconds, 1, 3600)
	c.rejectIf(p.Streams != nil && !http2,
		"load.client.streams", "must not be set without the protocol HTTP2: in HTTP/1.1 a connection has one request at a time")
	c.rejectIf(http2 && l.Authentication != nil && l.Authentication.Scheme == v1alpha1.AuthenticationForm,
		"load.client.protocol", "must be HTTP1 with the scheme Form: connections log in by HTTP/1.1")
	c.rejectIf(http2 && p.KeepAlive == v1alpha1.Disabled,
		"load.client.keepAlive", "must be Enabled with the protocol HTTP2, whose connections are there to be shared")
}

// concurrent returns the number of requests that a closed load has in progress at once. Its number
// of requests must not be smaller.
func concurrent(l *v1alpha1.Load) int64 {
	if l.Closed == nil {
		return 1
	}
	return int64(max(l.Closed.Connections, l.Closed.Users)) * int64(ptr.Deref(l.Client.Streams, 1))
}

func (c *converter) authentication(l *v1alpha1.Load) {
	a := l.Authentication
	if a == nil {
		return
	}
	choice(c, "load.authentication.scheme", a.Scheme,
		v1alpha1.AuthenticationBasic, v1alpha1.AuthenticationDigest, v1alpha1.AuthenticationBearer, v1alpha1.AuthenticationForm)
	isForm := a.Scheme == v1alpha1.AuthenticationForm
	switch {
	case isForm != (a.Form != nil):
		c.reject("load.authentication.form", "must be set with the scheme Form, and with no other")
	case isForm && !strings.HasPrefix(a.Form.Path, "/"):
		c.reject("load.authentication.form.path", "%q must begin with a slash: set the path that the form is posted to", a.Form.Path)
	case isForm && l.Client.Cookies != v1alpha1.Enabled:
		c.reject("load.client.cookies", "must be Enabled with a form: the cookie is what the login is for")
	}
}

func (c *converter) request(field string, r *v1alpha1.Request) {
	c.urlPath(field+".path", r.Path)
	method := choice(c, field+".method", r.Method, v1alpha1.MethodGet, v1alpha1.MethodHead, v1alpha1.MethodPost,
		v1alpha1.MethodPut, v1alpha1.MethodPatch, v1alpha1.MethodDelete, v1alpha1.MethodOptions)
	choice(c, field+".redirects", r.Redirects, v1alpha1.RedirectsIgnore, v1alpha1.RedirectsFollow)
	within(c, field+".weight", r.Weight, 1, 1_000_000)
	if b := r.Body; b != nil {
		c.rejectIf(method == v1alpha1.MethodGet || method == v1alpha1.MethodHead,
			field+".body", "has no meaning with %s: set method, such as POST, or omit the body", method)
		c.one(field+".body", member{"text", b.Text != ""}, member{"sizeBytes", b.SizeBytes != nil})
		within(c, field+".body.sizeBytes", b.SizeBytes, 1, 64<<20)
	}
	if r.Expect != nil {
		within(c, field+".expect.bodyBytes", r.Expect.BodyBytes, 0, 1<<40)
	}
}

func (c *converter) closed(load *v1alpha1.Load) {
	l := load.Closed
	if l == nil {
		return
	}
	if load.Pages != nil {
		c.rejectIf(l.Connections != 0, "load.closed.connections", "must not be set with load.pages: set users")
		required(c, "load.closed.users", l.Users, maxConnections)
	} else {
		c.rejectIf(l.Users != 0, "load.closed.users", "must not be set without load.pages: set connections, or pages to {}")
		required(c, "load.closed.connections", l.Connections, maxConnections)
	}
	within(c, "load.closed.rampSeconds", l.RampSeconds, 0, maxLevelSeconds)
	c.thinkTime("load.closed.thinkTime", l.ThinkTime)
	c.amount("load.closed", l.RequestCount, l.DurationSeconds, concurrent(load))
}

func (c *converter) open(l *v1alpha1.OpenLoad) {
	if l == nil {
		return
	}
	required(c, "load.open.requestsPerSecond", l.RequestsPerSecond, maxPerSecond)
	within(c, "load.open.maxConnections", l.MaxConnections, 1, maxConnections)
	choice(c, "load.open.interArrivalTimes", l.InterArrivalTimes, v1alpha1.InterArrivalConstant, v1alpha1.InterArrivalPoisson)
	if r := l.Ramp; r != nil {
		c.rejectIf(r.From == nil, "load.open.ramp.from", "must be set: it is the rate at the beginning, or 0")
		within(c, "load.open.ramp.from", r.From, 0, maxPerSecond)
		required(c, "load.open.ramp.seconds", r.Seconds, maxLevelSeconds)
		if l.DurationSeconds != nil {
			c.rejectIf(r.Seconds > *l.DurationSeconds,
				"load.open.ramp.seconds", "must be at most durationSeconds, which is %d, not %d", *l.DurationSeconds, r.Seconds)
		}
	}
	c.amount("load.open", l.RequestCount, l.DurationSeconds, 1)
}

func (c *converter) stages(l *v1alpha1.StagesLoad, pages bool) {
	if l == nil {
		return
	}
	if len(l.Levels) < 1 || len(l.Levels) > maxLevels {
		c.reject("load.stages.levels", "must have from 1 to %d levels, not %d", maxLevels, len(l.Levels))
		return
	}
	connections := l.Levels[0].RequestsPerSecond == nil
	for i := range l.Levels {
		field, level := fmt.Sprintf("load.stages.levels[%d]", i), &l.Levels[i]
		c.one(field, member{"connections", level.Connections != nil}, member{"requestsPerSecond", level.RequestsPerSecond != nil}, member{"users", level.Users != nil})
		c.rejectIf(connections == (level.RequestsPerSecond != nil), field, "all levels must have the same of connections, requestsPerSecond and users")
		c.rejectIf(pages && level.Users == nil, field, "must have users with load.pages")
		c.rejectIf(!pages && level.Users != nil, field+".users", "must not be set without load.pages: set connections, or pages to {}")
		within(c, field+".users", level.Users, 1, maxConnections)
		within(c, field+".connections", level.Connections, 1, maxConnections)
		within(c, field+".requestsPerSecond", level.RequestsPerSecond, 1, maxPerSecond)
		within(c, field+".rampSeconds", level.RampSeconds, 0, maxLevelSeconds)
		required(c, field+".holdSeconds", level.HoldSeconds, maxLevelSeconds)
	}
	c.thinkTime("load.stages.thinkTime", l.ThinkTime)
	choice(c, "load.stages.interArrivalTimes", l.InterArrivalTimes, v1alpha1.InterArrivalConstant, v1alpha1.InterArrivalPoisson)
	within(c, "load.stages.maxConnections", l.MaxConnections, 1, maxConnections)
	c.rejectIf(!connections && l.ThinkTime != nil, "load.stages.thinkTime", "is for levels of connections and users: a rate has no think time")
	c.rejectIf(connections && l.InterArrivalTimes != "", "load.stages.interArrivalTimes", "is for levels of requestsPerSecond")
	c.rejectIf(connections && l.MaxConnections != nil, "load.stages.maxConnections", "is for levels of requestsPerSecond")
	c.stopAt(l.StopAt)
}

// stop is a threshold at which a load may end: whether the metric is reached below its bound and not above it, and the
// bound's form.
type stop struct {
	below bool
	form  *regexp.Regexp
	must  string
}

var stops = map[v1alpha1.ThresholdMetric]stop{
	v1alpha1.MetricFailedRequests: {form: regexp.MustCompile(`^[0-9]{1,12}$`), must: "must be a whole number, such as 0"},
	v1alpha1.MetricErrorRate:      {form: regexp.MustCompile(`^[0-9]{1,2}([.][0-9]+)?%$`), must: "must be a percentage above 0% and below 100%, such as 5%"},
	v1alpha1.MetricLatencyP99: {
		form: regexp.MustCompile(`^[0-9]{1,9}([.][0-9]{1,6})?(us|ms|s)$`), must: "must be a duration greater than zero, such as 500ms",
	},
	v1alpha1.MetricThroughputGain: {
		below: true, form: regexp.MustCompile(`^1?[0-9]([.][0-9]+)?%$`), must: "must be a percentage above 0% and below 20%, such as 5%",
	},
}

func (c *converter) stopAt(thresholds []v1alpha1.Threshold) {
	seen := map[v1alpha1.ThresholdMetric]bool{}
	for i, t := range thresholds {
		field := fmt.Sprintf("load.stages.stopAt[%d]", i)
		s, known := stops[t.Metric]
		c.rejectIf(seen[t.Metric], field+".metric", "%s must not be there twice", t.Metric)
		seen[t.Metric] = true
		switch bound, name := t.Above, "above"; {
		case t.Metric == v1alpha1.MetricTargetCPU:
			c.reject(field, "TargetCPU is for runs in a cluster: nothing is known of the target's CPU")
		case !known:
			c.reject(field+".metric", "must be FailedRequests, ErrorRate, LatencyP99 or ThroughputGain, not %q", t.Metric)
		default:
			other := t.Below
			if s.below {
				bound, name, other = t.Below, "below", t.Above
			}
			c.rejectIf(other != "", field, "must have %s alone with %s", name, t.Metric)
			zero := t.Metric != v1alpha1.MetricFailedRequests && !strings.ContainsAny(bound, "123456789")
			c.rejectIf(zero || !s.form.MatchString(bound), field+"."+name, "%s", s.must)
		}
	}
}

func (c *converter) thinkTime(field string, t *v1alpha1.ThinkTime) {
	if t != nil {
		required(c, field+".minMilliseconds", t.MinMilliseconds, maxThinkTime)
		within(c, field+".maxMilliseconds", t.MaxMilliseconds, int64(t.MinMilliseconds), maxThinkTime)
	}
}

func (c *converter) warmup(w *v1alpha1.Warmup, l *v1alpha1.Load) {
	if !c.one("load.warmup", member{"requestCount", w.RequestCount != nil}, member{"durationSeconds", w.DurationSeconds != nil}, member{"steady", w.Steady != nil}) {
		return
	}
	if w.Steady == nil {
		c.amount("load.warmup", w.RequestCount, w.DurationSeconds, concurrent(l))
		return
	}
	within(c, "load.warmup.steady.windowSeconds", w.Steady.WindowSeconds, 1, 60)
	within(c, "load.warmup.steady.windows", w.Steady.Windows, 2, 10)
	within(c, "load.warmup.steady.throughputPercent", w.Steady.ThroughputPercent, 1, 100)
	within(c, "load.warmup.steady.p99Percent", w.Steady.P99Percent, 1, 100)
	within(c, "load.warmup.steady.timeoutSeconds", w.Steady.TimeoutSeconds, 1, maxLevelSeconds)
	criterion := loadplan.Steady(w.Steady)
	least := criterion.Windows * criterion.WindowSeconds
	c.rejectIf(criterion.TimeoutSeconds < least,
		"load.warmup.steady.timeoutSeconds", "must be at least windows times windowSeconds, which is %d, not %d", least, criterion.TimeoutSeconds)
}

// amount checks the length of a load: a duration or a number of requests, at least one for each
// connection.
func (c *converter) amount(field string, requests *int64, seconds *int32, connections int64) {
	if !c.one(field, member{"requestCount", requests != nil}, member{"durationSeconds", seconds != nil}) {
		return
	}
	within(c, field+".durationSeconds", seconds, 1, 604_800)
	if within(c, field+".requestCount", requests, 1, 1_000_000_000_000) && requests != nil {
		c.rejectIf(*requests < connections, field+".requestCount",
			"must be at least %d, the number of connections or streams, so that each makes a request, not %d", connections, *requests)
	}
}

// member is a field of a union.
type member struct {
	name string
	set  bool
}

// one rejects a union unless exactly one of its members is set. It reports whether that is so.
func (c *converter) one(field string, members ...member) bool {
	var names []string
	set := 0
	for _, m := range members {
		names = append(names, m.name)
		if m.set {
			set++
		}
	}
	c.rejectIf(set != 1, field, "exactly one of the fields in %v must be set", names)
	return set == 1
}

// within rejects a number that is set and out of bounds. It reports whether the number is accepted.
func within[N int32 | int64](c *converter, field string, n *N, least, most int64) bool {
	if n == nil || int64(*n) >= least && int64(*n) <= most {
		return true
	}
	c.reject(field, "must be from %d to %d, not %d", least, most, *n)
	return false
}

// required rejects a number that isn't set or isn't from 1 to most.
func required[N int32 | int64](c *converter, field string, n N, most int64) {
	if n == 0 {
		c.reject(field, "must be set to a number from 1 to %d", most)
		return
	}
	within(c, field, &n, 1, most)
}

// choice rejects a value that isn't one of values. It returns the value, or the default, which is
// the first of values, if none is set.
func choice[S ~string](c *converter, field string, value S, values ...S) S {
	if value == "" {
		return values[0]
	}
	c.rejectIf(!slices.Contains(values, value), field, "must be one of %v, not %q", values, value)
	return value
}
