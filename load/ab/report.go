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

// rowWriter writes a row of a report: its name, which may be empty, and a figure.
type rowWriter func(name, format string, args ...any)

// Report writes the result in the format of ab's report (output_results in
// support/ab.c), so that programs that parse ab's output can parse it.
func (o *Options) Report(w io.Writer, job *standalone.Job, r *result.Result) error {
	var b bytes.Buffer
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-24s%s\n", name, fmt.Sprintf(format, args...))
	}
	b.WriteString("\n\n")
	writeServer(row, job, r)
	if e := r.Environment.TLS; e != nil {
		row("SSL/TLS Protocol:", "%s,%s,%d,%d", e.Protocol, e.Cipher, e.KeySize, report.CipherBits(e.Cipher))
		if _, err := netip.ParseAddr(job.URL.Hostname()); err != nil {
			row("TLS Server Name:", "%s", job.URL.Hostname())
		}
	}
	b.WriteString("\n")
	writeDocument(row, job)
	b.WriteString("\n")
	c, seconds := r.Merged.Counts, float64(r.DurationMicroseconds)/1e6
	done, concurrency := float64(c.Requests), float64(o.Concurrency)
	o.writeCounts(row, r, func(connect, receive, length, exceptions int64) {
		fmt.Fprintf(&b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n", connect, receive, length, exceptions)
	})
	if seconds > 0 && done > 0 {
		row("Requests per second:", "%.2f [#/sec] (mean)", done/seconds)
		row("Time per request:", "%.3f [ms] (mean)", concurrency*seconds*1000/done)
		row("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", seconds*1000/done)
		row("Transfer rate:", "%.2f [Kbytes/sec] received", float64(c.BytesReceived)/1024/seconds)
		o.writeRatesWithBody(row, c, seconds)
	}
	if c.Succeeded() > 0 {
		summaries := r.Merged.Latencies.Summarize()
		o.writeTimes(&b, summaries)
		if total := summaries[result.Total]; !o.NoPercents && total.Count > 1 {
			writePercents(&b, total)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeServer(row rowWriter, job *standalone.Job, r *result.Result) {
	row("Server Software:", "%s", printable.Text(r.Environment.ServerSoftware))
	row("Server Hostname:", "%s", job.URL.Hostname())
	row("Server Port:", "%s", standalone.Port(job.URL))
}

func writeDocument(row rowWriter, job *standalone.Job) {
	row("Document Path:", "%s", job.Plan.Requests[0].Path)
	if length := job.Plan.Requests[0].Length; length >= 0 {
		row("Document Length:", "%d bytes", length)
	} else {
		row("Document Length:", "Variable")
	}
}

// writeCounts writes the counts. If requests have failed, it calls writeFailures with their numbers
// by ab's kinds. As with ab, a response of any status counts as complete. TLS errors count as
// connect errors and timeouts as receive errors, because ab has no such kinds.
func (o *Options) writeCounts(row rowWriter, r *result.Result, writeFailures func(connect, receive, length, exceptions int64)) {
	c, e := r.Merged.Counts, r.Merged.Errors
	row("Concurrency Level:", "%d", o.Concurrency)
	row("Time taken for tests:", "%.3f seconds", float64(r.DurationMicroseconds)/1e6)
	row("Complete requests:", "%d", c.Requests)
	failed := e.Total() - e[result.ErrorStatus]
	row("Failed requests:", "%d", failed)
	if failed > 0 {
		writeFailures(e[result.ErrorConnect]+e[result.ErrorTLS], e[result.ErrorReceive]+e[result.ErrorTimeout],
			e[result.ErrorLength], e[result.ErrorException])
	}
	if c.Non2xx > 0 {
		row("Non-2xx responses:", "%d", c.Non2xx)
	}
	if o.KeepAlive {
		row("Keep-Alive requests:", "%d", keptAlive(c, int64(o.Concurrency)))
	}
	row("Total transferred:", "%d bytes", c.BytesReceived)
	if o.Body != "" {
		row("Total body sent:", "%d", c.BytesSent) // headers included, as ab counts
	}
	row("HTML transferred:", "%d bytes", c.BodyBytes)
}

// writeRatesWithBody writes the rates that ab reports only for requests with a body.
func (o *Options) writeRatesWithBody(row rowWriter, c result.Counts, seconds float64) {
	if o.Body != "" {
		row("", "%.2f kb/s sent", float64(c.BytesSent)/1024/seconds)
		row("", "%.2f kb/s total", float64(c.BytesReceived+c.BytesSent)/1024/seconds)
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
func (o *Options) writeTimes(b *bytes.Buffer, s result.Summaries) {
	rows := []struct {
		name, inWarning string
		result.Summary
	}{
		{"Connect:", "initial connection", o.connect(s)}, {"Processing:", "processing", phaseSummary(s, result.Processing)},
		{"Waiting:", "waiting", phaseSummary(s, result.Waiting)}, {"Total:", "total", phaseSummary(s, result.Total)},
	}
	fmt.Fprintf(b, "\nConnection Times (ms)\n")
	if o.NoSpread {
		fmt.Fprintf(b, "              min   avg   max\n")
		for _, row := range rows {
			fmt.Fprintf(b, "%-12s%5d %5d%5d\n", row.name, ms(row.Min), meanMs(row.Summary), ms(row.Max))
		}
		return
	}
	fmt.Fprintf(b, "              min  mean[+/-sd] median   max\n")
	for _, row := range rows {
		fmt.Fprintf(b, "%-12s%5d %4d %5.1f %6d %7d\n",
			row.name, ms(row.Min), meanMs(row.Summary), float64(row.StdDev)/1000, ms(row.Percentiles[percentile.P50]), ms(row.Max))
	}
	for _, row := range rows {
		writeSkewWarning(b, row.inWarning, row.Summary)
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
func writeSkewWarning(b *bytes.Buffer, name string, s result.Summary) {
	apart := math.Abs(s.Mean() - float64(s.Percentiles[percentile.P50]))
	switch sd := float64(s.StdDev); {
	case apart > 2*sd:
		fmt.Fprintf(b, "ERROR: The median and mean for the %s time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", name)
	case apart > sd:
		fmt.Fprintf(b, "WARNING: The median and mean for the %s time are not within a normal deviation\n        These results are probably not that reliable.\n", name)
	}
}

func writePercents(b *bytes.Buffer, total *result.Summary) {
	fmt.Fprintf(b, "\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range percentile.AB {
		fmt.Fprintf(b, "  %s%%  %5d\n", p, ms(total.Percentiles[p]))
	}
	fmt.Fprintf(b, " 100%%  %5d (longest request)\n", ms(total.Max))
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
