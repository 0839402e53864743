package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/result"
)

// writeHistogramLog writes whole histograms as HdrHistogram's log (format version 1.3, histograms in the compressed
// encoding V2): the interval without a tag has the total times over all clients, others have tags: the phase, after
// the client, the level or the step of which it is; second for the total times of each second. Values are in microseconds, the column Interval_Max in milliseconds.
//
// The log has no histogram that the result doesn't have: only a whole result, from a bucket, has those of seconds. None of
// clients and levels are there whose histograms were dropped.
func writeHistogramLog(w io.Writer, r *result.Result) error {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return errNoLatencies
	}
	var b bytes.Buffer
	start := r.Run.MeasurementTime.UTC()
	if start.IsZero() {
		start = start.AddDate(1969, 0, 0) // no reader expects a time before the epoch
	}
	fmt.Fprintln(&b, "#[Logged by Assay: values in microseconds, Interval_Max in milliseconds]")
	fmt.Fprintln(&b, "#[Histogram log format version 1.3]")
	fmt.Fprintf(&b, "#[BaseTime: %.3f (seconds since epoch)]\n", float64(start.UnixMilli())/1000)
	fmt.Fprintf(&b, "#[StartTime: %.3f (seconds since epoch), %s]\n", float64(start.UnixMilli())/1000, start.Format("2006-01-02T15:04:05.000Z"))
	fmt.Fprintln(&b, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	for _, i := range intervals(r) {
		e, err := i.histogram.Encode()
		if err != nil {
			return err
		}
		if i.tag != "" {
			fmt.Fprintf(&b, "Tag=%s,", i.tag)
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%.3f,%s\n", float64(i.start)/1e6, float64(i.length)/1e6, ms(e.Max), base64.StdEncoding.EncodeToString(e.HDR))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// interval is a line of a histogram log. start is relative to the start of the measurement; it and length are in
// microseconds.
type interval struct {
	tag           string
	start, length int64
	histogram     *result.Histogram
}

// intervals returns the histograms of a result: over all requests, of each client, of each level and step, and of each
// second.
func intervals(r *result.Result) []interval {
	var all []interval
	add := func(prefix string, start, length int64, latencies *result.Latencies) {
		for phase := range result.Phases {
			if h := latencies.Get(phase); h.Count() > 0 {
				all = append(all, interval{prefix + phase.String(), start, length, h})
			}
		}
	}
	first := int64(0)
	for i := range r.Clients {
		if skew := r.Clients[i].StartSkewMicroseconds; i == 0 || skew < first {
			first = skew
		}
	}
	first = max(first, 0) // by the error of the clocks
	all = append(all, interval{"", first, r.DurationMicroseconds, r.Merged.Latencies.Get(result.Total)})
	phases := r.Merged.Latencies
	phases[result.Total] = nil
	add("", first, r.DurationMicroseconds, &phases)
	for i := range r.Clients {
		c := &r.Clients[i]
		add(fmt.Sprintf("client-%d-", c.Index), max(c.StartSkewMicroseconds, 0), c.DurationMicroseconds(), &c.Latencies)
	}
	for _, p := range allParts(r) {
		prefix := fmt.Sprintf("level-%d-", p.Load())
		if p.step {
			prefix = fmt.Sprintf("step-%d-%d-", p.from, p.Load())
		}
		add(prefix, p.Start*1_000_000, (p.End-p.Start)*1_000_000, &p.Latencies)
	}
	for i := range r.Series {
		if s := &r.Series[i]; s.Latency != nil && s.Latency.Count() > 0 {
			all = append(all, interval{"second", s.Second * 1_000_000, s.Seconds * 1_000_000, s.Latency})
		}
	}
	return all
}
