package report

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// seriesColumns returns the columns of the series. Several seconds that were joined have the rates of a second, and
// no percentiles, which can't be joined.
func seriesColumns(r *result.Result) []doc.Field[result.Second] {
	whole := func(name string, of func(s *result.Second) int64) doc.Field[result.Second] {
		return doc.Number(name, func(s *result.Second) string { return strconv.FormatInt(of(s), 10) })
	}
	columns := []doc.Field[result.Second]{
		whole("second", func(s *result.Second) int64 { return s.Second }),
		doc.Number("seconds", func(s *result.Second) string { return strconv.FormatFloat(s.Length(), 'f', -1, 64) }),
		whole("requests", func(s *result.Second) int64 { return s.Requests }),
		whole("failed", func(s *result.Second) int64 { return s.Errors }),
	}
	counted := func(name string, of func(c *result.Counts) int64) doc.Field[result.Second] {
		return doc.Number(name, func(s *result.Second) string {
			if s.Counts == nil {
				return ""
			}
			return strconv.FormatInt(of(s.Counts), 10)
		})
	}
	for k := range result.ErrorKinds {
		columns = append(columns, counted("failed_"+k.String(), func(c *result.Counts) int64 { return c.Errors[k] }))
	}
	columns = append(columns,
		counted("dropped", func(c *result.Counts) int64 { return c.Dropped }),
		doc.Number("requests_per_second", func(s *result.Second) string { return perSecondText(s, s.Requests-s.Errors, 2) }),
		doc.Number("bytes_per_second", func(s *result.Second) string { return perSecondText(s, s.BytesReceived, 0) }),
		doc.Number("mean_ms", func(s *result.Second) string { return meanText(s, result.Total) }),
	)
	columns = append(columns, totalColumns()...)
	for phase := range result.Phases {
		if phase != result.Total && r.Merged.Latencies.Get(phase).Count() > 0 {
			columns = append(columns, phaseColumns(phase)...)
		}
	}
	columns = append(columns, usageFields(r, true, "", func(s *result.Second) *result.Level { return s.Level(len(r.Clients)) })...)
	for _, c := range r.Containers() {
		if c.Usage != nil && c.Usage.End.CompilerCPU > 0 {
			columns = append(columns, doc.Number("compiler_percent_"+c.Name, func(s *result.Second) string {
				percent := compilerPercent(s, &c)
				if percent < 0 {
					return ""
				}
				return decimals(percent, 1)
			}))
		}
	}
	return append(columns,
		doc.Number("client_scheduling_latency_p99_ms", func(s *result.Second) string { return msText(s.ClientSchedulingLatencyP99, true) }),
		doc.Number("client_gc_pause_max_ms", func(s *result.Second) string { return msText(s.ClientGCPauseMax, true) }),
	)
}

// totalColumns are the percentiles of the total times of successful requests.
func totalColumns() []doc.Field[result.Second] {
	total := func(name string, of func(s *result.Second) int64) doc.Field[result.Second] {
		return doc.Number(name, func(s *result.Second) string {
			if of(s) == result.Unknown || s.Requests == s.Errors {
				return ""
			}
			return msText(of(s), true)
		})
	}
	return []doc.Field[result.Second]{
		total("p50_ms", func(s *result.Second) int64 { return s.P50 }),
		total("p90_ms", func(s *result.Second) int64 { return s.P90 }),
		total("p99_ms", func(s *result.Second) int64 { return s.P99 }),
		total("max_ms", func(s *result.Second) int64 { return s.Max }),
	}
}

// phaseColumns are the times of a phase of successful requests.
func phaseColumns(phase result.Phase) []doc.Field[result.Second] {
	known := func(name string, of func(p *result.PhasePercentiles) int64) doc.Field[result.Second] {
		return doc.Number(phase.String()+name, func(s *result.Second) string {
			if s.Phases == nil || s.Phases[phase].PhasePercentiles == nil {
				return ""
			}
			return msText(of(s.Phases[phase].PhasePercentiles), true)
		})
	}
	return []doc.Field[result.Second]{
		doc.Number(phase.String()+"_mean_ms", func(s *result.Second) string { return meanText(s, phase) }),
		known("_p50_ms", func(p *result.PhasePercentiles) int64 { return p.P50 }),
		known("_p90_ms", func(p *result.PhasePercentiles) int64 { return p.P90 }),
		known("_p99_ms", func(p *result.PhasePercentiles) int64 { return p.P99 }),
		doc.Number(phase.String()+"_max_ms", func(s *result.Second) string {
			if s.Phases == nil || s.Phases[phase].Count == 0 {
				return ""
			}
			return msText(s.Phases[phase].Max, true)
		}),
	}
}

