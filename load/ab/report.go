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

// Report writes the result in the format of ab's report (output_results in
// support/ab.c), so that programs that parse ab's output can parse it.
func (o *Options) Report(w io.Writer, job *standalone.Job, r *result.Result) error {
	var b bytes.Buffer
	o.writeServer(&b, job, r)
	c, seconds := r.Merged.Counts, float64(r.DurationMicroseconds)/1e6
	done, concurrency := float64(c.Requests), float64(o.Concurrency)
	fmt.Fprintf(&b, "Concurrency Level:      %d\n", o.Concurrency)
	fmt.Fprintf(&b, "Time taken for tests:   %.3f seconds\n", seconds)
	fmt.Fprintf(&b, "Complete requests:      %d\n", c.Requests)
	writeFailed(&b, c)
	if o.KeepAlive {
		fmt.Fprintf(&b, "Keep-Alive requests:    %d\n", keptAlive(c, int64(o.Concurrency)))
	}
	fmt.Fprintf(&b, "Total transferred:      %d bytes\n", c.BytesReceived)
	if o.Body != "" {
		fmt.Fprintf(&b, "Total body sent:        %d\n", c.BytesSent) // headers included, as ab counts
	}
	fmt.Fprintf(&b, "HTML transferred:       %d bytes\n", c.BodyBytes)
	if seconds > 0 && done > 0 {
		fmt.Fprintf(&b, "Requests per second:    %.2f [#/sec] (mean)\n", done/seconds)
		fmt.Fprintf(&b, "Time per request:       %.3f [ms] (mean)\n", concurrency*seconds*1000/done)
		fmt.Fprintf(&b, "Time per request:       %.3f [ms] (mean, across all concurrent requests)\n", seconds*1000/done)
		fmt.Fprintf(&b, "Transfer rate:          %.2f [Kbytes/sec] received\n", float64(c.BytesReceived)/1024/seconds)
		if o.Body != "" {
			fmt.Fprintf(&b, "                        %.2f kb/s sent\n", float64(c.BytesSent)/1024/seconds)
			fmt.Fprintf(&b, "                        %.2f kb/s total\n", float64(c.BytesReceived+c.BytesSent)/1024/seconds)
		}
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

func (o *Options) writeServer(b *bytes.Buffer, job *standalone.Job, r *result.Result) {
	e := r.Environment
	fmt.Fprintf(b, "\n\nServer Software:        %s\n", printable.Text(e.ServerSoftware))
	fmt.Fprintf(b, "Server Hostname:        %s\n", job.URL.Hostname())
	fmt.Fprintf(b, "Server Port:            %s\n", standalone.Port(job.URL))
	if e.TLS != nil {
		fmt.Fprintf(b, "SSL/TLS Protocol:       %s,%s,%d,%d\n", e.TLS.Protocol, e.TLS.Cipher, e.TLS.KeySize, report.CipherBits(e.TLS.Cipher))
		if _, err := netip.ParseAddr(job.URL.Hostname()); err != nil {
			fmt.Fprintf(b, "TLS Server Name:        %s\n", job.URL.Hostname())
		}
	}
	fmt.Fprintf(b, "\nDocument Path:          %s\n", job.Plan.Requests[0].Path)
	fmt.Fprintf(b, "Document Length:        %s\n\n", documentLength(job))
}

func documentLength(job *standalone.Job) string {
	if length := job.Plan.Requests[0].Length; length >= 0 {
		return fmt.Sprintf("%d bytes", length)
	}
	return "Variable"
}

// failures holds the failed requests by ab's kinds. As with ab, a response of any
// status counts as complete. TLS errors count as connect errors and timeouts as
// receive errors, because ab has no such kinds.
type failures struct{ total, connect, receive, length, exceptions int64 }

func failuresOf(c result.Counts) failures {
	e := c.Errors
	return failures{
		total: e.Total() - e[result.ErrorStatus], connect: e[result.ErrorConnect] + e[result.ErrorTLS],
		receive: e[result.ErrorReceive] + e[result.ErrorTimeout], length: e[result.ErrorLength], exceptions: e[result.ErrorException],
	}
}

func writeFailed(b *bytes.Buffer, c result.Counts) {
	f := failuresOf(c)
	fmt.Fprintf(b, "Failed requests:        %d\n", f.total)
	if f.total > 0 {
		fmt.Fprintf(b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n", f.connect, f.receive, f.length, f.exceptions)
	}
	if c.Non2xx > 0 {
		fmt.Fprintf(b, "Non-2xx responses:      %d\n", c.Non2xx)
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
		name    string
		summary result.Summary
	}{
		{"Connect", o.connect(s)}, {"Processing", phaseSummary(s, result.Processing)},
		{"Waiting", phaseSummary(s, result.Waiting)}, {"Total", phaseSummary(s, result.Total)},
	}
	fmt.Fprintf(b, "\nConnection Times (ms)\n")
	if o.NoSpread {
		fmt.Fprintf(b, "              min   avg   max\n")
		for _, row := range rows {
			x := row.summary
			fmt.Fprintf(b, "%-12s%5d %5d%5d\n", row.name+":", ms(x.Min), meanMs(x), ms(x.Max))
		}
		return
	}
	fmt.Fprintf(b, "              min  mean[+/-sd] median   max\n")
	for _, row := range rows {
		x := row.summary
		fmt.Fprintf(b, "%-12s%5d %4d %5.1f %6d %7d\n", row.name+":", ms(x.Min), meanMs(x), float64(x.StdDev)/1000, ms(x.Percentiles[percentile.P50]), ms(x.Max))
	}
	for _, row := range rows {
		writeSkewWarning(b, row.name, row.summary)
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
	names := map[string]string{"Connect": "the initial connection time", "Processing": "the processing time", "Waiting": "the waiting time", "Total": "the total time"}
	switch sd := float64(s.StdDev); {
	case apart > 2*sd:
		fmt.Fprintf(b, "ERROR: The median and mean for %s are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", names[name])
	case apart > sd:
		fmt.Fprintf(b, "WARNING: The median and mean for %s are not within a normal deviation\n        These results are probably not that reliable.\n", names[name])
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
