package k6metric

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Threshold is a bound that a script sets on a metric.
type Threshold struct {
	// Metric is the metric's name with its tags, Source the expression, as in the script.
	Metric string `json:"metric"`
	Source string `json:"source"`
	// Aborted reports whether a client without a manager ended its load because of it: the client's own
	// values crossed it, and the script sets abortOnFail.
	Aborted bool `json:"aborted,omitempty"`
	// AbortOnFail reports whether the load ends when the threshold is crossed. Delay is k6's delayAbortEval: the time
	// from the start of the load until then, in microseconds.
	AbortOnFail bool  `json:"abortOnFail,omitempty"`
	Delay       int64 `json:"delayMicroseconds,omitempty"`
}

// expression is a threshold's expression; see
// https://grafana.com/docs/k6/latest/using-k6/thresholds/#threshold-syntax.
type expression struct {
	aggregation string
	percentile  float64 // for the aggregation p
	operator    string
	bound       float64
}

// syntax is that of an expression: "p(99.9) < 500", "rate>=0.5".
var syntax = regexp.MustCompile(`^\s*(count|rate|value|avg|min|max|med|p\(([^()]+)\))\s*(===|==|!=|<=|>=|<|>)\s*(\S+)\s*$`)

// aggregations holds the aggregations of each kind of metric.
var aggregations = map[Kind][]string{
	Counter: {"count", "rate"}, Gauge: {"value"}, Rate: {"rate"}, Trend: {"avg", "min", "max", "med", "p"},
}

func parse(source string) (*expression, error) {
	parts := syntax.FindStringSubmatch(source)
	if parts == nil {
		return nil, fmt.Errorf("threshold %q must be of the form AGGREGATION OPERATOR NUMBER, such as p(95)<200", source)
	}
	e := &expression{aggregation: parts[1], operator: parts[3]}
	var err error
	if e.bound, err = strconv.ParseFloat(parts[4], 64); err != nil {
		return nil, fmt.Errorf("threshold %q: %q is not a number", source, parts[4])
	}
	if strings.HasPrefix(e.aggregation, "p(") {
		e.aggregation = "p"
		if e.percentile, err = strconv.ParseFloat(strings.TrimSpace(parts[2]), 64); err != nil || !(e.percentile >= 0 && e.percentile <= 100) {
			return nil, fmt.Errorf("threshold %q: %q is not a percentile from 0 to 100", source, parts[2])
		}
	}
	return e, nil
}

// Check returns an error for an invalid threshold.
func (t *Threshold) Check() error {
	if t.Metric == "" || len(t.Metric) > maxName || len(t.Source) > maxName || t.Delay < 0 {
		return fmt.Errorf("threshold: %q on %q", t.Source, t.Metric)
	}
	_, err := parse(t.Source)
	return err
}

// kind returns the kind of metric that the expression is for: a rate, if a counter has that aggregation as well.
func (t *Threshold) kind() Kind {
	e, err := parse(t.Source)
	if err != nil {
		return Trend
	}
	for _, kind := range []Kind{Rate, Counter, Gauge} {
		if slices.Contains(aggregations[kind], e.aggregation) {
			return kind
		}
	}
	return Trend
}

// Outcome is the outcome of a threshold.
type Outcome struct {
	// Actual is the number that was compared.
	Actual string
	Met    bool
}

// Evaluate compares the threshold with a metric after the script has run for the
// given time. The metric is nil if it has no values. As in k6, all values of a trend
// without values are 0, and a rate without values crosses no threshold. Evaluate
// returns an error if the expression does not fit the kind of metric.
func (t *Threshold) Evaluate(m *Metric, elapsed time.Duration) (Outcome, error) {
	e, err := parse(t.Source)
	if err != nil {
		return Outcome{}, err
	}
	if m == nil || m.Samples == 0 {
		return Outcome{Actual: "no samples", Met: e.metByNothing(m)}, nil
	}
	value, err := e.of(m, elapsed)
	if err != nil {
		return Outcome{}, fmt.Errorf("threshold %q on %s: %w", t.Source, t.Metric, err)
	}
	actual := strconv.FormatFloat(value, 'g', 6, 64)
	if m.Unit != None && e.aggregation != "rate" {
		actual += " " + string(m.Unit)
	}
	return Outcome{Actual: actual, Met: e.holds(value)}, nil
}

// metByNothing reports whether a metric without values meets the threshold, as k6
// decides it: rates are ignored, everything else is 0.
func (e *expression) metByNothing(m *Metric) bool {
	if e.aggregation == "rate" && (m == nil || m.Kind == Rate) {
		return true
	}
	return e.holds(0)
}

// Crossed returns the first threshold with abortOnFail that the merged metrics of all clients cross after the load has
// run for the given time, and its outcome. It returns nil if there is none. As in k6, a metric without samples crosses
// none.
func Crossed(thresholds []Threshold, merged []Metric, elapsed time.Duration) (*Threshold, Outcome) {
	for i := range thresholds {
		t := &thresholds[i]
		if !t.AbortOnFail || elapsed < time.Duration(t.Delay)*time.Microsecond {
			continue
		}
		m := Find(merged, t.Metric)
		if m == nil || m.Samples == 0 {
			continue
		}
		if outcome, err := t.Evaluate(m, elapsed); err == nil && !outcome.Met {
			return t, outcome
		}
	}
	return nil, Outcome{}
}

func (e *expression) of(m *Metric, elapsed time.Duration) (float64, error) {
	switch {
	case e.aggregation == "count" && m.Kind == Counter:
		return m.Sum, nil
	case e.aggregation == "rate" && m.Kind == Counter:
		if elapsed <= 0 {
			return 0, nil
		}
		return m.Sum / elapsed.Seconds(), nil
	case e.aggregation == "rate" && m.Kind == Rate, e.aggregation == "avg" && m.Kind == Trend:
		return m.Sum / float64(m.Samples), nil
	case e.aggregation == "value" && m.Kind == Gauge:
		return m.Last, nil
	case m.Kind == Trend:
		switch e.aggregation {
		case "min":
			return m.Min, nil
		case "max":
			return m.Max, nil
		case "med":
			return m.percentile(50), nil
		case "p":
			return m.percentile(e.percentile), nil
		}
	}
	return 0, fmt.Errorf("a %s has %s, not %s", m.Kind, strings.Join(aggregations[m.Kind], ", "), e.aggregation)
}

func (e *expression) holds(value float64) bool { return operators[e.operator](value, e.bound) }

// operators holds the comparisons of a value with a bound.
var operators = map[string]func(value, bound float64) bool{
	"<":   func(value, bound float64) bool { return value < bound },
	"<=":  func(value, bound float64) bool { return value <= bound },
	">":   func(value, bound float64) bool { return value > bound },
	">=":  func(value, bound float64) bool { return value >= bound },
	"==":  func(value, bound float64) bool { return value == bound },
	"===": func(value, bound float64) bool { return value == bound },
	"!=":  func(value, bound float64) bool { return value != bound },
}
