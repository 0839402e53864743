package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Unit is the unit of a metric.
type Unit string

// The units. Number is for counts, Bytes for amounts of data, Memory for bytes of memory.
const (
	Number       Unit = ""
	Bytes        Unit = "bytes"
	Memory       Unit = "memory"
	Microseconds Unit = "microseconds"
)

// How a metric of several clients, containers or spans of time becomes one. Sum is for metrics that
// only grow, so that the value of a span of time is the difference between its end and its start.
const (
	Sum  = "sum"
	Max  = "max"
	Min  = "min"
	Last = "last"
)

const (
	// Unknown is the value of an optional metric that could not be read.
	Unknown = -1
	// maxMetric bounds every metric that comes from elsewhere, so that differences
	// and sums of thousands of them cannot overflow.
	maxMetric = 1 << 52
)

// Metric is one integer among the metrics T: a line of a Table. A field of T
// with the tag help is one.
type Metric[T any] struct {
	// Name is the metric's name in JSON. The tag unit sets its Unit, unless the name
	// ends with Microseconds. The tag merging sets Merging to Max, Min or Last.
	Name    string
	Unit    Unit
	Merging string
	// Optional reports whether the value may be Unknown. PodWide reports whether it is
	// that of the whole pod, and therefore recorded with its server alone.
	Optional, PodWide bool
	// Label names the metric's line in text reports. Metrics with the same label share a
	// line, in which Part says what each is. Reports omit metrics without a label, or
	// have code of their own for them.
	Label, Part string
	// Column is the heading of the metric's column in text tables, CSV that in tables as
	// CSV; empty for no column.
	Column, CSV string
	// Help says what the value is.
	Help string

	field int
}

// Of returns the metric's field.
func (f *Metric[T]) Of(metrics *T) *int64 {
	return reflect.ValueOf(metrics).Elem().Field(f.field).Addr().Interface().(*int64)
}

// Table has a line for each of the metrics T. Conversion, merging, checks and reports loop over it,
// so that a new metric is one line: a field with its tags. A metric's place is its number in
// messages: a change is one of the session's protocol.
type Table[T any] []Metric[T]

func tableOf[T any]() Table[T] {
	var table Table[T]
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		tag := field.Tag
		if tag.Get("help") == "" {
			continue
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		unit := Unit(tag.Get("unit"))
		if strings.HasSuffix(name, "Microseconds") {
			unit = Microseconds
		}
		table = append(table, Metric[T]{
			Name: name, Unit: unit, Merging: cmp.Or(tag.Get("merging"), Sum), Optional: tag.Get("optional") != "", PodWide: tag.Get("pod") != "",
			Label: tag.Get("label"), Part: tag.Get("part"), Column: tag.Get("column"), CSV: tag.Get("csv"), Help: tag.Get("help"), field: field.Index[0],
		})
	}
	return table
}

// Joined returns the value for two spans of time, or of two clients or containers, given that of each.
func (f *Metric[T]) Joined(earlier, later int64) int64 {
	switch {
	case f.Optional && (earlier == Unknown || later == Unknown):
		return Unknown
	case f.Merging == Sum:
		return Plus(earlier, later)
	case f.Merging == Max:
		return max(earlier, later)
	case f.Merging == Min:
		return min(earlier, later)
	}
	return later
}

// Merge merges other metrics into these.
func (t Table[T]) Merge(into, other *T) {
	for i := range t {
		value := t[i].Of(into)
		*value = t[i].Joined(*value, *t[i].Of(other))
	}
}

// Plus returns the sum of two metrics. If it doesn't fit, Plus returns the largest number.
func Plus(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Since turns the metrics at the end of a span of time into those of the span,
// given those at its start.
func (t Table[T]) Since(end, start *T) {
	for i := range t {
		f := &t[i]
		value, s := f.Of(end), *f.Of(start)
		switch {
		case f.Merging != Sum:
		case f.Optional && (*value == Unknown || s == Unknown || *value < s): // smaller: of interfaces, say, of which one is gone
			*value = Unknown
		default:
			*value -= s
		}
	}
}

// Skip changes the metrics at the start of a span of time to those with which Since omits what was added between two times in
// it. It omits nothing of a metric that is unknown at one of them.
func (t Table[T]) Skip(start, from, to *T) {
	for i := range t {
		f := &t[i]
		value, a, b := f.Of(start), *f.Of(from), *f.Of(to)
		if f.Merging == Sum && (!f.Optional || *value != Unknown && a != Unknown && b != Unknown) {
			*value += b - a
		}
	}
}

// Values returns the values in the order of the table, or nil for no metrics.
func (t Table[T]) Values(metrics *T) []int64 {
	if metrics == nil {
		return nil
	}
	values := make([]int64, len(t))
	for i := range t {
		values[i] = *t[i].Of(metrics)
	}
	return values
}

// Set is the inverse of Values. It returns an error for values that cannot be.
func (t Table[T]) Set(metrics *T, values []int64) error {
	if len(values) != len(t) {
		return fmt.Errorf("%d metrics, must be %d", len(values), len(t))
	}
	for i, value := range values {
		f := &t[i]
		lowest := int64(0)
		if f.Optional {
			lowest = Unknown
		}
		if value < lowest || value > maxMetric {
			return fmt.Errorf("%s must be from %d to %d, not %d", f.Name, lowest, int64(maxMetric), value)
		}
		*f.Of(metrics) = value
	}
	return nil
}

// Check returns an error for values that Set rejects.
func (t Table[T]) Check(metrics *T) error {
	var checked T
	return t.Set(&checked, t.Values(metrics))
}

// known returns the metrics that are not Unknown by their names.
func (t Table[T]) known(metrics *T) map[string]int64 {
	known := make(map[string]int64, len(t))
	for i := range t {
		f := &t[i]
		if value := *f.Of(metrics); !f.Optional || value != Unknown {
			known[f.Name] = value
		}
	}
	return known
}

// unmarshal reads the JSON of known metrics. Missing ones are unknown if they may be, else 0.
func (t Table[T]) unmarshal(metrics *T, data []byte) error {
	var known map[string]int64
	if err := json.Unmarshal(data, &known); err != nil {
		return fmt.Errorf("decode metrics: %w", err)
	}
	for i := range t {
		f := &t[i]
		value, ok := known[f.Name]
		if !ok && f.Optional {
			value = Unknown
		}
		*f.Of(metrics) = value
	}
	return nil
}
