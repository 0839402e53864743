package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// File is one of several files of a format.
type File struct {
	// Name is the base name, which has no text from users.
	Name string
	Data []byte
}

// The files of the format gnuplot.
const (
	scriptFile      = "report.gp"
	seriesFile      = "series.dat"
	percentilesFile = "percentiles.dat"
	requestsFile    = "requests.dat"
)

// GnuplotFiles returns a script for gnuplot 5 and the files of data that it reads, as far as the result has them. The
// list of requests, as "ab -g" writes it, is for other scripts.
func GnuplotFiles(r *result.Result) ([]File, error) {
	var script bytes.Buffer
	if err := writeScriptText(&script, r, func(name string, _ func(io.Writer, *result.Result) error) (string, error) {
		return "'" + name + "'", nil
	}); err != nil {
		return nil, err
	}
	files := []File{{scriptFile, script.Bytes()}}
	for _, data := range []struct {
		name  string
		write func(io.Writer, *result.Result) error
	}{{seriesFile, writeSeriesData}, {percentilesFile, writePercentilesData}, {requestsFile, writeRequestsData}} {
		var b bytes.Buffer
		if err := data.write(&b, r); err == nil { // else the result has no such data
			files = append(files, File{data.name, b.Bytes()})
		}
	}
	return files, nil
}

