package runpage

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// blocks returns a part of the text report as blocks.
func blocks(p *report.Part) (all []html.Block) {
	if len(p.Facts) > 0 {
		all = append(all, html.Block{Facts: facts(p)})
	}
	for i, t := range p.Tables {
		caption := p.Title
		if len(p.Tables) > 1 {
			caption = fmt.Sprintf("%s, table %d of %d", p.Title, i+1, len(p.Tables))
		}
		all = append(all, html.Block{Table: table(caption, t)})
	}
	return all
}

// lines returns the lines of texts.
func lines(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.Split(text, "\n")...)
	}
	return all
}

func facts(p *report.Part) (facts []html.Fact) {
	for _, f := range p.Facts {
		facts = append(facts, html.Fact{Name: f.Name, Value: f.Text})
	}
	return facts
}

// arrivals adds how well an open load kept its rate.
func (b *builder) arrivals() {
	p := b.parts["Arrivals"]
	if p == nil {
		return
	}
	s := html.Section{ID: "arrivals", Title: p.Title, Question: "Was the target rate met?", Paragraphs: lines(p.Paragraphs)}
	s.Blocks = append([]html.Block{{Picture: drawIf(chart.NewArrivals(b.r))}}, blocks(p)...)
	b.add(s)
}

// thresholds adds the declared bounds with the figures.
func (b *builder) thresholds() {
	if len(b.r.Thresholds) == 0 {
		return
	}
	s := html.Section{ID: "thresholds", Title: "Thresholds", Question: "Is it good enough?"}
	t := &html.Table{Caption: "Thresholds", Columns: html.Words("metric", "bound", "actual", "outcome")}
	for i := range b.r.Thresholds {
		o, outcome := &b.r.Thresholds[i], "met"
		switch {
		case b.page.Invalid:
			outcome = "unknown: result not valid"
		case !o.Met:
			outcome = "MISSED"
		}
		t.Rows = append(t.Rows, []string{o.Metric, o.Bound, chart.ActualText(o), outcome})
	}
	s.Blocks = []html.Block{{Picture: drawIf(chart.NewBounds(b.r)), Table: t}}
	if s.Blocks[0].Picture == nil {
		s.Blocks = []html.Block{{Table: t}}
	}
	b.add(s)
}

// drawer is a chart that can be drawn at any width.
type drawer interface {
	comparable
	Draw(width float64) *picture.Picture
}

// drawIf draws a chart; nil if there is none.
func drawIf[T drawer](c T) *html.Drawing {
	var none T
	if c == none {
		return nil
	}
	return draw(c.Draw)
}

// phases adds where the time of requests went.
func (b *builder) phases() {
	p := chart.NewPhases(b.r)
	if p == nil {
		return
	}
	means := &html.Table{Caption: "Means in ms, which add up", Columns: html.Words("")}
	for _, name := range p.Names {
		means.Columns = append(means.Columns, html.Numbers(name)...)
	}
	means.Columns = append(means.Columns, html.Numbers("total")...)
	for _, bar := range p.Bars {
		row := []string{bar.Name}
		for _, mean := range bar.Means {
			row = append(row, picture.Significant(mean))
		}
		means.Rows = append(means.Rows, append(row, picture.Significant(bar.Total)))
	}
	all := &html.Table{Caption: "Each phase of all clients in ms; percentiles don't add up", Columns: append(html.Words("phase"), html.Numbers("requests", "mean", "p50", "p99", "max")...)}
	for phase, h := range b.r.Merged.Latencies {
		if h == nil || h.Count() == 0 {
			continue
		}
		all.Rows = append(all.Rows, []string{
			result.Phase(phase).String(), picture.Count(h.Count()), picture.Significant(h.Mean() / 1000), milliseconds(h.Percentile(50)), milliseconds(h.Percentile(99)), milliseconds(h.Max()),
		})
	}
	b.add(html.Section{
		ID: "phases", Title: "Where the time goes", Question: "Network, handshake or server?",
		Paragraphs: []string{"Means over all successful requests. A request on a reused connection took 0 to connect."},
		Blocks:     []html.Block{{Picture: draw(p.Draw), Table: means}, {Title: "Percentiles of each phase", Folded: true, Table: all}},
	})
}

// errors adds the failed requests by kind.
func (b *builder) errors() {
	s := html.Section{ID: "errors", Title: "Errors", Question: "What failed, and how?"}
	e := chart.NewErrors(b.r)
	if e == nil {
		s.Paragraphs = []string{fmt.Sprintf("None of %s requests failed.", picture.Count(b.r.Merged.Requests))}
		if b.r.Merged.Requests == 0 {
			s.Paragraphs = []string{"No request was completed."}
		}
		b.add(s)
		return
	}
	t := &html.Table{Caption: "Failed requests by kind", Columns: append(html.Words("kind"), html.Numbers("requests", "share of all requests")...)}
	for _, bar := range e.Bars {
		t.Rows = append(t.Rows, []string{bar.Name, picture.Count(bar.Count), picture.Share(bar.Count, e.Requests)})
	}
	s.Blocks = []html.Block{{Picture: draw(e.Draw), Table: t}}
	for _, log := range b.r.ServerErrors {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%s logged %s under load. The first: %s", log.Container, plural(int(log.Lines), "error"), log.First))
	}
	b.add(s)
}

// pages adds what users who load pages had.
func (b *builder) pages() {
	p := b.parts["Pages"]
	if p == nil {
		return
	}
	b.add(html.Section{ID: "pages", Title: p.Title, Question: "How long does a user wait for a page?", Paragraphs: lines(p.Paragraphs), Blocks: blocks(p)})
}

