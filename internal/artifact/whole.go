package artifact

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// seriesKey precedes the series in the JSON of a result, without what it has before and after it. No string contains it:
// quotes in strings are escaped.
var seriesKey = []byte(`"series":[`)

// compressWhole is like Pack for a result whose series may be large: it never has the JSON of all of it in memory.
func compressWhole(r *result.Result) ([]byte, error) {
	// The rest has one point, in whose place all are written.
	rest := *r
	rest.Series = []result.Second{{}}
	plain, err := json.Marshal(&rest)
	if err != nil {
		return nil, err
	}
	point, err := json.Marshal(&rest.Series[0])
	if err != nil {
		return nil, err
	}
	marker := slices.Concat(seriesKey, point)
	before, after, found := bytes.Cut(plain, marker)
	if !found || bytes.Contains(after, marker) {
		return nil, errors.New("the series isn't where it belongs")
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out) // histograms are compressed already
	encoder := json.NewEncoder(w)
	write := func(text []byte) {
		if err == nil {
			_, err = w.Write(text)
		}
	}
	write(before)
	write(seriesKey)
	for i := range r.Series {
		if i > 0 {
			write([]byte{','})
		}
		if err == nil {
			err = encoder.Encode(&r.Series[i]) // with a line break
		}
	}
	write(after)
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// joinPairsWhole joins adjacent seconds and their histograms.
func joinPairsWhole(series []result.Second) []result.Second {
	joined := joinPairs(series)
	for i := range joined {
		latency := result.NewHistogram()
		for j := 2 * i; j < min(2*i+2, len(series)); j++ {
			latency.Merge(series[j].Latency)
		}
		joined[i].SetLatency(latency)
		latency.Pack()
		joined[i].Latency = latency
	}
	return joined
}
