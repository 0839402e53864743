package script

import (
	"maps"
	"slices"
	"strings"
	"time"

	"go.k6.io/k6/v2/metrics"

	"github.com/assay-dev/assay/internal/k6metric"
)

// registry keeps k6's metrics, and its thresholds.
type registry struct {
	kept       map[*metrics.Metric]*metric
	order      []*metric
	leftOut    int64
	parts      map[string][]*part // of metrics, by the whole's name
	thresholds []*threshold
}

// metric is one of k6's metrics; it has no whole where there were too many.
type metric struct {
	whole *k6metric.Metric
	parts []*part
}

// part is what of a metric's samples has some tags.
type part struct {
	tags  map[string]string
	whole *k6metric.Metric
}

// threshold is a threshold with what k6 knows of it.
type threshold struct {
	k6metric.Threshold
	abortOnFail bool
	delay       time.Duration // before it may break the test off
}

func newRegistry(thresholds map[string]metrics.Thresholds) *registry {
	r := &registry{kept: map[*metrics.Metric]*metric{}, parts: map[string][]*part{}}
	for _, name := range slices.Sorted(maps.Keys(thresholds)) {
		for _, t := range thresholds[name].Thresholds {
			if len(r.thresholds) == k6metric.MostThresholds {
				break
			}
			r.thresholds = append(r.thresholds, &threshold{
				Threshold:   k6metric.Threshold{Metric: name, Source: t.Source},
				abortOnFail: t.AbortOnFail, delay: t.AbortGracePeriod.TimeDuration(),
			})
		}
		r.addPart(name)
	}
	return r
}

// addPart keeps apart what a threshold singles out by tags.
func (r *registry) addPart(name string) {
	base, conditions, err := metrics.ParseMetricName(name)
	if err != nil || len(conditions) == 0 { // k6 has checked the name
		return
	}
	p := &part{tags: map[string]string{}, whole: &k6metric.Metric{Name: name}}
	for _, condition := range conditions {
		key, value, _ := strings.Cut(condition, ":")
		p.tags[unquote(key)] = unquote(value)
	}
	r.parts[base] = append(r.parts[base], p)
}

// unquote takes a tag's key or value as k6 does.
func unquote(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

// add adds a sample to its metric.
func (r *registry) add(s *metrics.Sample) {
	m, known := r.kept[s.Metric]
	if !known {
		m = r.keep(s.Metric)
	}
	at := s.Time.UnixMicro()
	if m.whole != nil {
		m.whole.Add(s.Value, at)
	}
	for _, p := range m.parts {
		if p.has(s.Tags) {
			p.whole.Add(s.Value, at)
		}
	}
}

func (p *part) has(tags *metrics.TagSet) bool {
	for key, value := range p.tags {
		if got, _ := tags.Get(key); got != value {
			return false
		}
	}
	return true
}

// current are metrics of the present, which add up to nothing over clients.
var current = []string{metrics.VUsName, metrics.VUsMaxName}

// keep takes a metric up.
func (r *registry) keep(k *metrics.Metric) *metric {
	kind, unit := kindOf(k)
	m := &metric{parts: r.parts[k.Name]}
	for _, p := range m.parts {
		p.whole.Kind, p.whole.Unit = kind, unit
	}
	r.kept[k] = m
	bounded := len(r.order) >= k6metric.MostMetrics && !r.bounds(k.Name)
	switch {
	case slices.Contains(current, k.Name) && !r.bounds(k.Name):
	case bounded:
		r.leftOut++
	default:
		m.whole = k6metric.New(k.Name, kind, unit)
		r.order = append(r.order, m)
	}
	return m
}

// bounds is whether a threshold is on a whole metric.
func (r *registry) bounds(name string) bool {
	return slices.ContainsFunc(r.thresholds, func(t *threshold) bool { return t.Metric == name })
}

func kindOf(k *metrics.Metric) (k6metric.Kind, k6metric.Unit) {
	kind := map[metrics.MetricType]k6metric.Kind{
		metrics.Counter: k6metric.Counter, metrics.Gauge: k6metric.Gauge, metrics.Rate: k6metric.Rate, metrics.Trend: k6metric.Trend,
	}[k.Type]
	unit := map[metrics.ValueType]k6metric.Unit{metrics.Time: k6metric.Milliseconds, metrics.Data: k6metric.Bytes}[k.Contains]
	return kind, unit
}

// crossed names a threshold with abortOnFail that is crossed after the load has
// lasted for a time, and remembers it; empty for none.
func (r *registry) crossed(elapsed time.Duration) string {
	for _, t := range r.thresholds {
		if !t.abortOnFail || t.Aborted || elapsed < t.delay {
			continue
		}
		m := r.find(t.Metric)
		if m == nil || m.Samples == 0 { // as with k6, it isn't looked at yet
			continue
		}
		if outcome, err := t.Evaluate(m, elapsed); err == nil && !outcome.Met {
			t.Aborted = true
			return t.Source + " on " + t.Metric
		}
	}
	return ""
}

func (r *registry) find(name string) *k6metric.Metric {
	for _, m := range r.all() {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// all are the metrics in the order of their first samples, each with its parts
// behind it.
func (r *registry) all() []*k6metric.Metric {
	var all []*k6metric.Metric
	for _, m := range r.order {
		all = append(all, m.whole)
	}
	for _, base := range slices.Sorted(maps.Keys(r.parts)) {
		for _, p := range r.parts[base] {
			if p.whole.Kind != "" {
				all = append(all, p.whole)
			}
		}
	}
	return all
}
