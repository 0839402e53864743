package script

import (
	"maps"
	"slices"
	"strings"
	"time"

	"go.k6.io/k6/v2/metrics"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/session"
)

// registry aggregates the samples of k6's metrics and evaluates thresholds.
type registry struct {
	known      map[*metrics.Metric]*metric
	recorded   []*metric               // the known metrics that have values, in order of their first samples
	defined    int                     // how many of those the script itself defines
	dropped    int64                   // metrics without values because there are too many
	submetrics map[string][]*submetric // by the name of the metric
	thresholds []k6metric.Threshold
	checks     map[checkKey]*k6metric.Check
	order      []*k6metric.Check // the checks in the order of their first samples
	unchecked  int64             // samples of checks that are not kept because there are too many
}

// checkKey identifies a check.
type checkKey struct{ group, name string }

// metric is one of k6's metrics. Its values are nil if it isn't recorded, but its
// submetrics may be.
type metric struct {
	values     *k6metric.Metric
	submetrics []*submetric
}

// submetric is the part of a metric's samples that has the given tags. Thresholds
// such as http_req_duration{name:cart} refer to it.
type submetric struct {
	tags   map[string]string
	values *k6metric.Metric
}

func newRegistry(thresholds map[string]metrics.Thresholds) *registry {
	r := &registry{known: map[*metrics.Metric]*metric{}, submetrics: map[string][]*submetric{}, checks: map[checkKey]*k6metric.Check{}}
	for _, name := range slices.Sorted(maps.Keys(thresholds)) {
		for _, t := range thresholds[name].Thresholds {
			if len(r.thresholds) == k6metric.MaxThresholds {
				break
			}
			r.thresholds = append(r.thresholds, k6metric.Threshold{
				Metric: name, Source: t.Source, AbortOnFail: t.AbortOnFail, Delay: max(t.AbortGracePeriod.TimeDuration().Microseconds(), 0),
			})
		}
		r.addSubmetric(name)
	}
	return r
}

// addSubmetric adds the submetric that a threshold's metric name refers to, if it has tags.
func (r *registry) addSubmetric(name string) {
	base, conditions, err := metrics.ParseMetricName(name)
	if err != nil || len(conditions) == 0 { // k6 has checked the name
		return
	}
	m := &submetric{tags: map[string]string{}, values: &k6metric.Metric{Name: name}}
	for _, condition := range conditions {
		key, value, _ := strings.Cut(condition, ":")
		m.tags[unquote(key)] = unquote(value)
	}
	r.submetrics[base] = append(r.submetrics[base], m)
}

