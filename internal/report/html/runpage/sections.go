package runpage

import (
	"fmt"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

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

// distribution has the percentile curve, the histogram and, of a load of several requests, the curves of each.
func distribution(r *result.Result) doc.Section {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return doc.Section{}
	}
	var pooled doc.Paragraph
	if len(r.Levels) > 0 {
		pooled = doc.Paragraph{"All levels and the steps between them together: what is slow here may be one level. Each has its own latencies below."}
	}
	return doc.Section{ID: "distribution", Title: "Distribution", Question: "How slow is slow, and how often?", Blocks: []doc.Block{pooled, chart.Percentiles(r), chart.Histogram(r), chart.PercentilesByRequest(r)}}
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
		s.Add(chart.Errors(r), report.Causes(r))
	}
	return s
}
