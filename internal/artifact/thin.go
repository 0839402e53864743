package artifact

import (
	"fmt"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// mostPoints of the series are more than fit in any case.
	mostPoints = 20_000
	// fewestPoints is how many points of the series are always kept, if it has as
	// many.
	fewestPoints = 60
	// pointsBesideHistograms is how far the series is thinned before the clients'
	// histograms go.
	pointsBesideHistograms = 600
	// mostHistograms is how many of the clients' histograms are kept; unpacked,
	// each takes about 200 kB of a reader's memory.
	mostHistograms = 1000
)

// Encode returns the result as it is kept, in at most limit bytes. What doesn't
// fit is thinned, in this order, until it does:
//
//   - the series, by joining neighbouring seconds, to no fewer than 600 points;
//   - the histograms of clients and levels, for which summaries stand then, the series
//     being whole again;
//   - the series, to no fewer than 60 points.
//
// Counts, totals, merged histograms, environment and findings are always whole.
// The result itself isn't changed. Errors wrap ErrTooLarge when even the last
// doesn't fit.
func Encode(r *result.Result, limit int) ([]byte, error) {
	kept := *r
	kept.SchemaVersion = result.SchemaVersion
	for len(kept.Series) > mostPoints {
		kept.Series = joinPairs(kept.Series)
	}
	if histograms(r.Clients) <= mostHistograms {
		encoded, err := encodeSeries(&kept, limit, pointsBesideHistograms)
		if err != nil || encoded != nil {
			return encoded, err
		}
	}
	kept.Clients, kept.Levels = summarize(r.Clients), summarizeLevels(r.Levels)
	encoded, err := encodeSeries(&kept, limit, fewestPoints)
	if err != nil {
		return nil, err
	}
	if encoded == nil {
		return nil, fmt.Errorf("encode result of %d clients in %d bytes: %w", len(r.Clients), limit, ErrTooLarge)
	}
	return encoded, nil
}

// encodeSeries halves the series until the result fits or the series would have
// fewer than the given points; then it returns nil.
func encodeSeries(r *result.Result, limit, fewest int) ([]byte, error) {
	thinned := *r
	for {
		encoded, err := compress(&thinned)
		if err != nil {
			return nil, err
		}
		if len(encoded) <= limit {
			return encoded, nil
		}
		if len(thinned.Series)/2 < fewest {
			return nil, nil
		}
		thinned.Series = joinPairs(thinned.Series)
	}
}

// joinPairs joins each two neighbouring points of a series.
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

// histograms is how many histograms the clients have.
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

// summarizeLevels returns the levels with summaries in place of histograms.
func summarizeLevels(levels []result.Level) []result.Level {
	summarized := make([]result.Level, 0, len(levels))
	for _, l := range levels {
		l.Summaries = l.Latencies.Summarize()
		l.Latencies = result.Latencies{}
		summarized = append(summarized, l)
	}
	return summarized
}

// summarize returns the clients with summaries in place of histograms.
func summarize(clients []result.Client) []result.Client {
	summarized := make([]result.Client, len(clients))
	for i, c := range clients {
		c.Summaries = c.Latencies.Summarize()
		c.Latencies = result.Latencies{}
		summarized[i] = c
	}
	return summarized
}
