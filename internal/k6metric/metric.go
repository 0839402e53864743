// Package k6metric is k6's metrics as a run keeps them: each client's in
// constant memory, merged over the clients without averaging anything, and k6's
// threshold expressions evaluated on what was merged. It knows neither k6 nor
// the session.
package k6metric

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/percentile"
)

// Kind is a kind of metric, as k6 has them.
type Kind string

// The kinds.
const (
	// Counter adds its values up.
	Counter Kind = "counter"
	// Gauge keeps its last value.
	Gauge Kind = "gauge"
	// Rate is the share of its values that aren't zero.
	Rate Kind = "rate"
	// Trend is a distribution of its values.
	Trend Kind = "trend"
)

// Unit is what the values of a metric are of.
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
	// MostMetrics bounds the metrics of a script that are kept, k6's own included,
	// those that thresholds single out by tags not.
	MostMetrics = 100
	// MostThresholds bounds a script's thresholds.
	MostThresholds = 100
	// mostName bounds the length of names and expressions, in bytes.
	mostName = 512
)

// Metric is what was counted of one metric.
type Metric struct {
	// Name is the metric's, with the tags that single out a part of it:
	// "http_req_duration{status:200}".
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Unit Unit   `json:"unit,omitempty"`
	// Samples is the number of values.
	Samples int64 `json:"samples"`
	// Sum is the sum of the values; of a rate, how many weren't zero.
	Sum float64 `json:"sum"`
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// Last is the value that came last, of all clients, and LastAt when that was, in microseconds
	// since the Unix epoch.
	Last   float64 `json:"last"`
	LastAt int64   `json:"lastAtMicroseconds"`
	// Values is where the values of a trend lie; nil of others, and without values.
	Values *distribution `json:"values,omitempty"`
}

// New returns a metric without values.
func New(name string, kind Kind, unit Unit) *Metric {
	return &Metric{Name: name, Kind: kind, Unit: unit}
}

// Add adds a value that came at an instant, in microseconds since the Unix
// epoch. What is no finite number is left out.
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
	m.Sum += value
}

// merge adds the values of another client's metric of the same name.
func (m *Metric) merge(other *Metric) error {
	if m.Kind != other.Kind {
		return fmt.Errorf("metric %s is a %s of one client and a %s of another", m.Name, m.Kind, other.Kind)
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
	m.Sum += other.Sum
	m.Min, m.Max = min(m.Min, other.Min), max(m.Max, other.Max)
	if m.Kind != Trend {
		return nil
	}
	if m.Values == nil {
		m.Values = newDistribution()
	}
	return m.Values.merge(other.Values)
}

// Check returns an error that says what no metric of a client can be.
func (m *Metric) Check() error {
	switch m.Kind {
	case Counter, Gauge, Rate, Trend:
	default:
		return fmt.Errorf("metric: kind %q", m.Kind)
	}
	if m.Name == "" || len(m.Name) > mostName || m.Samples < 0 {
		return fmt.Errorf("metric: %d samples of %q", m.Samples, m.Name)
	}
	if m.Kind == Trend && m.Samples > 0 && (m.Values == nil || m.Values.count() != m.Samples) {
		return fmt.Errorf("metric %s: the distribution isn't of its %d samples", m.Name, m.Samples)
	}
	return nil
}

// Merge merges the metrics of all clients, those of a name into one. The
// clients' own aren't changed. They are in the order in which they first occur.
// What is of another kind than with the clients before is left out and counted.
func Merge(clients ...[]Metric) (merged []Metric, leftOut int64) {
	index := map[string]int{}
	for _, metrics := range clients {
		for i := range metrics {
			m := &metrics[i]
			at, known := index[m.Name]
			if !known {
				at = len(merged)
				index[m.Name] = at
				merged = append(merged, *New(m.Name, m.Kind, m.Unit))
			}
			if err := merged[at].merge(m); err != nil {
				leftOut++
			}
		}
	}
	return merged, leftOut
}

// Summary is the figures of a metric over all clients: what is left of it when
// nothing is to be merged any more.
type Summary struct {
	Name    string `json:"name"`
	Kind    Kind   `json:"kind"`
	Unit    Unit   `json:"unit,omitempty"`
	Samples int64  `json:"samples"`
	// Sum is a counter's value; of a rate, how many values weren't zero.
	Sum float64 `json:"sum"`
	// Last is a gauge's value.
	Last float64 `json:"last"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Percentiles are those of a trend that percentile.Common yields, to within 0.1%.
	Percentiles []float64 `json:"percentiles,omitempty"`
}

// Summarize returns the metric's figures.
func (m *Metric) Summarize() Summary {
	s := Summary{Name: m.Name, Kind: m.Kind, Unit: m.Unit, Samples: m.Samples, Sum: m.Sum, Last: m.Last, Min: m.Min, Max: m.Max}
	if m.Values != nil {
		for p := range percentile.Common() {
			s.Percentiles = append(s.Percentiles, m.percentile(p.Percent()))
		}
	}
	return s
}

// percentile is the value that p percent of a trend's values don't exceed.
func (m *Metric) percentile(p float64) float64 {
	if m.Values == nil {
		return 0
	}
	return min(max(m.Values.percentile(p), m.Min), m.Max)
}

// Mean is the mean of the values; of a rate, the rate. It is 0 without values.
func (s *Summary) Mean() float64 {
	if s.Samples == 0 {
		return 0
	}
	return s.Sum / float64(s.Samples)
}
