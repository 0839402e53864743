package report

import (
	"fmt"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// summary returns what latencies mean, a row for each client and one for all together, and what a request cost.
func summary(r *result.Result) doc.Section {
	return doc.Section{ID: "summary", Title: "Summary", Question: "What did each client measure, and what does it mean?", Blocks: []doc.Block{meaning(&r.Run), summaryTable(r), cost(r)}}
}

// blocks returns the metrics of each client, and of all together.
func blocks(r *result.Result) []block {
	var all []block
	for i := range r.Clients {
		all = append(all, clientBlock(r, &r.Clients[i]))
	}
	return append(all, mergedBlock(r))
}

func summaryTable(r *result.Result) *doc.Table {
	total := func(of func(total result.Summary, some bool) string) func(*block) string {
		return func(b *block) string { return of(b.phase(result.Total), b.counts.Succeeded() > 0) }
	}
	return doc.TableOf("Summary", blocks(r),
		doc.Word("", func(b *block) string { return b.name }),
		doc.Number("requests/s", func(b *block) string { return number.Significant(b.requestsPerSecond) }),
		doc.Number("p50 ms", total(func(s result.Summary, some bool) string { return shortTime(s.Percentiles[percentile.P50], some) })),
		doc.Number("p99 ms", total(func(s result.Summary, some bool) string { return shortTime(s.Percentiles[percentile.P99], some) })),
		doc.Number("max ms", total(func(s result.Summary, some bool) string { return shortTime(s.Max, some) })),
		doc.Number("requests", func(b *block) string { return number.Count(b.counts.Requests) }),
		doc.Number("failed", func(b *block) string { return number.Count(b.counts.Errors.Total()) }),
	)
}

// shortTime returns a duration in microseconds as milliseconds with three significant digits, or - if it is unknown.
func shortTime(microseconds int64, exists bool) string {
	return number.OrDash(exists && microseconds != result.Unknown, number.Milliseconds(microseconds))
}

// arrivals returns how well an open load kept its rate and, next to the response times, which are measured from the
// intended start times, the service times.
func arrivals(r *result.Result) doc.Section {
	a, dropped := r.Arrivals, r.Merged.Dropped
	if a == nil {
		return doc.Section{}
	}
	type row struct {
		name  string
		phase result.Phase
	}
	latency := func(x *row) result.Summary { return r.Merged.Latencies.Get(x.phase).Summarize(0) }
	fields := append([]doc.Field[row]{doc.Word("", func(x *row) string { return x.name })}, times(latency, common)...)
	return doc.Section{ID: "arrivals", Title: "Arrivals", Question: "Was the target rate met?", Blocks: []doc.Block{
		doc.Paragraph{
			fmt.Sprintf("Target rate: %s requests/s, %d total", decimals(a.TargetRatePerSecond(), 2), a.Due),
			fmt.Sprintf("Achieved:    %s requests/s, %d dropped", decimals(a.AchievedPerSecond(dropped), 2), dropped),
		},
		doc.TableOf("Arrivals", []row{{"start delay", result.Delay}, {"service time", result.Service}, {"response time", result.Total}}, fields...),
	}}
}
