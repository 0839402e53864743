package compare

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// The defaults of a comparison, in percent.
const (
	defaultTolerance  = 5
	defaultConfidence = 95
)

// WritePage writes the comparison of two runs as a page, as the verb does without flags. Each run is in the namespace of its
// Cluster, the first one is the baseline. Runs that can't be compared are a page too, which says why.
func WritePage(ctx context.Context, clusters [2]*cluster.Cluster, names [2]string, out io.Writer) error {
	var sides [2]round.Side
	var results [2]*result.Result
	for i, c := range clusters {
		var err error
		if sides[i], results[i], err = read(ctx, c, &source{text: c.Namespace + "/" + names[i], kind: cluster.BenchmarkRun, name: names[i]}); err != nil {
			return err
		}
	}
	comparison, err := round.Compare(sides[0], sides[1], round.CompareOptions{TolerancePercent: defaultTolerance, ConfidencePercent: defaultConfidence})
	if errors.Is(err, round.ErrNoRuns) {
		comparison, err = round.NotCompared(sides[0], sides[1], err.Error()), nil
	}
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return roundpage.WriteComparison(out, &roundpage.Comparison{Comparison: comparison, Results: results})
}
