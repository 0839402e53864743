package artifact

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxSeriesElements bounds the objects of the series: its points, and what is in each. It keeps
	// them below maxMemory, and has more points than ever fit.
	maxSeriesElements = 40_000
	// minPoints is the number of points of the series that are always kept, if it has as many.
	minPoints = 60
	// minPointsWithHistograms is the number of points to which the series is thinned
	// before the clients' histograms are dropped.
	minPointsWithHistograms = 600
	// maxHistograms is the number of the clients' histograms that are kept; unpacked,
	// each takes about 200 kB of a reader's memory.
	maxHistograms = 1000
)

// Encode returns the result as it is stored, in at most limit bytes. A result that
// does not fit is thinned, in this order, until it does:
//
//   - the sketches of seconds, all of them;
//   - the series, by joining adjacent seconds, to no fewer than 600 points;
//   - the histograms of clients, levels and steps, which summaries replace; the series is
//     full again, and joined to no fewer than 600 points;
//   - the histograms of single requests, which summaries replace; the series is full again;
//   - the series, to no fewer than 60 points;
//   - the files of a script's handleSummary(), whose names and sizes are kept.
//
// EncodeFull keeps the sketches of seconds. Counts, totals, merged histograms, environment and
// findings are always complete. The result itself is not changed. Errors wrap ErrTooLarge if the result does not fit even
// then.
func Encode(r *result.Result, limit int) ([]byte, error) {
	kept := *r
	kept.SchemaVersion = result.SchemaVersion
	if sketched(r.Series) && elements(r.Series) <= maxSeriesElements && histograms(r.Clients) <= maxHistograms {
		if encoded, err := Pack(&kept, limit); !errors.Is(err, ErrTooLarge) {
			return encoded, err
		}
	}
	kept.Series = withoutSketches(r.Series)
	for elements(kept.Series) > maxSeriesElements {
		kept.Series = joinPairs(kept.Series)
	}
	if histograms(r.Clients) <= maxHistograms {
		encoded, err := encodeSeries(&kept, limit, minPointsWithHistograms)
		if err != nil || encoded != nil {
			return encoded, err
		}
	}
	kept.Clients = summarize(r.Clients, func(c *result.Client) (*result.Latencies, *result.Summaries) { return &c.Latencies, &c.Summaries })
	kept.Levels = summarize(r.Levels, func(l *result.Level) (*result.Latencies, *result.Summaries) { return &l.Latencies, &l.Summaries })
	kept.Steps = summarize(r.Steps, func(s *result.Step) (*result.Latencies, *result.Summaries) { return &s.Latencies, &s.Summaries })
	if len(r.ByRequest) > 0 {
		encoded, err := encodeSeries(&kept, limit, minPointsWithHistograms)
		if err != nil || encoded != nil {
			return encoded, err
		}
		kept.ByRequest = slices.Clone(r.ByRequest)
		for i := range kept.ByRequest {
			kept.ByRequest[i].Summarize()
		}
	}
	encoded, err := encodeSeries(&kept, limit, minPoints)
	if err == nil && encoded == nil && r.Script != nil && r.Script.Summary != nil {
		script := *r.Script
		script.Summary = r.Script.Summary.WithoutContent("the result would not fit into a ConfigMap")
		kept.Script = &script
		encoded, err = encodeSeries(&kept, limit, minPoints)
	}
	if err != nil {
		return nil, err
	}
	if encoded == nil {
		return nil, fmt.Errorf("encode result of %d clients in %d bytes: %w", len(r.Clients), limit, ErrTooLarge)
	}
	return encoded, nil
}

// EncodeFull returns the result as it is stored in a bucket: with all histograms of clients, levels and steps, and the
// sketch of each second. Errors wrap ErrTooLarge if that has more than FullLimit bytes even with a series of fewer than
// 1,200 points.
func EncodeFull(r *result.Result) ([]byte, error) {
	full := *r
	full.SchemaVersion = result.SchemaVersion
	encoded, err := encodeSeries(&full, FullLimit, minPointsWithHistograms)
	if err == nil && encoded == nil {
		err = fmt.Errorf("encode full result of %d clients in %d bytes: %w", len(r.Clients), FullLimit, ErrTooLarge)
	}
	return encoded, err
}

// encodeSeries halves the series until the result fits. It returns nil if the series
// would have fewer than the given number of points.
func encodeSeries(r *result.Result, limit, points int) ([]byte, error) {
	thinned := *r
	for {
		encoded, err := Pack(&thinned, limit)
		if err == nil {
			return encoded, nil
		} else if !errors.Is(err, ErrTooLarge) {
			return nil, fmt.Errorf("encode result: %w", err)
		}
		if len(thinned.Series)/2 < points {
			return nil, nil
		}
		thinned.Series = joinPairs(thinned.Series)
	}
}

func withoutSketches(series []result.Second) []result.Second {
	if !sketched(series) {
		return series
	}
	series = slices.Clone(series)
	for i := range series {
		series[i].Sketch = nil
	}
	return series
}

func sketched(series []result.Second) bool {
	return slices.ContainsFunc(series, func(s result.Second) bool { return s.Sketch != nil })
}

// elements returns the number of objects of a series. Counts have one of errors.
func elements(series []result.Second) int {
	n := 0
	for i := range series {
		s := &series[i]
		n++
		for _, present := range []bool{s.Server != nil, s.Node != nil, s.ClientNode != nil, s.BackendCPU != nil, s.Backends != nil, s.Counts != nil, s.Counts != nil, s.Phases != nil} {
			if present {
				n++
			}
		}
		n += len(s.Backends)
		if s.Phases != nil {
			for _, p := range s.Phases {
				n += int(min(p.Count, 1))
			}
		}
	}
	return n
}

func joinPairs(series []result.Second) []result.Second {
	joined := make([]result.Second, 0, (len(series)+1)/2)
	for pair := range slices.Chunk(series, 2) {
		first := pair[0]
		if len(pair) == 2 {
			first.Join(&pair[1])
		}
		joined = append(joined, first)
	}
	return joined
}

func histograms(clients []result.Client) int {
	n := 0
	for i := range clients {
		for _, h := range clients[i].Latencies {
			if h != nil && h.Count() > 0 {
				n++
			}
		}
	}
	return n
}

// summarize returns a copy of clients or levels with summaries instead of histograms.
func summarize[T any](all []T, of func(*T) (*result.Latencies, *result.Summaries)) []T {
	summarized := append(make([]T, 0, len(all)), all...)
	for i := range summarized {
		latencies, summaries := of(&summarized[i])
		*summaries, *latencies = latencies.Summarize(), result.Latencies{}
	}
	return summarized
}
