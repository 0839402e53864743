package report

import (
	"fmt"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// ABLines are the lines of a report in the format of ab's (output_results in support/ab.c of Apache httpd 2.4).
type ABLines struct{ doc.Preformatted }

// Printf adds a line.
func (w *ABLines) Printf(format string, args ...any) {
	w.Preformatted = append(w.Preformatted, fmt.Sprintf(format, args...))
}

// Row adds a line with a name, which may be empty.
func (w *ABLines) Row(name, format string, args ...any) {
	w.Printf("%-23s %s", name, fmt.Sprintf(format, args...))
}

// Server adds what is known of the server.
func (w *ABLines) Server(r *result.Result, host, port string) {
	w.Row("Server Software:", "%s", r.Environment.ServerSoftware)
	w.Row("Server Hostname:", "%s", host)
	w.Row("Server Port:", "%s", port)
	if t := r.Environment.TLS; t != nil {
		w.Row("SSL/TLS Protocol:", "%s,%s,%d,%d", t.Protocol, t.Cipher, t.KeySize, CipherBits(t.Cipher))
	}
}

// Rates adds what a number of requests took, if there are any. The time of one of several concurrent requests is only known if
// concurrency is.
func (w *ABLines) Rates(perSecond float64, requests, concurrency int64, seconds float64) {
	if requests == 0 || seconds <= 0 {
		return
	}
	w.Row("Requests per second:", "%.2f [#/sec] (mean)", perSecond)
	if concurrency > 0 {
		w.Row("Time per request:", "%.3f [ms] (mean)", float64(concurrency)*seconds*1000/float64(requests))
	}
	w.Row("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", seconds*1000/float64(requests))
}

// percentages adds the times in which shares of the requests were served.
func (w *ABLines) percentages(title string, s *result.Summary, of []percentile.Percentile) {
	w.Printf("")
	w.Printf("%s", title)
	for _, p := range of {
		w.Printf(" %3s%% %10.3f", p, ms(s.Percentiles[p]))
	}
	w.Printf(" 100%% %10.3f (longest request)", ms(s.Max))
}
