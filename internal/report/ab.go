package report

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// block holds the figures of one block of a report: those of a client, or of all merged.
type block struct {
	concurrency       int64
	microseconds      int64
	counts            result.Counts
	requestsPerSecond float64
	// latencies include, in Connect and TLS, a zero for each request that reused a connection.
	latencies result.Summaries
}

func clientBlock(r *result.Result, c *result.Client) block {
	b := block{
		concurrency:       r.Run.Concurrency(r.Run.Connections),
		microseconds:      c.DurationMicroseconds(),
		counts:            c.Counts,
		requestsPerSecond: c.RequestsPerSecond(),
		latencies:         c.Summaries,
	}
	if c.Latencies.Get(result.Total).Count() > 0 {
		b.latencies = c.Latencies.Summarize()
	}
	return b
}

func mergedBlock(r *result.Result) block {
	concurrency := r.Run.Concurrency(cmp.Or(r.Run.AllConnections, r.Run.Connections*int64(len(r.Clients))))
	if r.Script != nil {
		concurrency = r.Script.VirtualUsers
	}
	b := block{
		concurrency:       concurrency,
		microseconds:      r.DurationMicroseconds,
		counts:            r.Merged.Counts,
		requestsPerSecond: r.RequestsPerSecond(),
		latencies:         r.Merged.Latencies.Summarize(),
	}
	if total := r.TotalSummary(); r.Run.Tool != "" && total.Count > 0 {
		b.latencies[result.Total] = &total
	}
	return b
}

// phase returns the summary of a phase. A phase that did not occur took 0 in each
// successful request, as Connect does if all connections were open before.
func (b block) phase(p result.Phase) result.Summary {
	if s := b.latencies[p]; s != nil {
		return *s
	}
	return result.Summary{Count: b.counts.Succeeded()}
}

// writeAB writes a block as ab prints it: the same lines with the same units in
// the same order (output_results in support/ab.c of Apache httpd 2.4), and further
// counters between them. abDifferences lists what differs.
func writeAB(w *paper, r *result.Result, b block) {
	line := func(name, format string, args ...any) { line(w, name, format, args...) }
	host, port, err := net.SplitHostPort(r.Environment.TargetAddress)
	if err != nil {
		host, port = r.Environment.TargetAddress, ""
	}
	line("Server Software:", "%s", r.Environment.ServerSoftware)
	line("Server Hostname:", "%s", host)
	line("Server Port:", "%s", port)
	if t := r.Environment.TLS; t != nil {
		line("SSL/TLS Protocol:", "%s,%s,%d,%d", t.Protocol, t.Cipher, t.KeySize, CipherBits(t.Cipher))
	}
	if r.Run.Streams > 0 {
		line("HTTP Protocol:", "%s, %d streams on each connection", cmp.Or(r.Environment.HTTP, result.HTTP2), r.Run.Streams)
	}
	w.printf("\n")
	writeDocuments(line, r)
	w.printf("\n")
	c := b.counts
	seconds := float64(b.microseconds) / 1e6
	if b.concurrency > 0 { // of a client of a script it isn't known
		line("Concurrency Level:", "%d", b.concurrency)
	}
	line("Time taken for tests:", "%.3f seconds", seconds)
	line("Complete requests:", "%d", c.Requests)
	line("Failed requests:", "%d", c.Errors.Total())
	writeFailures(w, c.Errors)
	zeros := map[string]bool{"keepAlive": r.Run.KeepAlive && r.Run.Tool != result.ToolSiege, "tlsResumed": usedTLS(r)} // siege doesn't count them
	for i := range result.Counters {
		f := &result.Counters[i]
		if n := *f.Of(&c); f.Label != "" && (n > 0 || zeros[f.Name]) {
			line(f.Label+":", "%d", n)
		}
	}
	line("Total transferred:", "%d bytes", c.BytesReceived)
	if r.Script == nil { // k6 counts whole responses alone
		line("HTML transferred:", "%d bytes", c.BodyBytes)
	}
	if succeeded := float64(c.Succeeded()); succeeded > 0 && seconds > 0 {
		line("Requests per second:", "%.2f [#/sec] (mean)", b.requestsPerSecond)
		if r.Run.Load == result.LoadClosed && r.Run.UserConnections == 0 { // in others not all connections are busy
			line("Time per request:", "%.3f [ms] (mean)", float64(b.concurrency)*seconds*1000/succeeded)
		}
		line("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", seconds*1000/succeeded)
	}
	if c.Requests > 0 && seconds > 0 {
		line("Transfer rate:", "%.2f [Kbytes/sec] received", float64(c.BytesReceived)/1024/seconds)
	}
	switch {
	case c.Succeeded() == 0:
	case r.Run.Tool != "":
		writeToolTimes(w, b)
	default:
		writeConnectionTimes(w, b)
		writePercentages(w, b)
	}
}

