package ab

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/netip"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/standalone"
)

// textReport is a report in the format of ab's (output_results in support/ab.c).
type textReport struct{ bytes.Buffer }

// row writes a row: its name, which may be empty, and a value.
func (t *textReport) row(name, format string, args ...any) {
	fmt.Fprintf(t, "%-24s%s\n", name, fmt.Sprintf(format, args...))
}

// Report writes the result in the format of ab's report, so that programs that parse ab's output can
// parse it.
func (o *Options) Report(w io.Writer, job *standalone.Job, r *result.Result) error {
	t := &textReport{}
	t.WriteString("\n\n")
	t.row("Server Software:", "%s", printable.Text(r.Environment.ServerSoftware))
	t.row("Server Hostname:", "%s", job.URL.Hostname())
	t.row("Server Port:", "%s", standalone.Port(job.URL))
	if e := r.Environment.TLS; e != nil {
		t.row("SSL/TLS Protocol:", "%s,%s,%d,%d", e.Protocol, e.Cipher, e.KeySize, report.CipherBits(e.Cipher))
		if _, err := netip.ParseAddr(job.URL.Hostname()); err != nil {
			t.row("TLS Server Name:", "%s", job.URL.Hostname())
		}
	}
	t.WriteString("\n")
	t.row("Document Path:", "%s", job.Plan.Requests[0].Path)
	if length := job.Plan.Requests[0].Length; length >= 0 {
		t.row("Document Length:", "%d bytes", length)
	} else {
		t.row("Document Length:", "Variable")
	}
	t.WriteString("\n")
	o.writeCounts(t, r)
	o.writeRates(t, r)
	if r.Merged.Succeeded() > 0 {
		summaries := r.Merged.Latencies.Summarize()
		o.writeTimes(t, summaries)
		if total := summaries[result.Total]; !o.NoPercents && total.Count > 1 {
			writePercents(t, total)
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// writeCounts writes the counts. As with ab, a response of any status counts as complete. TLS errors count as
// connect errors and timeouts as receive errors, because ab has no such kinds.
func (o *Options) writeCounts(t *textReport, r *result.Result) {
	c, e := r.Merged.Counts, r.Merged.Errors
	t.row("Concurrency Level:", "%d", o.Concurrency)
	t.row("Time taken for tests:", "%.3f seconds", float64(r.DurationMicroseconds)/1e6)
	t.row("Complete requests:", "%d", c.Requests)
	failed := e.Total() - e[result.ErrorStatus]
	t.row("Failed requests:", "%d", failed)
	if failed > 0 {
		fmt.Fprintf(t, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n",
			e[result.ErrorConnect]+e[result.ErrorTLS], e[result.ErrorReceive]+e[result.ErrorTimeout], e[result.ErrorLength], e[result.ErrorException])
	}
	if c.Non2xx > 0 {
		t.row("Non-2xx responses:", "%d", c.Non2xx)
	}
	if o.KeepAlive {
		t.row("Keep-Alive requests:", "%d", keptAlive(c, int64(o.Concurrency)))
	}
	t.row("Total transferred:", "%d bytes", c.BytesReceived)
	if o.Body != "" {
		t.row("Total body sent:", "%d", c.BytesSent) // headers included, as ab counts
	}
	t.row("HTML transferred:", "%d bytes", c.BodyBytes)
}

// writeRates writes what there was per second. Like ab, it reports bytes sent only for requests with a body.
func (o *Options) writeRates(t *textReport, r *result.Result) {
	c, seconds := r.Merged.Counts, float64(r.DurationMicroseconds)/1e6
	done, concurrency := float64(c.Requests), float64(o.Concurrency)
	if seconds <= 0 || done <= 0 {
		return
	}
	t.row("Requests per second:", "%.2f [#/sec] (mean)", done/seconds)
	t.row("Time per request:", "%.3f [ms] (mean)", concurrency*seconds*1000/done)
	t.row("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", seconds*1000/done)
	t.row("Transfer rate:", "%.2f [Kbytes/sec] received", float64(c.BytesReceived)/1024/seconds)
	if o.Body != "" {
		t.row("", "%.2f kb/s sent", float64(c.BytesSent)/1024/seconds)
		t.row("", "%.2f kb/s total", float64(c.BytesReceived+c.BytesSent)/1024/seconds)
	}
}

// keptAlive returns the number of responses after which the connection was kept
// open, as ab counts them: each response that another one followed on the same
// connection, and the last one on each connection that was open at the end.
func keptAlive(c result.Counts, concurrency int64) int64 {
	if c.KeepAlive == 0 {
		return 0
	}
	return c.KeepAlive + min(concurrency, c.Connections)
}

// connect returns the summary of ab's Connect time, which includes the TLS handshake. The mean is
// exact. Minimum, maximum, median and deviation are estimated from those of the two phases.
func (o *Options) connect(s result.Summaries) result.Summary {
	connect := phaseSummary(s, result.Connect)
	if s[result.TLS] != nil {
		handshake := phaseSummary(s, result.TLS)
		connect.Sum += handshake.Sum
		connect.Min += handshake.Min
		connect.Max += handshake.Max
		connect.Percentiles[percentile.P50] += handshake.Percentiles[percentile.P50]
		if o.KeepAlive { // the phases are correlated: both are zero for most requests
			connect.StdDev += handshake.StdDev
		} else {
			connect.StdDev = int64(math.Hypot(float64(connect.StdDev), float64(handshake.StdDev)))
		}
	}
	return connect
}

// writeTimes writes ab's table of connection times, in whole milliseconds.
func (o *Options) writeTimes(t *textReport, s result.Summaries) {
	rows := []struct {
		name, inWarning string
		result.Summary
	}{
		{"Connect:", "initial connection", o.connect(s)}, {"Processing:", "processing", phaseSummary(s, result.Processing)},
		{"Waiting:", "waiting", phaseSummary(s, result.Waiting)}, {"Total:", "total", phaseSummary(s, result.Total)},
	}
	fmt.Fprintf(t, "\nConnection Times (ms)\n")
	if o.NoSpread {
		fmt.Fprintf(t, "              min   avg   max\n")
		for _, row := range rows {
			fmt.Fprintf(t, "%-12s%5d %5d%5d\n", row.name, ms(row.Min), meanMs(row.Summary), ms(row.Max))
		}
		return
	}
	fmt.Fprintf(t, "              min  mean[+/-sd] median   max\n")
	for _, row := range rows {
		fmt.Fprintf(t, "%-12s%5d %4d %5.1f %6d %7d\n",
			row.name, ms(row.Min), meanMs(row.Summary), float64(row.StdDev)/1000, ms(row.Percentiles[percentile.P50]), ms(row.Max))
	}
	for _, row := range rows {
		writeSkewWarning(t, row.inWarning, row.Summary)
	}
}

// phaseSummary returns the summary of a phase. If the phase never occurred, it
// returns a time of zero for each request.
func phaseSummary(s result.Summaries, phase result.Phase) result.Summary {
	if s[phase] != nil {
		return *s[phase]
	}
	return result.Summary{Count: s[result.Total].Count}
}

// writeSkewWarning writes ab's warning if the median and the mean are far apart.
func writeSkewWarning(t *textReport, name string, s result.Summary) {
	apart := math.Abs(s.Mean() - float64(s.Percentiles[percentile.P50]))
	switch sd := float64(s.StdDev); {
	case apart > 2*sd:
		fmt.Fprintf(t, "ERROR: The median and mean for the %s time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", name)
	case apart > sd:
		fmt.Fprintf(t, "WARNING: The median and mean for the %s time are not within a normal deviation\n        These results are probably not that reliable.\n", name)
	}
}

func writePercents(t *textReport, total *result.Summary) {
	fmt.Fprintf(t, "\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range percentile.AB {
		fmt.Fprintf(t, "  %s%%  %5d\n", p, ms(total.Percentiles[p]))
	}
	fmt.Fprintf(t, " 100%%  %5d (longest request)\n", ms(total.Max))
}

// WriteCSV writes the CSV file of -e: the total time in milliseconds for each
// percentage of requests from 0 to 99.
func WriteCSV(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Percentage served,Time in ms\n")
	total := r.Merged.Latencies.Get(result.Total)
	for p := range 100 {
		x := total.Min()
		if p > 0 {
			x = total.Percentile(float64(p))
		}
		fmt.Fprintf(&b, "%d,%.3f\n", p, float64(x)/1000)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ms converts microseconds to milliseconds, rounded.
func ms(microseconds int64) int64 { return (microseconds + 500) / 1000 }

func meanMs(s result.Summary) int64 { return ms(int64(math.Round(s.Mean()))) }