// unquote removes spaces and quotes around a tag's key or value, as k6 does.
func unquote(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

// add adds a sample to its metric and to the submetrics that it belongs to.
func (r *registry) add(s *metrics.Sample) {
	m, known := r.known[s.Metric]
	if !known {
		m = r.register(s.Metric)
	}
	at := s.Time.UnixMicro()
	if m.values != nil {
		m.values.Add(s.Value, at)
	}
	for _, sub := range m.submetrics {
		if sub.matches(s.Tags) {
			sub.values.Add(s.Value, at)
		}
	}
	if s.Metric.Name == metrics.ChecksName {
		r.addCheck(s)
	}
}

// addCheck adds a sample of the metric checks to the check that its tags name.
func (r *registry) addCheck(s *metrics.Sample) {
	name, named := s.Tags.Get(metrics.TagCheck.String())
	if !named {
		return // the script has disabled the tag
	}
	group, _ := s.Tags.Get(metrics.TagGroup.String())
	key := checkKey{cut(group), cut(name)}
	c := r.checks[key]
	switch {
	case c == nil && len(r.order) == k6metric.MaxChecks:
		r.unchecked++
		return
	case c == nil:
		c = &k6metric.Check{Group: key.group, Name: key.name}
		r.checks[key] = c
		r.order = append(r.order, c)
	}
	if s.Value != 0 {
		c.Passes++
	} else {
		c.Fails++
	}
}

// cut returns the beginning of a check's name or group that is kept.
func cut(text string) string {
	if len(text) > k6metric.MaxCheckName {
		text = text[:k6metric.MaxCheckName]
	}
	return strings.ToValidUTF8(text, "")
}

// matches reports whether a sample with these tags belongs to the submetric.
func (m *submetric) matches(tags *metrics.TagSet) bool {
	for key, value := range m.tags {
		if got, _ := tags.Get(key); got != value {
			return false
		}
	}
	return true
}

// unmergeable lists gauges of the current state. Their values can't be merged over clients.
var unmergeable = []string{metrics.VUsName, metrics.VUsMaxName}

// ofK6 are the names of the metrics that k6 itself defines.
var ofK6 = func() []string {
	all := metrics.NewRegistry()
	metrics.RegisterBuiltinMetrics(all)
	var names []string
	for _, m := range all.All() {
		names = append(names, m.Name)
	}
	return names
}()

// register adds a metric. The metric is recorded if a threshold refers to it;
// otherwise only if it can be merged and is k6's own or one of the first that the script defines.
func (r *registry) register(k *metrics.Metric) *metric {
	kind, unit := kindOf(k)
	m := &metric{submetrics: r.submetrics[k.Name]}
	for _, sub := range m.submetrics {
		sub.values.Kind, sub.values.Unit = kind, unit
	}
	r.known[k] = m
	own := !slices.Contains(ofK6, k.Name)
	switch required := r.hasThreshold(k.Name); {
	case slices.Contains(unmergeable, k.Name) && !required:
	case own && r.defined >= k6metric.MaxScriptMetrics && !required:
		r.dropped++
	default:
		if own && !required {
			r.defined++
		}
		m.values = k6metric.New(k.Name, kind, unit)
		r.recorded = append(r.recorded, m)
	}
	return m
}

// hasThreshold reports whether a threshold refers to the metric as a whole.
func (r *registry) hasThreshold(name string) bool {
	return slices.ContainsFunc(r.thresholds, func(t k6metric.Threshold) bool { return t.Metric == name })
}

// kindOf returns the kind and the unit of one of k6's metrics.
func kindOf(k *metrics.Metric) (k6metric.Kind, k6metric.Unit) {
	kind := map[metrics.MetricType]k6metric.Kind{
		metrics.Counter: k6metric.Counter, metrics.Gauge: k6metric.Gauge, metrics.Rate: k6metric.Rate, metrics.Trend: k6metric.Trend,
	}[k.Type]
	unit := map[metrics.ValueType]k6metric.Unit{metrics.Time: k6metric.Milliseconds, metrics.Data: k6metric.Bytes}[k.Contains]
	return kind, unit
}

// crossed evaluates the thresholds with abortOnFail after the load has run for
// elapsed. It marks the first one that is crossed as aborted and returns the name of its
// metric, or returns an empty string if none is crossed.
func (r *registry) crossed(elapsed time.Duration) string {
	t, _ := k6metric.Crossed(r.thresholds, r.all(), elapsed)
	if t == nil {
		return ""
	}
	t.Aborted = true
	return t.Metric
}

// live returns the metrics so far. If thresholds with abortOnFail are evaluated over all clients, they are included. Those that thresholds with abortOnFail refer to come first and are exact; the
// distributions of the others are coarse.
func (r *registry) live(elapsed time.Duration, merged bool) *session.ScriptMetrics {
	s := &session.ScriptMetrics{Elapsed: elapsed.Microseconds(), Omitted: r.dropped}
	for _, t := range r.thresholds {
		if t.AbortOnFail && merged {
			s.Thresholds = append(s.Thresholds, t)
		}
	}
	var others []k6metric.Metric
	for _, m := range r.all() {
		if slices.ContainsFunc(s.Thresholds, func(t k6metric.Threshold) bool { return t.Metric == m.Name }) {
			s.Metrics = append(s.Metrics, m)
		} else {
			others = append(others, m.Coarse())
		}
	}
	s.Metrics = append(s.Metrics, others...)
	return s
}

// all returns the recorded metrics in the order of their first samples, followed
// by the submetrics that have samples.
func (r *registry) all() []k6metric.Metric {
	var all []k6metric.Metric
	for _, m := range r.recorded {
		all = append(all, *m.values)
	}
	for _, base := range slices.Sorted(maps.Keys(r.submetrics)) {
		for _, sub := range r.submetrics[base] {
			if sub.values.Kind != "" {
				all = append(all, *sub.values)
			}
		}
	}
	return all
}
