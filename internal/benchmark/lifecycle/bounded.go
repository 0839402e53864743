package lifecycle

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/search"
)

// Limits of what a Benchmark takes as JSON, in bytes. With 200 rounds of history they keep it below 256 KiB.
const (
	// MaxSpec limits the spec. kubectl apply adds a copy of it to the annotations.
	MaxSpec = 48 << 10
	// maxMessage limits the message of a condition, of which a Benchmark has four.
	maxMessage = 4 << 10
	// maxError limits an error in it.
	maxError = 1 << 10
	// maxRequest limits what a status repeats of an annotation.
	maxRequest = 256
	// maxClaimsBytes and those below limit these lists in the status.
	maxClaimsBytes     = 24 << 10
	maxEffectsBytes    = 8 << 10
	maxCapacitiesBytes = 24 << 10
	maxTrendBytes      = 8 << 10
)

// CheckSize returns an error if a spec is too large, or if a round of it could be too large to be stored. The API server can't count
// cells: the values of an axis have no type.
func CheckSize(spec *v1alpha1.BenchmarkSpec, cells int) error {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	if len(encoded) > MaxSpec {
		return fmt.Errorf("spec: %d bytes as JSON, must be at most %d: use fewer values, or move content to ConfigMaps", len(encoded), MaxSpec)
	}
	_, most := blocks.Bounds(spec)
	e := benchmark.Extent{Spec: len(encoded), Cells: cells, Blocks: most, Invalid: blocks.Replacements(spec)}
	if spec.Capacity != nil {
		e.Trials = search.MaxTrials(spec.Capacity)
	}
	decide := map[v1alpha1.BenchmarkMetric]bool{}
	for i := range spec.Claims {
		decide[benchmark.MetricKey(spec.Claims[i].Metric, spec.Claims[i].Request)] = true
	}
	if c := spec.Comparison; c != nil {
		e.Compared = len(c.Metrics)
	}
	for _, m := range benchmark.GateMetrics(spec) {
		decide[benchmark.KeyOf(m)] = true
	}
	e.Gate = len(decide)
	if bytes := e.StoredBytes(); bytes > artifact.ConfigMapLimit {
		return fmt.Errorf("spec.repetitions: %d blocks and %d trials of each of %d cells with %d metrics of claims and of the gate could take %d kB, a round is stored in at most %d kB: "+
			"use a lower repetitions.max or min, fewer values in axes, or the role Report for more of comparison.metrics", e.Blocks, e.Trials, cells, e.Gate, bytes>>10, artifact.ConfigMapLimit>>10)
	}
	return nil
}

// Bounded returns the beginning of a text that takes at most limit bytes as a string in JSON, without its quotes and
// without a partial character.
func Bounded(text string, limit int) string {
	for {
		encoded, err := json.Marshal(text)
		size := len(encoded) - len(`""`)
		if err != nil || size <= limit {
			return text
		}
		text = strings.ToValidUTF8(text[:min(len(text)-1, len(text)*limit/size)], "")
	}
}

// fitting returns the first elements of a list that take at most limit bytes as JSON.
func fitting[T any](all []T, limit int) []T {
	for i := range all {
		encoded, err := json.Marshal(all[i])
		if limit -= len(encoded) + len(","); err != nil || limit < 0 {
			return all[:i]
		}
	}
	return all
}
