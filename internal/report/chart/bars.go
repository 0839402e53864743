package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// maxBars is the number of bars up to which clients have one each; the table has all.
const maxBars = 9

// bar returns a bar in a row, from one value to another.
func bar(from, to float64, color plot.Color, tip string) plot.Rect {
	const top, bottom = 5, plot.RowHeight - 5
	return plot.Rect{From: plot.Point{X: from, Y: top}, To: plot.Point{X: to, Y: bottom}, Color: color, Tip: tip}
}

// phase is a part of the total time, of the means of all phases in microseconds.
type phase struct {
	name  string
	color plot.Color
	of    func(means *[result.Phases]float64) float64
}

// phases are the parts of the total time in their order. Sending is what is left of the processing.
var phases = []phase{
	{"delay", plot.VariantColor(0), func(m *[result.Phases]float64) float64 { return m[result.Delay] }},
	{"connect", plot.VariantColor(1), func(m *[result.Phases]float64) float64 { return m[result.Connect] }},
	{"TLS", plot.VariantColor(2), func(m *[result.Phases]float64) float64 { return m[result.TLS] }},
	{"sending", plot.VariantColor(3), func(m *[result.Phases]float64) float64 {
		return max(0, m[result.Processing]-m[result.Waiting]-m[result.Receiving])
	}},
	{"waiting", plot.VariantColor(4), func(m *[result.Phases]float64) float64 { return m[result.Waiting] }},
	{"receiving", plot.VariantColor(5), func(m *[result.Phases]float64) float64 { return m[result.Receiving] }},
}

// Phases draws the mean time of each phase that occurred: a bar in parts for all clients together, and one for each. It has
// nothing if no request succeeded.
func Phases(r *result.Result) doc.Plot {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return doc.Plot{}
	}
	names, means := []string{"all clients"}, []*[result.Phases]float64{phaseMeans(&r.Merged.Latencies, &result.Summaries{})}
	if len(r.Clients) > 1 {
		for i := range r.Clients {
			c := &r.Clients[i]
			names, means = append(names, clientName(c)), append(means, phaseMeans(&c.Latencies, &c.Summaries))
		}
	}
	p := plot.Plot{Axis: "mean time of a successful request, ms", XName: "ms", Invalid: invalid(r)}
	table := &doc.Table{Caption: "Means in ms, which add up", Columns: doc.Words("")}
	var occurred []phase
	var texts []string
	for _, part := range phases {
		if mean := part.of(means[0]) / 1000; mean > 0 {
			occurred, texts = append(occurred, part), append(texts, part.name+" "+milliseconds(mean))
			p.Names = append(p.Names, plot.Name{Text: part.name, Stroke: plot.Stroke{Color: part.color}, Box: true})
			table.Columns = append(table.Columns, doc.Numbers(part.name)...)
		}
	}
	table.Columns = append(table.Columns, doc.Numbers("total")...)
	most := 0.0
	for i, name := range names {
		row, cells, total := plot.Row{Name: name, Bold: i == 0}, []string{name}, 0.0
		for _, part := range occurred {
			mean := part.of(means[i]) / 1000
			row.Marks = append(row.Marks, bar(total, total+mean, part.color, fmt.Sprintf("%s, %s: %s", name, part.name, milliseconds(mean))))
			cells, total = append(cells, number.Significant(mean)), total+mean
		}
		table.Rows = append(table.Rows, append(cells, number.Significant(total)))
		row.Texts = []plot.Text{{Text: milliseconds(total)}}
		if i < maxBars {
			p.Rows, most = append(p.Rows, row), max(most, total)
		}
	}
	p.X = plot.Linear(0, most)
	f := plot.Of("Where the time goes: mean of each phase", fmt.Sprintf("Over all clients: %s; total %s.", strings.Join(texts, ", "), p.Rows[0].Texts[0].Text), p)
	if more := len(names) - maxBars; more > 0 {
		f.Note = fmt.Sprintf("%d more clients are in the table.", more)
	}
	return doc.Plot{Drawing: f, Table: table}
}

func milliseconds(ms float64) string { return number.Unit(number.Significant(ms), "ms") }

func clientName(c *result.Client) string { return fmt.Sprintf("client %d", c.Index) }

// phaseMeans returns the mean of each phase over all successful requests in microseconds, of summaries where there are any.
func phaseMeans(histograms *result.Latencies, summaries *result.Summaries) *[result.Phases]float64 {
	var means [result.Phases]float64
	count := histograms.Get(result.Total).Count()
	if total := summaries[result.Total]; total != nil {
		count = total.Count
	}
	if count == 0 {
		return &means
	}
	for phase := range means {
		sum := histograms.Get(result.Phase(phase)).Sum()
		if s := summaries[phase]; s != nil {
			sum = s.Sum
		}
		means[phase] = float64(sum) / float64(count)
	}
	return &means
}

// Errors draws a bar for each kind of failed requests with count and share. It has nothing if none failed.
func Errors(r *result.Result) doc.Plot {
	requests := r.Merged.Requests
	p := plot.Plot{Axis: "failed requests by kind: number, and share of all requests", Invalid: invalid(r)}
	table := &doc.Table{Caption: "Failed requests by kind", Columns: append(doc.Words("kind"), doc.Numbers("requests", "share of all requests")...)}
	most := int64(1)
	var texts []string
	for kind, n := range r.Merged.Errors.Occurred() {
		name, count, share := kind.String(), number.Count(n), number.Share(n, requests)
		most, texts = max(most, n), append(texts, name+" "+count)
		table.Rows = append(table.Rows, []string{name, count, share})
		p.Rows = append(p.Rows, plot.Row{
			Name: name, Texts: []plot.Text{{Text: fmt.Sprintf("%s (%s)", count, share)}}, Marks: []plot.Mark{bar(0, float64(n), plot.ErrorColor(int(kind)), "")},
		})
	}
	if len(p.Rows) == 0 {
		return doc.Plot{}
	}
	p.X = plot.LinearExact(float64(most))
	p.X.Ticks = nil // each bar has its number
	return doc.Plot{Drawing: plot.Of("Failed requests by kind", strings.Join(texts, ", ")+fmt.Sprintf(" of %s requests.", number.Count(requests)), p), Table: table}
}
