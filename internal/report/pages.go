package report

import (
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// writePages writes what users who load pages had: the page times, and how many rounds they made.
func writePages(w *paper, r *result.Result) {
	c := r.Merged.Counts
	users := r.Run.AllConnections
	if users == 0 {
		users = r.Run.Connections * int64(len(r.Clients))
	}
	line(w, "Users:", "%d, with up to %d connections each", users, r.Run.UserConnections)
	line(w, "Pages:", "%d, %d failed", c.Pages, c.FailedPages)
	line(w, "Rounds:", "%d, %d failed", c.Rounds, c.FailedRounds)
	for _, m := range []struct {
		name, metric string
	}{{"Pages per second:", "PagesPerSecond"}, {"Hits per second:", "RequestsPerSecond"}, {"Rounds per 10 seconds:", "RoundsPer10Seconds"}} {
		if value, exists := result.Metrics[m.metric](r); exists {
			line(w, m.name, "%.2f", value)
		}
	}
	w.printf("\nPage times are from the start of a page's first request to the end of its last, of pages all of whose requests succeeded.\n\n")
	w.table(pagesTable(r))
}

func pagesTable(r *result.Result) *Sheet {
	headings := []any{Words("page time"), "pages", "failed", "mean ms"}
	for _, p := range percentile.Common {
		headings = append(headings, "p"+p.String()+" ms")
	}
	t := NewTable(append(headings, "max ms")...)
	row := func(name string, b block) {
		time, some := b.phase(result.Page), b.counts.SucceededPages() > 0
		cells := table.Row{name, b.counts.Pages, b.counts.FailedPages, msText(int64(time.Mean()+0.5), some)}
		for _, p := range percentile.Common {
			cells = append(cells, msText(time.Percentiles[p], some))
		}
		t.AppendRow(append(cells, msText(time.Max, some)))
	}
	for i := range r.Clients {
		row("client "+strconv.Itoa(r.Clients[i].Index), clientBlock(r, &r.Clients[i]))
	}
	row("merged", mergedBlock(r))
	return t
}

// levelPagesTable has what users who load pages had at each of some parts of a load.
func levelPagesTable(held string, parts []part) *Sheet {
	t := NewTable(Words(held), "pages", "failed", "failed %", "mean ms", "p50 ms", "p90 ms", "p99 ms", "max ms", "hits/s", "rounds/10 s", "rounds", "failed rounds")
	for i := range parts {
		p := &parts[i]
		time := p.PageTime()
		some := time.Count > 0
		at := func(of percentile.Percentile) string { return msText(time.Percentiles[of], some) }
		t.AppendRow(table.Row{
			p.name(), p.Pages, p.FailedPages, decimals(p.PageErrorPercent(), 2), msText(int64(time.Mean()+0.5), some),
			at(percentile.P50), at(percentile.P90), at(percentile.P99), msText(time.Max, some),
			decimals(p.RequestsPerSecond(), 2), decimals(p.RoundsPer10Seconds(), 2), p.Rounds, p.FailedRounds,
		})
	}
	return t
}

// pageColumns are the columns of levels as CSV of a load of pages; none of another load.
func pageColumns(r *result.Result) []levelColumn {
	if r.Run.UserConnections == 0 {
		return nil
	}
	whole := func(of func(p *part) int64) func(*part) string {
		return func(p *part) string { return strconv.FormatInt(of(p), 10) }
	}
	time := func(name string, of func(s *result.Summary) int64) levelColumn {
		return levelColumn{"page_" + name, func(p *part) string {
			s := p.PageTime()
			if s.Count == 0 {
				return ""
			}
			return msText(of(&s), true)
		}}
	}
	return []levelColumn{
		{"pages", whole(func(p *part) int64 { return p.Pages })},
		{"failed_pages", whole(func(p *part) int64 { return p.FailedPages })},
		{"rounds", whole(func(p *part) int64 { return p.Rounds })},
		{"failed_rounds", whole(func(p *part) int64 { return p.FailedRounds })},
		{"rounds_per_10_seconds", func(p *part) string { return decimals(p.RoundsPer10Seconds(), 2) }},
		time("mean_ms", func(s *result.Summary) int64 { return int64(s.Mean() + 0.5) }),
		time("p50_ms", func(s *result.Summary) int64 { return s.Percentiles[percentile.P50] }),
		time("p90_ms", func(s *result.Summary) int64 { return s.Percentiles[percentile.P90] }),
		time("p99_ms", func(s *result.Summary) int64 { return s.Percentiles[percentile.P99] }),
		time("max_ms", func(s *result.Summary) int64 { return s.Max }),
	}
}
