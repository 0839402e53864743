package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// minNoise is the smallest number of runs that tell how much identical runs differ.
const minNoise = 40

// writeNoise writes the metrics of identical runs, one after the other: an array of objects from a metric's
// name to its value, in the units of result.Metrics, one run to a line.
func writeNoise(file string, runs []benchmark.Run, metrics []v1alpha1.BenchmarkMetric) error {
	text, err := encodeNoise(runs, metrics)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, text, 0o644)
}

func encodeNoise(runs []benchmark.Run, metrics []v1alpha1.BenchmarkMetric) ([]byte, error) {
	if len(runs) < minNoise {
		return nil, fmt.Errorf("%d runs are too few, at least %d are needed", len(runs), minNoise)
	}
	lines := make([]string, len(runs))
	for i := range runs {
		values := map[v1alpha1.BenchmarkMetric]float64{}
		for _, metric := range metrics {
			value := runs[i].Metrics[metric]
			if value <= 0 {
				return nil, fmt.Errorf("%s has no %s", runs[i].Name, metric)
			}
			values[metric] = value
		}
		line, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		lines[i] = "  " + string(line)
	}
	return []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n"), nil
}
