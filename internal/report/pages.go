package report

import (
	"cmp"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// pages returns what users who load pages had: the page times, and how many rounds they made.
func pages(r *result.Result) doc.Section {
	if r.Run.UserConnections == 0 {
		return doc.Section{}
	}
	c := r.Merged.Counts
	var f facts
	f.add("Users", "%d, with up to %d connections each", cmp.Or(r.Run.AllConnections, r.Run.Connections*int64(len(r.Clients))), r.Run.UserConnections)
	f.add("Pages", "%d, %d failed", c.Pages, c.FailedPages)
	f.add("Rounds", "%d, %d failed", c.Rounds, c.FailedRounds)
	for _, m := range []struct {
		name, metric string
	}{{"Pages per second", "PagesPerSecond"}, {"Hits per second", "RequestsPerSecond"}, {"Rounds per 10 seconds", "RoundsPer10Seconds"}} {
		if value, exists := result.Metrics[m.metric](r); exists {
			f.add(m.name, "%.2f", value)
		}
	}
	return doc.Section{ID: "pages", Title: "Pages", Question: "How long does a user wait for a page?", Blocks: []doc.Block{
		f.block(), doc.Paragraph{"Page times are from the start of a page's first request to the end of its last, of pages all of whose requests succeeded."}, pagesTable(r),
	}}
}

func pagesTable(r *result.Result) *doc.Table {
	time := func(b *block) result.Summary {
		if b.counts.SucceededPages() == 0 {
			return result.Summary{}
		}
		return b.phase(result.Page)
	}
	return doc.TableOf("Pages", blocks(r), append([]doc.Field[block]{
		doc.Word("page time", func(b *block) string { return b.name }),
		doc.Number("pages", func(b *block) string { return whole(b.counts.Pages) }),
		doc.Number("failed", func(b *block) string { return whole(b.counts.FailedPages) }),
	}, times(time, withMean(common))...)...)
}

// levelPagesTable has what users who load pages had at each level of a load.
func levelPagesTable(r *result.Result) *doc.Table {
	fields := []doc.Field[part]{
		doc.Word(heldUnit(r), (*part).name),
		doc.Number("pages", func(p *part) string { return whole(p.Pages) }),
		doc.Number("failed", func(p *part) string { return whole(p.FailedPages) }),
		doc.Number("failed %", func(p *part) string { return decimals(p.PageErrorPercent(), 2) }),
	}
	fields = append(fields, times((*part).PageTime, withMean(mostRead))...)
	return doc.TableOf("Pages completed while a level was held. Hits are requests, of which a page has several", levelsOf(r), append(fields,
		doc.Number("hits/s", func(p *part) string { return decimals(p.RequestsPerSecond(), 2) }),
		doc.Number("rounds/10 s", func(p *part) string { return decimals(p.RoundsPer10Seconds(), 2) }),
		doc.Number("rounds", func(p *part) string { return whole(p.Rounds) }),
		doc.Number("failed rounds", func(p *part) string { return whole(p.FailedRounds) }),
	)...)
}

// pageColumns are the columns of levels as CSV of a load of pages; none of another load.
func pageColumns(r *result.Result) []doc.Field[part] {
	if r.Run.UserConnections == 0 {
		return nil
	}
	return append([]doc.Field[part]{
		doc.Number("pages", func(p *part) string { return whole(p.Pages) }),
		doc.Number("failed_pages", func(p *part) string { return whole(p.FailedPages) }),
		doc.Number("rounds", func(p *part) string { return whole(p.Rounds) }),
		doc.Number("failed_rounds", func(p *part) string { return whole(p.FailedRounds) }),
		doc.Number("rounds_per_10_seconds", func(p *part) string { return decimals(p.RoundsPer10Seconds(), 2) }),
	}, timesCSV("page_", (*part).PageTime, withMean(mostRead))...)
}
