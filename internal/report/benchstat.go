package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// Measured is one measurement in Go's benchmark format (https://go.dev/design/14313-benchmark-format): a run, or one
// repetition of a cell. benchstat takes all of the same name for repetitions.
type Measured struct {
	// Base is the name without "Benchmark" before it. Keys are what varies, by name, as parts "/name=value" of the
	// name, which benchstat can use as row or column.
	Base string
	Keys []Key
	// Iterations is the number of requests, or 1 if it is unknown. Values are in units that benchstat knows.
	Iterations int64
	Values     []benchfmt.Value
	// Omitted says why there are no values; empty if there are.
	Omitted string
}

// Key is a name with a value.
type Key struct{ Name, Value string }

// higherIsBetter are the units of which benchstat has to know that more is better.
var higherIsBetter = []string{"req/s", "B/s"}

// WriteBenchstat writes measurements in Go's benchmark format. Those that are omitted have a line that says why,
// which benchstat ignores.
func WriteBenchstat(w io.Writer, all []Measured) error {
	out := benchfmt.NewWriter(w)
	for _, unit := range higherIsBetter {
		better := &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: "higher"}
		if err := out.Write(better); err != nil {
			return err
		}
	}
	for i := range all {
		m := &all[i]
		if m.Omitted != "" {
			if _, err := fmt.Fprintf(w, "# omitted: %s: %s\n", m.name(), printable.Text(m.Omitted)); err != nil {
				return err
			}
			continue
		}
		if err := out.Write(&benchfmt.Result{Name: benchfmt.Name(m.name()), Iters: int(max(m.Iterations, 1)), Values: m.Values}); err != nil {
			return err
		}
	}
	return nil
}

// processors matches what Go's benchmark format takes for the value of GOMAXPROCS at the end of a name.
var processors = regexp.MustCompile(`-([0-9]+)$`)

// name returns the full name. In texts from users, characters with a meaning in names become underscores.
func (m *Measured) name() string {
	clean := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '/' || r == '=' || r == '"' {
				return '_'
			}
			return r
		}, printable.Text(text))
	}
	base := []rune(cmp.Or(clean(m.Base), "Run"))
	base[0] = unicode.ToUpper(base[0]) // as after "Benchmark" in Go
	name := string(base)
	for _, k := range m.Keys {
		name += "/" + cmp.Or(clean(k.Name), "_") + "=" + cmp.Or(clean(k.Value), "_")
	}
	return processors.ReplaceAllString(name, "_$1")
}

// measured returns the measurement of a row. Its name says what was declared, and not the run's name, so that runs of
// the same are repetitions.
func measured(row *Row) Measured {
	m := Measured{Base: "HTTP", Keys: []Key{{"connector", row.Connector}, {"file", filesCell(row)}}}
	if row.TLS != nil {
		m.Keys = append(m.Keys, Key{"tls", cmp.Or(row.TLS.Protocol, "TLS")})
	}
	m.Keys = append(m.Keys, Key{"keepalive", strconv.FormatBool(row.KeepAlive)})
	if row.TargetRatePerSecond > 0 {
		m.Keys = append(m.Keys, Key{"rate", strconv.FormatFloat(row.TargetRatePerSecond, 'f', -1, 64)})
	}
	m.Keys = append(m.Keys, Key{"connections", strconv.FormatInt(row.Connections, 10)}, Key{"clients", strconv.Itoa(len(row.Clients))})
	switch {
	case row.Merged == nil:
		m.Omitted = fmt.Sprintf("%s/%s has %s", row.Namespace, row.Name, cmp.Or(row.NoResult, "no result"))
		return m
	case !row.valid():
		m.Omitted = fmt.Sprintf("%s/%s is not valid: %s", row.Namespace, row.Name, reasons(row))
		return m
	}
	m.Iterations = row.Merged.Requests
	if l := row.Merged.Latency; l != nil {
		m.Values = append(m.Values, benchfmt.Value{Unit: "p50-sec", Value: float64(l.P50) / 1e6}, benchfmt.Value{Unit: "p99-sec", Value: float64(l.P99) / 1e6}, benchfmt.Value{Unit: "max-sec", Value: float64(l.Max) / 1e6})
	}
	m.Values = append(m.Values, benchfmt.Value{Unit: "req/s", Value: row.Merged.RequestsPerSecond}, benchfmt.Value{Unit: "error-%", Value: row.Merged.ErrorPercent()})
	if c := row.CPUPerRequest; c != nil && c.Target != nil {
		m.Values = append(m.Values, benchfmt.Value{Unit: "target-cpu-sec/op", Value: *c.Target / 1e6})
	}
	if c := row.CPUPerRequest; c != nil && c.Clients != nil {
		m.Values = append(m.Values, benchfmt.Value{Unit: "client-cpu-sec/op", Value: *c.Clients / 1e6})
	}
	return m
}

// writeBenchstat writes a run as one measurement, with more percentiles than in a table.
func writeBenchstat(w io.Writer, r *result.Result) error {
	r = Shown(r)
	row := NewRow(r.Run.Server, r)
	m := measured(&row)
	if total := r.Merged.Latencies.Get(result.Total); m.Omitted == "" && total.Count() > 0 {
		s := total.Summarize(0)
		values := []benchfmt.Value{{Unit: "sec/op", Value: s.Mean() / 1e6}}
		for _, p := range percentile.Common {
			if p != percentile.P50 && p != percentile.P99 { // a row has them
				values = append(values, benchfmt.Value{Unit: strings.ToLower(p.Name()) + "-sec", Value: float64(s.Percentiles[p]) / 1e6})
			}
		}
		m.Values = append(values, m.Values...)
	}
	return WriteBenchstat(w, []Measured{m})
}

// writeTableBenchstat writes a measurement for each run.
func writeTableBenchstat(w io.Writer, rows []Row) error {
	all := make([]Measured, len(rows))
	for i := range rows {
		all[i] = measured(&rows[i])
	}
	return WriteBenchstat(w, all)
}
