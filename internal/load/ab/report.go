package ab

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"

	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// Report writes the result in the format of ab's report, so that programs that parse ab's output can
// parse it.
func (o *Options) Report(w io.Writer, job *standalone.Job, r *result.Result) error {
	t := &report.ABLines{}
	t.Printf("\n")
	t.Server(report.Shown(r), job.URL.Hostname(), standalone.Port(job.URL))
	if _, err := netip.ParseAddr(job.URL.Hostname()); err != nil && r.Environment.TLS != nil {
		t.Row("TLS Server Name:", "%s", job.URL.Hostname())
	}
	t.Printf("")
	t.Row("Document Path:", "%s", job.Plan.Requests[0].Path)
	if length := job.Plan.Requests[0].Length; length >= 0 {
		t.Row("Document Length:", "%d bytes", length)
	} else {
		t.Row("Document Length:", "Variable")
	}
	t.Printf("")
	o.writeCounts(t, r)
	o.writeRates(t, r)
	if r.Merged.Succeeded() > 0 {
		summaries := r.Merged.Latencies.Summarize()
		o.writeTimes(t, summaries)
		if total := summaries[result.Total]; !o.NoPercents && total.Count > 1 {
			writePercents(t, total)
		}
	}
	_, err := io.WriteString(w, strings.Join(t.Preformatted, "\n")+"\n")
	return err
}

// writeCounts writes the counts. As with ab, a response of any status counts as complete. TLS errors count as
// connect errors and timeouts as receive errors, because ab has no such kinds.
func (o *Options) writeCounts(t *report.ABLines, r *result.Result) {
	c, e := r.Merged.Counts, r.Merged.Errors
	t.Row("Concurrency Level:", "%d", o.Concurrency)
	t.Row("Time taken for tests:", "%.3f seconds", float64(r.DurationMicroseconds)/1e6)
	t.Row("Complete requests:", "%d", c.Requests)
	failed := e.Total() - e[result.ErrorStatus]
	t.Row("Failed requests:", "%d", failed)
	if failed > 0 {
		t.Printf("   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)",
			e[result.ErrorConnect]+e[result.ErrorTLS], e[result.ErrorReceive]+e[result.ErrorTimeout], e[result.ErrorLength], e[result.ErrorException])
	}
	if c.Non2xx > 0 {
		t.Row("Non-2xx responses:", "%d", c.Non2xx)
	}
	if o.KeepAlive {
		t.Row("Keep-Alive requests:", "%d", keptAlive(c, int64(o.Concurrency)))
	}
	t.Row("Total transferred:", "%d bytes", c.BytesReceived)
	if o.Body != "" {
		t.Row("Total body sent:", "%d", c.BytesSent) // headers included, as ab counts
	}
	t.Row("HTML transferred:", "%d bytes", c.BodyBytes)
}

// writeRates writes what there was per second. Like ab, it reports bytes sent only for requests with a body.
func (o *Options) writeRates(t *report.ABLines, r *result.Result) {
	c, seconds := r.Merged.Counts, float64(r.DurationMicroseconds)/1e6
	if seconds <= 0 || c.Requests == 0 {
		return
	}
	t.Rates(float64(c.Requests)/seconds, c.Requests, int64(o.Concurrency), seconds)
	t.Row("Transfer rate:", "%.2f [Kbytes/sec] received", float64(c.BytesReceived)/1024/seconds)
	if o.Body != "" {
		t.Row("", "%.2f kb/s sent", float64(c.BytesSent)/1024/seconds)
		t.Row("", "%.2f kb/s total", float64(c.BytesReceived+c.BytesSent)/1024/seconds)
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
func (o *Options) writeTimes(t *report.ABLines, s result.Summaries) {
	rows := []struct {
		name, inWarning string
		result.Summary
	}{
		{"Connect:", "initial connection", o.connect(s)}, {"Processing:", "processing", phaseSummary(s, result.Processing)},
		{"Waiting:", "waiting", phaseSummary(s, result.Waiting)}, {"Total:", "total", phaseSummary(s, result.Total)},
	}
	t.Printf("\nConnection Times (ms)")
	if o.NoSpread {
		t.Printf("              min   avg   max")
		for _, row := range rows {
			t.Printf("%-12s%5d %5d%5d", row.name, ms(row.Min), meanMs(row.Summary), ms(row.Max))
		}
		return
	}
	t.Printf("              min  mean[+/-sd] median   max")
	for _, row := range rows {
		t.Printf("%-12s%5d %4d %5.1f %6d %7d",
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
func writeSkewWarning(t *report.ABLines, name string, s result.Summary) {
	apart := math.Abs(s.Mean() - float64(s.Percentiles[percentile.P50]))
	switch sd := float64(s.StdDev); {
	case apart > 2*sd:
		t.Printf("ERROR: The median and mean for the %s time are more than twice the standard\n       deviation apart. These results are NOT reliable.", name)
	case apart > sd:
		t.Printf("WARNING: The median and mean for the %s time are not within a normal deviation\n        These results are probably not that reliable.", name)
	}
}

func writePercents(t *report.ABLines, total *result.Summary) {
	t.Printf("\nPercentage of the requests served within a certain time (ms)")
	for _, p := range percentile.AB {
		t.Printf("  %s%%  %5d", p, ms(total.Percentiles[p]))
	}
	t.Printf(" 100%%  %5d (longest request)", ms(total.Max))
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
