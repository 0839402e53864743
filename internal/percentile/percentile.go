// Package percentile has the table of the percentiles that Assay reports, and the
// rule by which one is computed. It knows no distribution.
package percentile

import (
	"math"
	"strconv"
	"strings"
)

// Percentile is one of the reported percentiles. Its number is its place in
// stored summaries: append, and never reorder or remove.
type Percentile int

// The percentiles.
const (
	P50 Percentile = iota
	P66
	P75
	P80
	P90
	P95
	P98
	P99
	P999
	P9999
	// Count is the number of percentiles.
	Count
)

// table has a line for each percentile. Those that ab prints are in each block of
// a report. Common ones are also in the status, in thresholds, in the table of
// arrivals and in the metrics of k6's trends.
var table = [Count]struct {
	percent float64
	ab      bool
	common  bool
}{
	P50:   {percent: 50, ab: true, common: true},
	P66:   {percent: 66, ab: true},
	P75:   {percent: 75, ab: true},
	P80:   {percent: 80, ab: true},
	P90:   {percent: 90, ab: true, common: true},
	P95:   {percent: 95, ab: true, common: true},
	P98:   {percent: 98, ab: true},
	P99:   {percent: 99, ab: true, common: true},
	P999:  {percent: 99.9, common: true},
	P9999: {percent: 99.99, common: true},
}

// Percent returns the share of values, from 0 to 100, that the percentile bounds.
func (p Percentile) Percent() float64 { return table[p].percent }

// String returns the percentile as a number: "99.9".
func (p Percentile) String() string {
	return strconv.FormatFloat(table[p].percent, 'f', -1, 64)
}

// Name returns the percentile as part of a field's name: "P999" for the 99.9th.
func (p Percentile) Name() string { return "P" + strings.ReplaceAll(p.String(), ".", "") }

// AB holds the percentiles that ab prints.
var AB = which(func(p Percentile) bool { return table[p].ab })

// Common holds the percentiles that every kind of summary has.
var Common = which(func(p Percentile) bool { return table[p].common })

func which(included func(Percentile) bool) (some []Percentile) {
	for p := range Count {
		if included(p) {
			some = append(some, p)
		}
	}
	return some
}

// Rank returns the rank, from 1 to n, of the value that at least percent of n
// values do not exceed: that share of n, rounded up (the nearest-rank method).
func Rank(percent float64, n int64) int64 {
	// A product such as 99.9 percent of 1000 may come out just above the whole number that it is.
	const productError = 1e-12
	rank := int64(math.Ceil(percent * float64(n) / 100 * (1 - productError)))
	return min(max(rank, 1), n)
}
