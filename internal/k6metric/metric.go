// Package k6metric keeps k6's metrics: it collects those of each client in constant memory, merges
// them over the clients without averaging, and evaluates k6's threshold expressions on merged
// metrics. It is independent of k6 and of the session protocol.
package k6metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
)

// Kind is one of k6's kinds of metrics.
type Kind string

// The kinds.
const (
	// Counter adds its values up.
	Counter Kind = "counter"
	// Gauge keeps its last value.
	Gauge Kind = "gauge"
	// Rate is the share of its values that are not zero.
	Rate Kind = "rate"
	// Trend is a distribution of its values.
	Trend Kind = "trend"
)

// Unit is the unit of a metric's values.
type Unit string

// The units.
const (
	// None is for plain numbers.
	None Unit = ""
	// Milliseconds is for times.
	Milliseconds Unit = "ms"
	// Bytes is for amounts of data.
	Bytes Unit = "bytes"
)

const (
	// MaxScriptMetrics bounds the metrics that are kept of those that a script itself defines.
	MaxScriptMetrics = 100
	// MaxMetrics bounds the metrics that are kept. It includes k6's own, of which there are fewer than 30,
	// but not the submetrics of thresholds.
	MaxMetrics = MaxScriptMetrics + 30
	// MaxThresholds bounds a script's thresholds.
	MaxThresholds = 100
	// maxName bounds the length of names and expressions, in bytes.
	maxName = 512
	// maxSamples bounds the values of a client's metric, so that sums over clients can't overflow.
	maxSamples = 1 << 40
)

// Metric holds the values of one metric.
type Metric struct {
	// Name is the name of the metric, with the tags of a submetric:
	// "http_req_duration{status:200}".
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Unit Unit   `json:"unit,omitempty"`
	// Samples is the number of values.
	Samples int64 `json:"samples"`
	// Sum is the sum of the values; for a rate, the number of values that were not zero.
	Sum float64 `json:"sum"`
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// Last is the latest value of all clients. LastAt is its time in microseconds since
	// the Unix epoch.
	Last   float64 `json:"last"`
	LastAt int64   `json:"lastAtMicroseconds"`
	// Values is the distribution of a trend; nil for others, and without values.
	Values *distribution `json:"values,omitempty"`
}

// New returns a metric without values.
func New(name string, kind Kind, unit Unit) *Metric {
	return &Metric{Name: name, Kind: kind, Unit: unit}
}

// Add adds a value with its time in microseconds since the Unix epoch. It ignores
// values that are not finite numbers.
func (m *Metric) Add(value float64, at int64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if m.Kind == Trend {
		if m.Values == nil {
			m.Values = newDistribution()
		}
		if !m.Values.add(value) {
			return
		}
	}
	if m.Samples == 0 {
		m.Min, m.Max = value, value
	}
	m.Samples++
	m.Min, m.Max = min(m.Min, value), max(m.Max, value)
	m.Last, m.LastAt = value, at
	if m.Kind == Rate && value != 0 {
		value = 1
	}
	m.Sum = finite(m.Sum + value)
}

// finite returns a sum that JSON can express: the largest number in place of an infinite one.
func finite(sum float64) float64 {
	return min(max(sum, -math.MaxFloat64), math.MaxFloat64)
}

// Coarse returns the metric with a distribution of a tenth of the size and the accuracy.
func (m *Metric) Coarse() Metric {
	c := *m
	if m.Values != nil {
		c.Values = m.Values.coarse()
	}
	return c
}

// merge adds the values of another client's metric with the same name.
func (m *Metric) merge(other *Metric) error {
	if m.Kind != other.Kind {
		return fmt.Errorf("metric %s is a %s in one client and a %s in another", m.Name, m.Kind, other.Kind)
	}
	if other.Samples == 0 {
		return nil
	}
	if m.Samples == 0 {
		m.Min, m.Max = other.Min, other.Max
	}
	if other.LastAt >= m.LastAt {
		m.Last, m.LastAt = other.Last, other.LastAt
	}
	m.Samples += other.Samples
	m.Sum = finite(m.Sum + other.Sum)
	m.Min, m.Max = min(m.Min, other.Min), max(m.Max, other.Max)
	if m.Kind != Trend {
		return nil
	}
	if m.Values == nil {
		m.Values = newDistribution()
	}
	return m.Values.merge(other.Values)
}