// levels adds the figures of a load with stages, as those of R5.
func (b *builder) levels() {
	p := b.parts["Levels"]
	if p == nil {
		return
	}
	s := html.Section{ID: "levels", Title: "Levels", Question: "How does it take more load, and where does it break?"}
	l := chart.NewLevels(b.r)
	for _, plot := range l.Plots {
		s.Blocks = append(s.Blocks, html.Block{Picture: draw(func(width float64) *picture.Picture { return l.Draw(plot, width) })})
	}
	s.Paragraphs = []string{"Dots are levels; between them nothing was held. Vertical rules are breaking points."}
	if points := b.parts["Breaking points"]; points != nil {
		s.Paragraphs = append(s.Paragraphs, lines(points.Paragraphs)...)
		s.Blocks = append(s.Blocks, html.Block{Title: "Breaking points", Table: table("Breaking points", points.Tables[0])})
	}
	for i, t := range p.Tables {
		caption := "Levels"
		if i < len(p.Paragraphs) {
			caption = strings.TrimSuffix(p.Paragraphs[i], ".")
		}
		s.Blocks = append(s.Blocks, html.Block{Title: caption, Folded: true, Table: table(caption, t)})
	}
	s.Paragraphs = append(s.Paragraphs, lines(p.Paragraphs[min(len(p.Tables), len(p.Paragraphs)):])...)
	b.add(s)
}

// clients adds what the clients used.
func (b *builder) clients() {
	s := html.Section{ID: "clients", Title: "Clients", Question: "Was it the client?"}
	if c := chart.NewClients(b.r); c != nil {
		s.Blocks = append(s.Blocks, html.Block{Picture: draw(c.Draw)})
	}
	for _, title := range []string{"Summary", "Clients", "Client", "Around the clients", "Around the client"} {
		p := b.parts[title]
		if p == nil || title == "Summary" && b.r.Run.Standalone {
			continue
		}
		all := blocks(p)
		if len(all) > 0 && title != "Clients" && title != "Client" {
			all[0].Title = title
		}
		if title != "Summary" {
			s.Paragraphs = append(s.Paragraphs, lines(p.Paragraphs)...)
		}
		// The tables of many clients would hide what follows.
		if len(b.r.Clients) > maxRows {
			for i := range all {
				if all[i].Table != nil {
					all[i].Title, all[i].Folded = fmt.Sprintf("%s, %d clients", title, len(b.r.Clients)), true
				}
			}
		}
		s.Blocks = append(s.Blocks, all...)
	}
	b.add(s)
}

// maxRows is the number of rows of clients from which on their tables are folded.
const maxRows = 12

// target adds what the containers of the target used.
func (b *builder) target() {
	p := b.parts["Target"]
	if p == nil {
		return
	}
	s := html.Section{ID: "target", Title: "Target", Question: "What did the server use?"}
	var one []html.Fact
	name := ""
	flush := func() {
		if len(one) > 0 {
			s.Blocks = append(s.Blocks, html.Block{Title: name, Facts: one})
		}
		one = nil
	}
	for _, f := range facts(p) {
		if f.Name == "Container" {
			flush()
			name = f.Value
			continue
		}
		one = append(one, f)
	}
	flush()
	for _, title := range []string{"Around the target", "TLS"} {
		if more := b.parts[title]; more != nil {
			s.Blocks = append(s.Blocks, html.Block{Title: title, Facts: facts(more)})
		}
	}
	b.add(s)
}

// conditions adds the environment and the spec.
func (b *builder) conditions(extras Extras) {
	s := html.Section{ID: "conditions", Title: "Conditions", Question: "Under what conditions was it measured?"}
	if p := b.parts["Summary"]; p != nil {
		s.Paragraphs = append(s.Paragraphs, meaning(p)...)
	}
	if p := b.parts["Environment"]; p != nil {
		for _, f := range facts(p) {
			if f.Value == "unknown" {
				f.Value = "not available"
			}
			if len(s.Blocks) == 0 {
				s.Blocks = []html.Block{{}}
			}
			s.Blocks[0].Facts = append(s.Blocks[0].Facts, f)
		}
	}
	if extras.Spec != "" {
		s.Blocks = append(s.Blocks, html.Block{Title: "spec, as YAML", Folded: true, Text: strings.TrimSpace(extras.Spec)})
	}
	b.add(s)
}

// meaning returns the paragraphs of the summary that say what latencies and requests are.
func meaning(p *report.Part) (texts []string) {
	for _, text := range p.Paragraphs {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "Latencies are") || strings.HasPrefix(line, "Requests are") {
				texts = append(texts, strings.TrimSpace(line))
			}
		}
	}
	return texts
}

// ab adds the lines of ab's report.
func (b *builder) ab() {
	s := html.Section{ID: "ab", Title: "ab's lines", Question: "What would ab have printed?"}
	for i := range b.order {
		p := &b.order[i]
		if p.Title == report.ABTitle {
			s.Paragraphs = p.Paragraphs
		}
		if strings.HasPrefix(p.Title, "Client ") || strings.HasPrefix(p.Title, "All ") || b.r.Run.Standalone && p.Title == "Summary" {
			s.Blocks = append(s.Blocks, html.Block{Title: p.Title, Folded: true, Text: p.Text})
		}
	}
	if len(s.Blocks) > 0 {
		b.add(s)
	}
}
