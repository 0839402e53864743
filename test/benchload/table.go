package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/test/harness"
)

// benchCase is a load to compare the tools with.
type benchCase struct {
	name        string
	kib         int
	connections int
	tls         bool
	keepAlive   bool
	streams     int // of each HTTP/2 connection; 0 with HTTP/1.1
	// open reports whether requests are made at a rate. If rate is 0, it is half of the saturation rate.
	open bool
	rate int
}

// saturatingConnections is the number of connections with which the saturation rate is measured.
const saturatingConnections = 25

var cases = []benchCase{
	{name: "1k", kib: 1, connections: 25, keepAlive: true},
	{name: "32k", kib: 32, connections: 25, keepAlive: true},
	{name: "1k-1000", kib: 1, connections: 1000, keepAlive: true},
	{name: "1k-10000", kib: 1, connections: 10_000, keepAlive: true},
	{name: "tls", kib: 1, connections: 25, tls: true, keepAlive: true},
	{name: "close", kib: 1, connections: 25},
	{name: "h2", kib: 1, connections: 25, tls: true, keepAlive: true, streams: 8},
	{name: "tls-close", kib: 1, connections: 25, tls: true},
	{name: "open-1000", kib: 1, connections: 100, keepAlive: true, open: true, rate: 1000},
	{name: "open-20000", kib: 1, connections: 100, keepAlive: true, open: true, rate: 20_000},
	{name: "open", kib: 1, connections: 100, keepAlive: true, open: true},
}

// title describes the case.
func (c *benchCase) title() string {
	parts := []string{fmt.Sprintf("%d KiB", c.kib)}
	if c.tls {
		parts = append(parts, "TLS 1.3")
	}
	switch {
	case c.streams > 0:
		parts = append(parts, fmt.Sprintf("HTTP/2 with %d streams on each connection", c.streams))
	case c.keepAlive:
		parts = append(parts, "keep-alive")
	default:
		parts = append(parts, "a connection for each request")
	}
	parts = append(parts, fmt.Sprintf("%d connections", c.connections))
	if c.rate > 0 {
		parts = append(parts, fmt.Sprintf("open load of %d requests/s", c.rate))
	}
	return strings.Join(parts, ", ")
}

// reference returns the name of the tool that the others are compared with. wrk has no open load.
func (c *benchCase) reference() string {
	switch {
	case c.streams > 0:
		return http2Reference
	case c.open:
		return assayLoadName
	}
	return reference
}

// row holds the samples of one tool in a case, by round. A sample is nil if the tool failed.
type row struct {
	tool    string
	samples []*sample
	skipped string
}

// writeCase writes the table of a case. Context switches and page faults are for a thousand requests.
func writeCase(w io.Writer, c *benchCase, rows []row) {
	_, _ = fmt.Fprintf(w, "\n%s\n\n", c.title())
	const format = "| %-22s | %9s | %-15s | %10s | %10s | %8s | %8s | %8s | %6s |\n"
	_, _ = fmt.Fprintf(w, format, "tool", "µs CPU", "min–max", "× "+c.reference(), "requests/s", "peak MiB", "switches", "faults", "rounds")
	_, _ = fmt.Fprintf(w, format, "---", "--:", "---", "--:", "--:", "--:", "--:", "--:", "--:")
	var base []*sample
	for _, r := range rows {
		if r.tool == c.reference() {
			base = r.samples
		}
	}
	for _, r := range rows {
		var costs, ratios, rates, peaks, load, loadRatios []float64
		var achieved, delays, switches, faults []float64
		var failed int64
		for i, s := range r.samples {
			if s == nil {
				continue
			}
			costs, rates, peaks = append(costs, s.perRequest()), append(rates, s.rate()), append(peaks, float64(s.peak)/(1<<20))
			switches, faults = append(switches, s.perThousand(s.switches)), append(faults, s.perThousand(s.faults))
			failed += s.failed
			if s.targetRate > 0 {
				achieved, delays = append(achieved, 100*(s.achievedRate/s.targetRate-1)), append(delays, s.delay.Seconds()*1e6)
			}
			if i < len(base) && base[i] != nil {
				ratios = append(ratios, s.perRequest()/base[i].perRequest())
				loadRatios = append(loadRatios, s.loadPerRequest()/base[i].perRequest())
			}
			if s.loadCPU > 0 {
				load = append(load, s.loadPerRequest())
			}
		}
		if len(costs) == 0 {
			_, _ = fmt.Fprintf(w, format, r.tool, "-", r.skipped, "", "", "", "", "", "0")
			continue
		}
		ratio := "-"
		if len(ratios) > 0 {
			ratio = fmt.Sprintf("%.2f", harness.Median(ratios))
		}
		_, _ = fmt.Fprintf(w, format, r.tool, fmt.Sprintf("%.1f", harness.Median(costs)), fmt.Sprintf("%.1f–%.1f", slices.Min(costs), slices.Max(costs)),
			ratio, fmt.Sprintf("%.0f", harness.Median(rates)), fmt.Sprintf("%.0f", slices.Max(peaks)),
			fmt.Sprintf("%.1f", harness.Median(switches)), fmt.Sprintf("%.1f", harness.Median(faults)), fmt.Sprint(len(costs)))
		if len(load) > 0 && len(loadRatios) > 0 {
			_, _ = fmt.Fprintf(w, format, "  without startup", fmt.Sprintf("%.1f", harness.Median(load)), fmt.Sprintf("%.1f–%.1f", slices.Min(load), slices.Max(load)),
				fmt.Sprintf("%.2f", harness.Median(loadRatios)), "", "", "", "", "")
		}
		if len(achieved) > 0 {
			_, _ = fmt.Fprintf(w, "%s: achieved rate within %.3f%% of the target rate, p99 of the start delay %.0f µs (%.0f–%.0f).\n",
				r.tool, max(slices.Max(achieved), -slices.Min(achieved)), harness.Median(delays), slices.Min(delays), slices.Max(delays))
		}
		if failed > 0 {
			_, _ = fmt.Fprintf(w, "%s had %d failed requests.\n", r.tool, failed)
		}
	}
}
