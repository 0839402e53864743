package runpage

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// ordered returns blocks in the order of pages: texts first, then facts, then tables.
func ordered(blocks []doc.Block) (texts, others []doc.Block) {
	var tables []doc.Block
	for _, b := range doc.Shown(blocks) {
		switch b.(type) {
		case doc.Paragraph, doc.List:
			texts = append(texts, b)
		case doc.Facts:
			others = append(others, b)
		default:
			tables = append(tables, b)
		}
	}
	return texts, append(others, tables...)
}

// asked returns a section of the text report with the question that it answers, and with a plot below its texts.
func asked(s doc.Section, id, question string, drawn doc.Plot) doc.Section {
	if len(s.Blocks) == 0 {
		return s
	}
	texts, others := ordered(s.Blocks)
	page := doc.Section{ID: id, Title: s.Title, Question: question, Blocks: texts}
	page.Add(drawn)
	page.Add(others...)
	return page
}

// thresholds has the declared bounds and what was measured.
func thresholds(r *result.Result) doc.Section {
	s := doc.Section{ID: "thresholds", Title: "Thresholds", Question: "Is it good enough?"}
	if drawn := chart.Thresholds(r); drawn.Drawing != nil {
		s.Add(drawn)
	} else if drawn.Table != nil {
		s.Add(drawn.Table)
	}
	return s
}

// distribution has the percentile curve.
func distribution(r *result.Result) doc.Section {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return doc.Section{}
	}
	return doc.Section{ID: "distribution", Title: "Distribution", Question: "How slow is slow, and how often?", Blocks: []doc.Block{chart.Percentiles(r)}}
}

// phases has where the time of requests went.
func phases(r *result.Result) doc.Section {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return doc.Section{}
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
		doc.Paragraph{"Means over all successful requests. A request on a reused connection took 0 to connect."}, chart.Phases(r),
		doc.Group{Title: "Percentiles of each phase", Folded: true, Blocks: []doc.Block{all}},
	}}
}

// failures has the failed requests by kind.
func failures(r *result.Result) doc.Section {
	s := doc.Section{ID: "errors", Title: "Errors", Question: "What failed, and how?"}
	switch requests := r.Merged.Requests; {
	case requests == 0:
		s.Add(doc.Paragraph{"No request was completed."})
	case r.Merged.Errors.Total() == 0:
		s.Add(doc.Paragraph{fmt.Sprintf("None of %s requests failed.", number.Count(requests))})
	default:
		for _, log := range r.ServerErrors {
			s.Add(doc.Paragraph{fmt.Sprintf("%s logged %s under load. The first: %s", log.Container, number.Plural(int(log.Lines), "error"), log.First)})
		}
		s.Add(chart.Errors(r))
	}
	return s
}

// pages has what users who load pages had.
func pages(r *result.Result) doc.Section {
	return asked(report.Pages(r), "pages", "How long does a user wait for a page?", doc.Plot{})
}

// arrivals has how well an open load kept its rate.
func arrivals(r *result.Result) doc.Section {
	return asked(report.Arrivals(r), "arrivals", "Was the target rate met?", chart.Arrivals(r))
}

// levels has the figures of a load with stages, as those of R5.
func levels(r *result.Result) doc.Section {
	if len(r.Levels) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "levels", Title: "Levels", Question: "How does it take more load, and where does it break?"}
	points, table := ordered(report.BreakingPoints(r).Blocks)
	s.Add(doc.Paragraph{"Dots are levels; between them nothing was held. Vertical rules are breaking points."})
	s.Add(points...)
	s.Add(report.LevelFailures(r))
	for _, drawn := range chart.Levels(r) {
		s.Add(drawn)
	}
	if len(table) > 0 {
		s.Add(doc.Group{Title: "Breaking points", Blocks: table})
	}
	for _, t := range report.LevelTables(r) {
		s.Add(doc.Group{Title: t.Caption, Folded: true, Blocks: []doc.Block{t}})
	}
	return s
}

// maxRows is the number of rows of clients from which on their tables are folded.
const maxRows = 12

// clients has what the clients used.
func clients(r *result.Result) doc.Section {
	s := doc.Section{ID: "clients", Title: "Clients", Question: "Was it the client?"}
	own, around := report.Clients(r), report.AroundClients(r)
	var others []doc.Block
	for _, part := range []doc.Section{report.Summary(r), own, around} {
		texts, blocks := ordered(part.Blocks)
		if part.Title == report.Summary(r).Title {
			if r.Run.Standalone {
				continue
			}
			texts = nil // they are conditions
		}
		s.Add(texts...)
		others = append(others, titled(part.Title, part.Title != own.Title, blocks, len(r.Clients))...)
	}
	s.Add(chart.Clients(r))
	s.Add(others...)
	return s
}

// titled returns blocks under a title. Tables of many clients would hide what follows: they are folded.
func titled(title string, shown bool, blocks []doc.Block, clients int) []doc.Block {
	var all []doc.Block
	for i, b := range blocks {
		switch _, table := b.(*doc.Table); {
		case table && clients > maxRows:
			b = doc.Group{Title: fmt.Sprintf("%s, %d clients", title, clients), Folded: true, Blocks: []doc.Block{b}}
		case i == 0 && shown:
			b = doc.Group{Title: title, Blocks: []doc.Block{b}}
		}
		all = append(all, b)
	}
	return all
}

// target has what the containers of the target used.
func target(r *result.Result) doc.Section {
	if r.Run.Standalone {
		return doc.Section{}
	}
	s := doc.Section{ID: "target", Title: "Target", Question: "What did the server use?", Blocks: []doc.Block{report.SharedLimit(r)}}
	for _, c := range report.Containers(r) {
		s.Add(c)
	}
	for _, more := range []doc.Section{report.AroundTarget(r), report.TLS(r)} {
		if len(more.Blocks) > 0 {
			s.Add(doc.Group{Title: more.Title, Blocks: more.Blocks})
		}
	}
	return s
}

// conditions has the environment and the spec.
func conditions(r *result.Result, spec string) doc.Section {
	s := doc.Section{ID: "conditions", Title: "Conditions", Question: "Under what conditions was it measured?", Blocks: []doc.Block{report.Meaning(&r.Run)}}
	if !r.Run.Standalone {
		s.Add(report.Environment(r, "not available").Blocks...)
	}
	if spec != "" {
		s.Add(doc.Group{Title: "spec, as YAML", Folded: true, Blocks: []doc.Block{doc.Preformatted(strings.Split(strings.TrimSpace(spec), "\n"))}})
	}
	return s
}

// ab has the lines of ab's report.
func ab(r *result.Result) doc.Section {
	s := doc.Section{ID: "ab", Title: "ab's lines", Question: "What would ab have printed?"}
	if !r.Run.Standalone {
		s.Add(doc.Paragraph{strings.Join(report.ABDifferences, " ")})
	}
	for _, part := range report.AB(r) {
		s.Add(doc.Group{Title: part.Title, Folded: true, Blocks: part.Blocks})
	}
	return s
}