// Check returns an error for values that no metric can have.
func (m *Metric) Check() error {
	switch m.Kind {
	case Counter, Gauge, Rate, Trend:
	default:
		return fmt.Errorf("metric: kind %q", m.Kind)
	}
	if m.Name == "" || len(m.Name) > maxName || m.Samples < 0 || m.Samples > maxSamples {
		return fmt.Errorf("metric: %d samples of %.*q", m.Samples, maxName, m.Name)
	}
	if m.Unit != None && m.Unit != Milliseconds && m.Unit != Bytes {
		return fmt.Errorf("metric %s: unit %.16q", m.Name, m.Unit)
	}
	for _, number := range []float64{m.Sum, m.Min, m.Max, m.Last} {
		if math.IsNaN(number) || math.IsInf(number, 0) { // JSON has neither
			return fmt.Errorf("metric %s: number %g", m.Name, number)
		}
	}
	if m.Kind == Trend && m.Samples > 0 && (m.Values == nil || m.Values.count() != m.Samples) {
		return fmt.Errorf("metric %s: its distribution does not have its %d samples", m.Name, m.Samples)
	}
	return nil
}

// Find returns the metric with a name, or nil.
func Find(metrics []Metric, name string) *Metric {
	if at := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name }); at >= 0 {
		return &metrics[at]
	}
	return nil
}

// Merge merges the metrics of all clients by name, in the order of their first
// occurrence. The clients' own metrics are not changed. It omits and counts metrics
// of another kind than in earlier clients, and those of further names than one client may have.
func Merge(clients ...[]Metric) (merged []Metric, omitted int64) {
	index := map[string]int{}
	for _, metrics := range clients {
		for i := range metrics {
			m := &metrics[i]
			at, known := index[m.Name]
			if !known && len(merged) == MaxMetrics+MaxThresholds {
				omitted++
				continue
			}
			if !known {
				at = len(merged)
				index[m.Name] = at
				merged = append(merged, *New(m.Name, m.Kind, m.Unit))
			}
			if err := merged[at].merge(m); err != nil {
				omitted++
			}
		}
	}
	return merged, omitted
}

// Summary holds the values of a metric over all clients, without what is only
// needed to merge them.
type Summary struct {
	Name    string `json:"name"`
	Kind    Kind   `json:"kind"`
	Unit    Unit   `json:"unit,omitempty"`
	Samples int64  `json:"samples"`
	// Sum is a counter's value; for a rate, the number of values that were not zero.
	Sum float64 `json:"sum"`
	// Last is a gauge's value.
	Last float64 `json:"last"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Percentiles are those of percentile.Common, for a trend, to within 0.1%.
	Percentiles []float64 `json:"percentiles,omitempty"`
}

// Summarize returns the metric's values.
func (m *Metric) Summarize() Summary {
	s := Summary{Name: m.Name, Kind: m.Kind, Unit: m.Unit, Samples: m.Samples, Sum: m.Sum, Last: m.Last, Min: m.Min, Max: m.Max}
	if m.Values != nil {
		for _, p := range percentile.Common {
			s.Percentiles = append(s.Percentiles, m.percentile(p.Percent()))
		}
	}
	return s
}

// percentile returns the p-th percentile of a trend as k6 defines it, to within 0.1%.
func (m *Metric) percentile(p float64) float64 {
	if m.Values == nil {
		return 0
	}
	return min(max(m.Values.percentile(p), m.Min), m.Max)
}

// Mean returns the mean of the values; for a rate, the rate. It is 0 without values.
func (s *Summary) Mean() float64 {
	if s.Samples == 0 {
		return 0
	}
	return s.Sum / float64(s.Samples)
}

// Values returns the values that the metric's kind has, with its unit, as text.
func (s *Summary) Values() string {
	value := func(v float64) string {
		text := strconv.FormatFloat(v, 'g', 6, 64)
		if s.Unit != None {
			text += " " + string(s.Unit)
		}
		return text
	}
	switch s.Kind {
	case Counter:
		return value(s.Sum)
	case Gauge:
		return fmt.Sprintf("%s (min %s, max %s)", value(s.Last), value(s.Min), value(s.Max))
	case Rate:
		return fmt.Sprintf("%.2f%% (%.0f of %d)", 100*s.Mean(), s.Sum, s.Samples)
	}
	parts := []string{"avg " + value(s.Mean()), "min " + value(s.Min)}
	for i, v := range s.Percentiles[:min(len(s.Percentiles), len(percentile.Common))] { // what is read may have more or fewer
		parts = append(parts, fmt.Sprintf("p%s %s", percentile.Common[i], value(v)))
	}
	return strings.Join(append(parts, "max "+value(s.Max)), ", ")
}
