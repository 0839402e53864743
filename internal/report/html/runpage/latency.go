package runpage

import (
	"fmt"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// distribution has the percentile curve.
func distribution(r *result.Result) doc.Section {
	c := chart.NewCurves(r)
	if c == nil {
		return doc.Section{}
	}
	caption := fmt.Sprintf("%s requests of all clients, from their merged histogram; the curve ends at their count and is thin where fewer than 10 requests lie beyond.", number.Count(c.Merged.Count))
	switch {
	case len(c.Envelope) > 0:
		caption += " Gray: the range of all clients, and the worst of them."
	case len(c.Clients) > 0:
		caption += " Thin gray lines: each client."
	case len(r.Clients) > 1:
		caption += " The clients' histograms were dropped to keep the stored result small."
	}
	return doc.Section{ID: "distribution", Title: "Distribution", Question: "How slow is slow, and how often?", Blocks: []doc.Block{
		doc.Plot{Drawing: c.Figure(), Table: percentileTable(r), Caption: caption},
	}}
}

// percentileTable has ab's percentiles and further ones of all clients and of each, in milliseconds.
func percentileTable(r *result.Result) *doc.Table {
	type row struct {
		name string
		result.Summary
	}
	rows := []row{{"all clients", r.TotalSummary()}}
	if len(r.Clients) > 1 {
		for i := range r.Clients {
			c := &r.Clients[i]
			s := c.Latencies.Get(result.Total).Summarize(0)
			if kept := c.Summaries[result.Total]; kept != nil {
				s = *kept
			}
			rows = append(rows, row{fmt.Sprintf("client %d", c.Index), s})
		}
	}
	fields := []doc.Field[row]{doc.Word("", func(x *row) string { return x.name })}
	for p := range percentile.Count {
		fields = append(fields, doc.Number(p.String()+"%", func(x *row) string {
			if x.Percentiles[p] == result.Unknown || x.Count == 0 {
				return "-"
			}
			return report.Milliseconds(x.Percentiles[p])
		}))
	}
	return doc.TableOf("Latency in ms by percentile", rows, append(fields,
		doc.Number("max", func(x *row) string { return report.Milliseconds(x.Max) }),
		doc.Number("requests", func(x *row) string { return number.Count(x.Count) }))...)
}

// phases has where the time of requests went.
func phases(r *result.Result) doc.Section {
	p := chart.NewPhases(r)
	if p == nil {
		return doc.Section{}
	}
	means := &doc.Table{Caption: "Means in ms, which add up", Columns: append(doc.Words(""), append(doc.Numbers(p.Names...), doc.Numbers("total")...)...)}
	for _, bar := range p.Bars {
		row := []string{bar.Name}
		for _, mean := range append(bar.Means, bar.Total) {
			row = append(row, number.Significant(mean))
		}
		means.Rows = append(means.Rows, row)
	}
	all := &doc.Table{Caption: "Each phase of all clients in ms; percentiles don't add up", Columns: append(doc.Words("phase"), doc.Numbers("requests", "mean", "p50", "p99", "max")...)}
	for phase, h := range r.Merged.Latencies {
		if h == nil || h.Count() == 0 {
			continue
		}
		all.Rows = append(all.Rows, []string{
			result.Phase(phase).String(), number.Count(h.Count()), number.Significant(h.Mean() / 1000),
			report.Milliseconds(h.Percentile(50)), report.Milliseconds(h.Percentile(99)), report.Milliseconds(h.Max()),
		})
	}
	return doc.Section{ID: "phases", Title: "Where the time goes", Question: "Network, handshake or server?", Blocks: []doc.Block{
		doc.Paragraph{"Means over all successful requests. A request on a reused connection took 0 to connect."},
		doc.Plot{Drawing: p.Figure(), Table: means},
		doc.Group{Title: "Percentiles of each phase", Folded: true, Blocks: []doc.Block{all}},
	}}
}
