package report

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/html/runpage"
)

// OfRun returns the page of a run that has finished: its report, or why it has no result. The error is a cluster.LostError if
// the result has been deleted.
func OfRun(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun) (*doc.Document, error) {
	spec, err := yaml.Marshal(&run.Spec)
	if err != nil {
		return nil, fmt.Errorf("write spec as YAML: %w", err)
	}
	if run.Status.Artifact == nil {
		return failed(run, string(spec)), nil
	}
	r, err := c.Result(ctx, run)
	if err != nil {
		return nil, err
	}
	return runpage.Document(r, string(spec)), nil
}

// OfRound returns the page of a Benchmark's round that has ended, as WriteRound writes it.
func OfRound(ctx context.Context, c *cluster.Cluster, b *v1alpha1.Benchmark, number int64) (*doc.Document, error) {
	r, err := readRound(ctx, c, b, number)
	if err != nil {
		return nil, err
	}
	return roundpage.Document(r), nil
}
