package report

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// block holds the metrics of one block of a report: those of a client, or of all merged.
type block struct {
	name              string // "client 0", or "merged"
	concurrency       int64
	microseconds      int64
	counts            result.Counts
	requestsPerSecond float64
	// latencies include, in Connect and TLS, a zero for each request that reused a connection.
	latencies result.Summaries
}

func clientBlock(r *result.Result, c *result.Client) block {
	b := block{
		name:              "client " + strconv.Itoa(c.Index),
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
	concurrency := r.Run.Concurrency(r.Connections())
	if r.Script != nil {
		concurrency = r.Script.VirtualUsers
	}
	b := block{
		name:              "merged",
		concurrency:       concurrency,
		microseconds:      r.DurationMicroseconds,
		counts:            r.Merged.Counts,
		requestsPerSecond: r.RequestsPerSecond(),
		latencies:         r.Merged.Latencies.Summarize(),
	}
	if total := r.TotalSummary(); result.Prints(r.Run.Tool) && total.Count > 0 {
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

// ab returns what ab would print for each client and, if there are several, for all merged.
func ab(r *result.Result) []doc.Section {
	var all []doc.Section
	for i := range r.Clients {
		c := &r.Clients[i]
		all = append(all, doc.Section{ID: "ab", Title: fmt.Sprintf("Client %d on %s", c.Index, cmp.Or(c.Node, "unknown")), Blocks: []doc.Block{abLines(r, clientBlock(r, c))}})
	}
	if len(r.Clients) != 1 {
		all = append(all, doc.Section{ID: "ab", Title: fmt.Sprintf("All %d clients merged", len(r.Clients)), Blocks: []doc.Block{abLines(r, mergedBlock(r))}})
	}
	return all
}

// abLines returns a block as ab prints it: the same lines with the same units in
// the same order (output_results in support/ab.c of Apache httpd 2.4), and further
// counters between them. ABDifferences lists what differs.
func abLines(r *result.Result, b block) doc.Preformatted {
	w := &ABLines{}
	line := w.Row
	host, port, err := net.SplitHostPort(r.Environment.TargetAddress)
	if err != nil {
		host, port = r.Environment.TargetAddress, ""
	}
	w.Server(r, host, port)
	if address := r.Environment.ConnectedAddress; address != "" && address != r.Environment.TargetAddress {
		line("Connected to:", "%s", address)
	}
	if r.Run.Streams > 0 {
		line("HTTP Protocol:", "%s, %d streams on each connection", cmp.Or(r.Environment.HTTP, result.HTTP2), r.Run.Streams)
	}
	w.Printf("")
	writeDocuments(line, r)
	w.Printf("")
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
	if c.Unanswered > 0 {
		line("Unanswered requests:", "%d when the load was stopped, the oldest for %.3f seconds", c.Unanswered, float64(c.OldestUnanswered)/1e6)
	}
	line("Total transferred:", "%d bytes", c.BytesReceived)
	if r.Script == nil && r.Run.Tool != result.ToolK6 { // k6 counts whole responses alone
		line("HTML transferred:", "%d bytes", c.BodyBytes)
	}
	busy := int64(0)
	if r.Run.Load == result.LoadClosed && r.Run.UserConnections == 0 { // in others not all connections are busy
		busy = b.concurrency
	}
	w.Rates(b.requestsPerSecond, c.Succeeded(), busy, seconds)
	if c.Requests > 0 && seconds > 0 {
		line("Transfer rate:", "%.2f [Kbytes/sec] received", float64(c.BytesReceived)/1024/seconds)
	}
	switch {
	case c.Succeeded() == 0:
	case result.Prints(r.Run.Tool):
		writeToolTimes(w, b)
	default:
		writeConnectionTimes(w, b)
		total := b.phase(result.Total)
		w.percentages("Percentage of the requests served within a certain time (ms)", &total, percentile.AB)
	}
	return w.Preformatted
}

// writeToolTimes writes what another load generator printed about the total time. Others aren't known.
func writeToolTimes(w *ABLines, b block) {
	s := b.phase(result.Total)
	w.Printf("")
	w.Printf("Connection Times (ms), of the tool as printed")
	w.Printf("%-11s %9s %9s %9s %9s %9s", "", "min", "mean", "[+/-sd]", "median", "max")
	w.Printf("%-11s %9s %9s %9s %9s %9s", "Total:", known(s.Min), known(int64(s.Mean())), known(s.StdDev), known(s.Percentiles[percentile.P50]), known(s.Max))
	var known []percentile.Percentile
	for _, p := range percentile.AB {
		if s.Percentiles[p] != result.Unknown {
			known = append(known, p)
		}
	}
	if len(known) > 0 {
		w.percentages("Percentage of the requests served within a certain time (ms), of the tool as printed", &s, known)
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
func writeFailures(w *ABLines, e result.ErrorCounts) {
	if e.Total() == 0 {
		return
	}
	var known, others []string
	for k, n := range e {
		label, ofAB := result.ErrorKind(k).Label()
		switch text := fmt.Sprintf("%s: %d", label, n); {
		case ofAB:
			known = append(known, text)
		case n > 0:
			others = append(others, text)
		}
	}
	w.Printf("   (%s)", strings.Join(known, ", "))
	if len(others) > 0 {
		w.Printf("   (%s)", strings.Join(others, ", "))
	}
}

func writeConnectionTimes(w *ABLines, b block) {
	w.Printf("")
	w.Printf("Connection Times (ms)")
	w.Printf("%-11s %9s %9s %9s %9s %9s", "", "min", "mean", "[+/-sd]", "median", "max")
	row := func(name string, p result.Phase) {
		s := b.phase(p)
		w.Printf("%-11s %9.3f %9.3f %9.3f %9.3f %9.3f", name,
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
