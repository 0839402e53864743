package report

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
)

func write(ctx context.Context, c *cluster.Cluster, name, format string, out io.Writer) error {
	if !slices.Contains(report.Names(), format) {
		return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", format, strings.Join(report.Names(), ", "))
	}
	run, err := c.Run(ctx, name)
	if err != nil {
		return err
	}
	if run.Status.Artifact == nil {
		return exit.Errorf(exit.Failed, "BenchmarkRun %q has %s", run.Name, cluster.NoResult(run))
	}
	r, err := c.Result(ctx, run)
	if err != nil {
		return err
	}
	return report.Write(out, format, r)
}