// compilerPercent returns the CPU time of a container's Java compiler in percent of the container's CPU limit, or -1.
func compilerPercent(s *result.Second, c *result.Container) float64 {
	l := s.Level(1)
	used := l.Of(c.Name)
	if used == nil {
		return result.Unknown
	}
	return l.CPUPercent(used.CompilerCPU, c.CPULimit)
}

func perSecondText(s *result.Second, count int64, n int) string {
	return decimals(float64(count)/s.Length(), n)
}

func meanText(s *result.Second, phase result.Phase) string {
	if s.Phases == nil || s.Phases[phase].Count == 0 {
		return ""
	}
	return decimals(s.Phases[phase].Mean()/1000, 3)
}

// errNoSeries is the error of a result without seconds.
var errNoSeries = errors.New("the result has no series: the measurement was shorter than a second")

// writeSeriesCSV writes a record for each point of the measurement.
func writeSeriesCSV(w io.Writer, r *result.Result) error {
	if len(r.Series) == 0 {
		return errNoSeries
	}
	r = Shown(r)
	return doc.WriteCSV(w, doc.Records(r.Points(), seriesColumns(r)...))
}

// distribution is the distribution of a phase over some requests.
type distribution struct {
	// of names the requests: "merged", "client 0", "level 200 connections".
	of    string
	phase result.Phase
	result.Summary
}

// distributions returns the distributions of all phases that occurred: over all requests, of each client, and of each
// level and step of the load.
func distributions(r *result.Result) []distribution {
	var all []distribution
	add := func(of string, latencies *result.Latencies, summaries *result.Summaries) {
		for phase := range result.Phases {
			if h := latencies.Get(phase); h.Count() > 0 {
				all = append(all, distribution{of, phase, h.Summarize(0)})
			} else if s := summaries[phase]; s != nil {
				all = append(all, distribution{of, phase, *s})
			}
		}
	}
	add("merged", &r.Merged.Latencies, &result.Summaries{})
	for i := range r.Clients {
		c := &r.Clients[i]
		add("client "+strconv.Itoa(c.Index), &c.Latencies, &c.Summaries)
	}
	for _, p := range allParts(r) {
		kind := "level "
		if p.step {
			kind = "step "
		}
		add(kind+p.name()+" "+UnitOfLoad(r), &p.Latencies, &p.Summaries)
	}
	return all
}

func distributionColumns() []doc.Field[distribution] {
	columns := []doc.Field[distribution]{
		doc.Number("of", func(d *distribution) string { return d.of }),
		doc.Number("phase", func(d *distribution) string { return d.phase.String() }),
		doc.Number("count", func(d *distribution) string { return strconv.FormatInt(d.Count, 10) }),
		doc.Number("clamped", func(d *distribution) string { return strconv.FormatInt(d.Clamped, 10) }),
		doc.Number("min_ms", func(d *distribution) string { return msText(d.Min, true) }),
		doc.Number("mean_ms", func(d *distribution) string { return decimals(d.Mean()/1000, 3) }),
		doc.Number("stddev_ms", func(d *distribution) string { return msText(d.StdDev, true) }),
	}
	for p := range percentile.Count {
		columns = append(columns, doc.Number(strings.ToLower(p.Name())+"_ms", func(d *distribution) string {
			if d.Percentiles[p] == result.Unknown {
				return ""
			}
			return msText(d.Percentiles[p], true)
		}))
	}
	return append(columns, doc.Number("max_ms", func(d *distribution) string { return msText(d.Max, true) }))
}

// errNoLatencies is the error of a result without a successful request.
var errNoLatencies = errors.New("the result has no latencies: no request succeeded")

// writePercentilesCSV writes a record for each distribution.
func writePercentilesCSV(w io.Writer, r *result.Result) error {
	all := distributions(r)
	if len(all) == 0 {
		return errNoLatencies
	}
	return doc.WriteCSV(w, doc.Records(all, distributionColumns()...))
}
