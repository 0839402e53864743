package result

import (
	"fmt"
	"strconv"

	"github.com/assay-dev/assay/internal/percentile"
)

const (
	// maxToolText bounds the texts of a Tool in bytes.
	maxToolText = 100
	// maxToolFigures bounds the number of figures that a Tool printed.
	maxToolFigures = 20
	// maxToolSum bounds the sum of the times of a client's requests in microseconds.
	maxToolSum = 1 << 52
)

// The load generators that may replace a client's own.
const (
	ToolAB    = "AB"
	ToolSiege = "Siege"
	ToolK6    = "K6"
)

// Prints reports whether a load generator's metrics are only those that it prints. It is false for an empty name, which is that
// of Assay's own, and for K6, whose requests are measured one by one.
func Prints(tool string) bool { return tool != "" && tool != ToolK6 }

// Tool holds what a load generator other than Assay's own printed about a client's times. They are
// those of the total time of a request in microseconds, to within what the tool prints, and Unknown if
// it doesn't print them, as of K6, whose requests are measured.
type Tool struct {
	// Name is the tool's name in the API, Version what it says of itself.
	Name    string `json:"name"`
	Version string `json:"version"`
	Min     int64  `json:"minMicroseconds"`
	Mean    int64  `json:"meanMicroseconds"`
	StdDev  int64  `json:"stdDevMicroseconds"`
	Max     int64  `json:"maxMicroseconds"`
	// Percentiles are by percentile.Percentile; further ones are Unknown.
	Percentiles []int64 `json:"percentilesMicroseconds"`
	// Printed are all figures as siege prints them, by its keys: {"response_time": "0.03"}.
	Printed map[string]string `json:"printed,omitempty"`
}

// Check returns an error for what no tool can have printed.
func (t *Tool) Check() error {
	if len(t.Name) > maxToolText || len(t.Version) > maxToolText {
		return fmt.Errorf("texts of %d and %d bytes", len(t.Name), len(t.Version))
	}
	if len(t.Printed) > maxToolFigures {
		return fmt.Errorf("%d figures", len(t.Printed))
	}
	for key, figure := range t.Printed {
		if _, err := strconv.ParseFloat(figure, 64); err != nil || len(key) > maxToolText || len(figure) > maxToolText {
			return fmt.Errorf("figure %.20q: %.20q", key, figure)
		}
	}
	if len(t.Percentiles) > int(percentile.Count) {
		return fmt.Errorf("%d percentiles", len(t.Percentiles))
	}
	for _, value := range append([]int64{t.Min, t.Mean, t.StdDev, t.Max}, t.Percentiles...) {
		if value < Unknown || value > HighestMicroseconds {
			return fmt.Errorf("time of %d µs", value)
		}
	}
	return nil
}

// Summary returns the metrics as the summary of a number of requests.
func (t *Tool) Summary(requests int64) *Summary {
	s := &Summary{Count: requests, Min: t.Min, Max: t.Max, StdDev: t.StdDev}
	if t.Mean > 0 && requests > 0 {
		s.Sum = min(t.Mean, maxToolSum/requests) * requests
	}
	for p := range s.Percentiles {
		s.Percentiles[p] = Unknown
	}
	copy(s.Percentiles[:], t.Percentiles)
	return s
}
