package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is a figure with its bound.
type row struct {
	name, measured, bound string
	missed                bool
}

// bounded returns a row of a figure that must not exceed a bound.
func bounded[N int | int64 | float64 | time.Duration](name string, measured, bound N, format func(N) string) row {
	return row{name, format(measured), "≤ " + format(bound), measured > bound}
}

func noted(name, measured string) row { return row{name: name, measured: measured} }

func cores(n float64) string          { return fmt.Sprintf("%.2f cores", n) }
func mebibytes(n int64) string        { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
func count(n float64) string          { return fmt.Sprintf("%.4g", n) }
func duration(d time.Duration) string { return d.Round(time.Millisecond).String() }

// quantile returns the smallest of the values that at least share of all do not exceed.
func quantile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(float64(len(sorted))*share+0.999999)-1)]
}

type table struct {
	rows   []row
	before string
}

func newTable() *table { return &table{before: loadAverage()} }

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// print writes the table and reports whether a bound is missed.
func (t *table) print(w io.Writer) (missed bool) {
	_, _ = fmt.Fprintf(w, "%s, %d CPUs, load average %s before and %s after:\n\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), t.before, loadAverage())
	_, _ = fmt.Fprint(w, "| figure | measured | bound |\n| --- | --: | --: |\n")
	for _, r := range t.rows {
		bound := r.bound
		if r.missed {
			missed, bound = true, bound+" (missed)"
		}
		_, _ = fmt.Fprintf(w, "| %s | %s | %s |\n", r.name, r.measured, bound)
	}
	return missed
}