// writeGnuplot writes a script for gnuplot 5 with its data in it, which can be piped into gnuplot.
func writeGnuplot(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	if err := writeScriptText(&b, r, func(name string, write func(io.Writer, *result.Result) error) (string, error) {
		block := "$" + strings.TrimSuffix(name, ".dat")
		fmt.Fprintf(&b, "%s << END_OF_DATA\n", block)
		if err := write(&b, r); err != nil {
			return "", err
		}
		fmt.Fprint(&b, "END_OF_DATA\n")
		return block, nil
	}); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// quoted returns a text as a string of gnuplot. In single quotes only a single quote has a meaning; backquotes, which
// run a command elsewhere, are replaced all the same.
func quoted(text string) string {
	return "'" + strings.NewReplacer("'", "''", "`", "´").Replace(printable.Text(text)) + "'"
}

// writeScriptText writes the script. data returns what its plots have in the place of a file, given the name and the
// function that writes it.
func writeScriptText(b *bytes.Buffer, r *result.Result, data func(name string, write func(io.Writer, *result.Result) error) (string, error)) error {
	r = Shown(r)
	panels := panelsOf(r)
	latencies := r.Merged.Latencies.Get(result.Total).Count() > 0
	if len(panels) == 0 && !latencies {
		return errNoLatencies
	}
	fmt.Fprintf(b, "# For gnuplot 5: gnuplot %s > report.svg\n", scriptFile)
	fmt.Fprintln(b, "set encoding utf8")
	var series, percentiles string
	var err error
	if len(panels) > 0 {
		if series, err = data(seriesFile, writeSeriesData); err != nil {
			return err
		}
	}
	rows := len(panels)
	if latencies {
		rows++
		if percentiles, err = data(percentilesFile, writePercentilesData); err != nil {
			return err
		}
	}
	fmt.Fprintf(b, "set terminal svg noenhanced size 1000,%d background rgb 'white'\n", 60+300*rows)
	fmt.Fprintf(b, "set multiplot layout %d,1 title %s\n", rows, quoted(fmt.Sprintf("%s: %s", nameOf(r), Headline(r))))
	fmt.Fprint(b, "set grid\nset key outside right top noenhanced\nset lmargin at screen 0.10\nset rmargin at screen 0.80\n")
	fmt.Fprint(b, "set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\nset xlabel 'seconds since the start'\n")
	for i, p := range panels {
		if i == 0 {
			end := plottedEnd(r)
			fmt.Fprintf(b, "# A last point that the measurement hardly reached has too few requests to be drawn.\n")
			fmt.Fprintf(b, "plotted(second, seconds, y) = second + seconds <= %d ? y : NaN\nset xrange [0:%d]\n", end, end)
		}
		fmt.Fprintf(b, "set ylabel %s\nplot %s\n", quoted(p.label), p.plots(series))
	}
	if latencies {
		fmt.Fprint(b, "set logscale x\nset xrange [1:*]\nset xlabel 'percentile'\nset ylabel 'ms'\n")
		fmt.Fprintln(b, "set xtics ('0%%' 1, '50%%' 2, '90%%' 10, '99%%' 100, '99.9%%' 1000, '99.99%%' 10000, '99.999%%' 100000, '99.9999%%' 1000000)")
		fmt.Fprintf(b, "plot %s using 4:1 with lines title 'total time'\n", percentiles)
	}
	fmt.Fprintln(b, "unset multiplot")
	return nil
}

// plottedEnd returns the end of the last point of the series of which at least a half was measured, in seconds.
func plottedEnd(r *result.Result) int64 {
	end := int64(0)
	for i := range r.Series {
		s := &r.Series[i]
		if seconds := max(s.Seconds, 1); i == 0 || r.DurationMicroseconds >= s.Second*1_000_000+seconds*500_000 {
			end = s.Second + seconds
		}
	}
	return end
}

// panel is a plot of columns of the series.
type panel struct {
	label  string
	curves []curve
}

// curve is an expression of gnuplot with a column of the series, and its title.
type curve struct{ values, title string }

// plots returns the curves for the command plot. A point is in the middle of its seconds.
func (p *panel) plots(series string) string {
	var texts []string
	for _, c := range p.curves {
		texts = append(texts, fmt.Sprintf("%s using ($1+$2/2.):(plotted($1,$2,%s)) with linespoints pointtype 7 pointsize 0.4 title %s", series, c.values, quoted(c.title)))
	}
	return strings.Join(texts, ", \\\n  ")
}

// panelsOf returns the plots of the columns that have a value: throughput, total times, and CPU times.
func panelsOf(r *result.Result) []panel {
	columns, end := seriesColumns(r), plottedEnd(r)
	build := func(label string, title func(name string) (string, bool)) panel {
		p := panel{label: label}
		for i, c := range columns {
			text, wanted := title(c.Name)
			if wanted && slices.ContainsFunc(r.Series, func(s result.Second) bool { return s.Second+max(s.Seconds, 1) <= end && c.Of(&s) != "" }) {
				values := fmt.Sprintf("$%d", i+1)
				if c.Name == "failed" {
					values += "/$2" // a number, not a rate
				}
				p.curves = append(p.curves, curve{values, text})
			}
		}
		return p
	}
	named := func(titles map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { text, ok := titles[name]; return text, ok }
	}
	cpu := func(name string) (string, bool) {
		container, ok := strings.CutPrefix(name, "cpu_percent_")
		switch name {
		case "client_cpu_percent":
			return "clients", true
		case "idle_percent":
			return "idle", true
		}
		return container, ok
	}
	var panels []panel
	for _, p := range []panel{
		build("requests/s", named(map[string]string{"requests_per_second": "successful", "failed": "failed"})),
		build("total time in ms", named(map[string]string{"p50_ms": "p50", "p90_ms": "p90", "p99_ms": "p99", "max_ms": "maximum", "mean_ms": "mean"})),
		build("CPU in %", cpu),
	} {
		if len(p.curves) > 0 {
			panels = append(panels, p)
		}
	}
	return panels
}

// writeSeriesData writes the columns of csv=series for gnuplot. What is unknown is NaN.
func writeSeriesData(w io.Writer, r *result.Result) error {
	if len(r.Series) == 0 {
		return errNoSeries
	}
	r = Shown(r)
	return writeData(w, doc.Records(r.Series, seriesColumns(r)...))
}

// writePercentilesData writes the percentile distribution of total times for gnuplot: as hgrm, but with a comment as
// heading and without a value for the infinite inverse.
func writePercentilesData(w io.Writer, r *result.Result) error {
	lines := percentileDistribution(r.Merged.Latencies.Get(result.Total))
	if len(lines) == 0 {
		return errNoLatencies
	}
	all := [][]string{{"value_ms", "percentile", "total_count", "1/(1-percentile)"}}
	for _, l := range lines {
		inverse := ""
		if l.percent < 100 {
			inverse = decimals(100/(100-l.percent), 2)
		}
		all = append(all, []string{decimals(ms(l.value), 3), decimals(l.percent/100, 12), fmt.Sprint(l.count), inverse})
	}
	return writeData(w, all)
}

// writeData writes records as columns that gnuplot reads, the first one as a comment. Fields without a space are
// expected.
func writeData(w io.Writer, records [][]string) error {
	var b bytes.Buffer
	for i, record := range records {
		if i == 0 {
			fmt.Fprint(&b, "# ")
		}
		for j, field := range record {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strings.ReplaceAll(cmp.Or(field, "NaN"), " ", "_"))
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}
