package report_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// reread is what HdrHistogram's library for Go reads from a report as JSON, and the percentiles that the report has.
type reread struct {
	*hdrhistogram.Histogram
	count       int64
	percentiles map[string]int64
}

// rereads returns the histograms over all clients in a golden report as JSON, by their phases.
func rereads(t *testing.T, name string) map[string]reread {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Merged struct {
			Latencies map[string]struct{ HDR string }
		}
		Summary struct {
			Merged struct {
				Latencies map[string]struct {
					Count       int64
					Percentiles map[string]int64 `json:"percentilesMicroseconds"`
				}
			}
		}
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]reread{}
	for phase, l := range document.Summary.Merged.Latencies {
		h, err := hdrhistogram.Decode([]byte(document.Merged.Latencies[phase].HDR))
		if err != nil {
			t.Fatalf("%s: %v", phase, err)
		}
		all[phase] = reread{h, l.Count, l.Percentiles}
	}
	return all
}

// at returns the values that HdrHistogram doesn't tell apart at a percentile, in percent, and the number of durations up to
// these. Its own ValueAtPercentile rounds to the nearest rank, where this takes the first that is high enough.
func (r reread) at(percent float64) hdrhistogram.Bar {
	rank, count := int64(math.Ceil(percent/100*float64(r.count)-1e-6)), int64(0)
	for _, bar := range r.Distribution() {
		if count += bar.Count; count >= max(rank, 1) {
			return hdrhistogram.Bar{From: bar.From, To: bar.To, Count: count}
		}
	}
	return hdrhistogram.Bar{}
}

// TestHdrHistogramSeesTheSamePercentiles compares the percentiles of reports as JSON and as hgrm with those that
// HdrHistogram's own library computes from the histograms in them, and the levels of the lines with those of its printer.
func TestHdrHistogramSeesTheSamePercentiles(t *testing.T) {
	for _, name := range []string{"tomcat", "open"} {
		t.Run(name, func(t *testing.T) {
			all := rereads(t, name)
			for phase, r := range all {
				if r.TotalCount() != r.count || len(r.percentiles) < 10 {
					t.Errorf("%s: %d durations, want %d and 10 percentiles of %v", phase, r.TotalCount(), r.count, r.percentiles)
				}
				for text, value := range r.percentiles {
					percent, err := strconv.ParseFloat(text, 64)
					if bar := r.at(percent); err != nil || value < bar.From || value > bar.To {
						t.Errorf("%s: p%s is %d µs in JSON, %+v for HdrHistogram", phase, text, value, bar)
					}
				}
			}
			golden, err := os.ReadFile(filepath.Join("testdata", name+".hgrm.golden"))
			if err != nil {
				t.Fatal(err)
			}
			total, levels := all["total"], []float64(nil)
			for i, line := range strings.Split(string(golden), "\n") {
				fields := strings.Fields(line)
				if i == 0 || len(fields) == 0 || strings.HasPrefix(line, "#") {
					continue
				}
				var numbers [3]float64
				for i := range numbers {
					if numbers[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
						t.Fatal(err)
					}
				}
				value, level, count := int64(math.Round(numbers[0]*1000)), numbers[1], int64(numbers[2])
				levels = append(levels, level)
				if bar := total.at(level * 100); value < bar.From || value > bar.To || count != bar.Count {
					t.Errorf("hgrm has %s, HdrHistogram %+v", line, bar)
				}
			}
			var printed strings.Builder
			if _, err := total.PercentilesPrint(&printed, 5, 1000); err != nil {
				t.Fatal(err)
			}
			lines := 0
			for line := range strings.Lines(printed.String()) {
				fields := strings.Fields(line)
				if len(fields) < 3 || strings.HasPrefix(line, "#") || fields[0] == "Value" {
					continue
				}
				level, err := strconv.ParseFloat(fields[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				if lines++; !slices.ContainsFunc(levels, func(l float64) bool { return math.Abs(l-level) < 1.1e-6 }) {
					t.Errorf("HdrHistogram's line %q isn't in hgrm", strings.TrimSpace(line))
				}
			}
			if lines < 20 {
				t.Errorf("HdrHistogram prints %d lines", lines)
			}
		})
	}
}