// writeToolTimes writes what another load generator printed about the total time. Others aren't known.
func writeToolTimes(w *paper, b block) {
	s := b.phase(result.Total)
	w.printf("\nConnection Times (ms), of %s as printed\n%-11s %9s %9s %9s %9s %9s\n", "the tool", "", "min", "mean", "[+/-sd]", "median", "max")
	w.printf("%-11s %9s %9s %9s %9s %9s\n", "Total:", known(s.Min), known(int64(s.Mean())), known(s.StdDev), known(s.Percentiles[percentile.P50]), known(s.Max))
	header := "\nPercentage of the requests served within a certain time (ms), of the tool as printed\n"
	for _, p := range percentile.AB {
		if s.Percentiles[p] != result.Unknown {
			w.printf("%s %3s%% %10.3f\n", header, p, ms(s.Percentiles[p]))
			header = ""
		}
	}
	if header == "" {
		w.printf(" 100%% %10.3f (longest request)\n", ms(s.Max))
	}
}

// known returns microseconds in ms, or - if they are unknown.
func known(microseconds int64) string {
	if microseconds == result.Unknown {
		return "-"
	}
	return fmt.Sprintf("%.3f", ms(microseconds))
}

// writeDocuments writes the requested documents: ab has one, a run may have
// several, each with its share.
func writeDocuments(line func(name, format string, args ...any), r *result.Result) {
	if r.Run.RequestList != nil {
		line("Document Path:", "%s", listName(r.Run.RequestList))
		line("Document Length:", "Variable")
		return
	}
	var weights int64
	for _, q := range r.Run.Requests {
		weights += q.Weight
	}
	name := "Document Path:"
	for _, q := range r.Run.Requests {
		text := requestName(q)
		if len(r.Run.Requests) > 1 {
			text += fmt.Sprintf(" (weight %d of %d)", q.Weight, weights)
		}
		if q.Elements > 0 {
			text += fmt.Sprintf(" and %d elements", q.Elements)
		}
		line(name, "%s", text)
		name = ""
	}
	name = "Document Length:"
	for _, q := range requestsOf(r) {
		text := "Variable"
		if q.Length >= 0 {
			text = fmt.Sprintf("%d bytes", q.Length)
		}
		line(name, "%s", text)
		name = ""
	}
}

// writeFailures writes ab's line of failed requests by kind, and a second one of
// the other kinds that occurred.
func writeFailures(w *paper, e result.ErrorCounts) {
	if e.Total() == 0 {
		return
	}
	var known, others []string
	for k, n := range e {
		label, ab := result.ErrorKind(k).Label()
		switch text := fmt.Sprintf("%s: %d", label, n); {
		case ab:
			known = append(known, text)
		case n > 0:
			others = append(others, text)
		}
	}
	w.printf("   (%s)\n", strings.Join(known, ", "))
	if len(others) > 0 {
		w.printf("   (%s)\n", strings.Join(others, ", "))
	}
}

func writeConnectionTimes(w *paper, b block) {
	w.printf("\nConnection Times (ms)\n%-11s %9s %9s %9s %9s %9s\n", "", "min", "mean", "[+/-sd]", "median", "max")
	row := func(name string, p result.Phase) {
		s := b.phase(p)
		w.printf("%-11s %9.3f %9.3f %9.3f %9.3f %9.3f\n", name,
			ms(s.Min), s.Mean()/1000, sampleStdDev(s)/1000, ms(s.Percentiles[percentile.P50]), ms(s.Max))
	}
	row("Connect:", result.Connect)
	if b.latencies[result.TLS] != nil {
		row("TLS:", result.TLS)
	}
	row("Processing:", result.Processing)
	row("Waiting:", result.Waiting)
	if b.latencies[result.Service] != nil {
		row("Service:", result.Service)
		row("Delay:", result.Delay)
	}
	row("Total:", result.Total)
}

// sampleStdDev returns the standard deviation as ab computes it, divided by one
// less than the number of requests, in microseconds.
func sampleStdDev(s result.Summary) float64 {
	if s.Count < 2 {
		return 0
	}
	return float64(s.StdDev) * math.Sqrt(float64(s.Count)/float64(s.Count-1))
}

func writePercentages(w *paper, b block) {
	w.printf("\nPercentage of the requests served within a certain time (ms)\n")
	total := b.phase(result.Total)
	for _, p := range percentile.AB {
		w.printf(" %3s%% %10.3f\n", p, ms(total.Percentiles[p]))
	}
	w.printf(" 100%% %10.3f (longest request)\n", ms(total.Max))
}
