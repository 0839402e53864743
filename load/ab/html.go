package ab

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/standalone"
)

// HTMLBanner is the format of the banner with -w. Its argument is the version.
const HTMLBanner = `<p>
 This is assay-load ab, Version %s, with the options and the report of
 <a href="https://httpd.apache.org/docs/2.4/programs/ab.html">ApacheBench</a><br>
</p>
`

// setAttributes sets *to to the HTML attributes of -x, -y or -z. They are written
// without escaping, so they must not contain characters that could end the tag.
func setAttributes(to *string, value string) error {
	if strings.ContainsAny(value, "<>\r\n") {
		return fmt.Errorf("%q must not contain <, > or line breaks", value)
	}
	*to = value
	return nil
}

// htmlTable writes the rows of ab's HTML report (output_html_results in support/ab.c).
type htmlTable struct {
	*Options
	bytes.Buffer
}

func (t *htmlTable) row(name, format string, args ...any) {
	text := html.EscapeString(fmt.Sprintf(format, args...))
	if name == "" {
		fmt.Fprintf(&t.Buffer, "<tr %s><td colspan=2 %s>&nbsp;</td><td colspan=2 %s>%s</td></tr>\n", t.RowAttributes, t.CellAttributes, t.CellAttributes, text)
		return
	}
	fmt.Fprintf(&t.Buffer, "<tr %s><th colspan=2 %s>%s</th><td colspan=2 %s>%s</td></tr>\n", t.RowAttributes, t.CellAttributes, name, t.CellAttributes, text)
}

func (t *htmlTable) times(name string, s result.Summary) {
	fmt.Fprintf(&t.Buffer, "<tr %s><th %s>%s</th>", t.RowAttributes, t.CellAttributes, name)
	for _, x := range []int64{ms(s.Min), meanMs(s), ms(s.Max)} {
		fmt.Fprintf(&t.Buffer, "<td %s>%5d</td>", t.CellAttributes, x)
	}
	fmt.Fprintf(&t.Buffer, "</tr>\n")
}

// ReportHTML writes the report of -w: an HTML table with the rows of ab's.
func (o *Options) ReportHTML(w io.Writer, job *standalone.Job, r *result.Result) error {
	t := &htmlTable{Options: o}
	c, seconds := r.Merged.Counts, float64(r.DurationMicroseconds)/1e6
	fmt.Fprintf(&t.Buffer, "\n\n<table %s>\n", o.TableAttributes)
	writeServer(t.row, job, r)
	writeDocument(t.row, job)
	o.writeCounts(t.row, r, func(connect, _, length, exceptions int64) {
		fmt.Fprintf(&t.Buffer, "<tr %s><td colspan=4 %s >   (Connect: %d, Length: %d, Exceptions: %d)</td></tr>\n",
			o.RowAttributes, o.CellAttributes, connect, length, exceptions)
	})
	if seconds > 0 && c.Requests > 0 {
		t.row("Requests per second:", "%.2f", float64(c.Requests)/seconds)
		t.row("Transfer rate:", "%.2f kb/s received", float64(c.BytesReceived)/1024/seconds)
		o.writeRatesWithBody(t.row, c, seconds)
	}
	if c.Succeeded() > 0 {
		s := r.Merged.Latencies.Summarize()
		fmt.Fprintf(&t.Buffer, "<tr %s><th %s colspan=4>Connection Times (ms)</th></tr>\n", o.RowAttributes, o.CellAttributes)
		fmt.Fprintf(&t.Buffer, "<tr %s><th %s>&nbsp;</th> <th %s>min</th>   <th %s>avg</th>   <th %s>max</th></tr>\n",
			o.RowAttributes, o.CellAttributes, o.CellAttributes, o.CellAttributes, o.CellAttributes)
		t.times("Connect:", o.connect(s))
		t.times("Processing:", phaseSummary(s, result.Processing))
		t.times("Total:", phaseSummary(s, result.Total))
	}
	fmt.Fprintf(&t.Buffer, "</table>\n")
	_, err := w.Write(t.Bytes())
	return err
}
