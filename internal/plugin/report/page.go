package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/output"
)

// ErrNoResult is the error of a page for a run without a result.
var ErrNoResult = errors.New("the run has no result")

// WriteRun writes the report of a run as a page. The error is ErrNoResult if the run has none, and a cluster.LostError if
// it has been deleted.
func WriteRun(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	if run.Status.Artifact == nil {
		return ErrNoResult
	}
	r, err := c.Result(ctx, run)
	if err != nil {
		return err
	}
	spec, err := yaml.Marshal(&run.Spec)
	if err != nil {
		return fmt.Errorf("write spec as YAML: %w", err)
	}
	return runpage.Write(out, r, string(spec))
}

// WriteRound writes the report of a Benchmark's round as a page: of the last completed one if number is 0.
func WriteRound(ctx context.Context, c *cluster.Cluster, name string, number int64, out io.Writer) error {
	return writeBenchmark(ctx, c, name, number, output.HTML, out)
}
