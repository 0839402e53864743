package report

import (
	"context"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
)

// write prints the report of a run.
func write(ctx context.Context, c *cluster.Cluster, name, format string, out io.Writer) error {
	if !slices.Contains(report.Names(), format) {
		return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", format, strings.Join(report.Names(), ", "))
	}
	var run v1alpha1.BenchmarkRun
	if err := c.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, &run); err != nil {
		if cluster.IsNoSuchObject(err) {
			return cluster.NotFound(c.Namespace, name)
		}
		return cluster.Explain(err)
	}
	if run.Status.Artifact == nil {
		return exit.Errorf(exit.Failed, "BenchmarkRun %q has %s", run.Name, cluster.NoResult(&run))
	}
	r, err := c.Result(ctx, &run)
	if err != nil {
		return err
	}
	return report.Write(out, format, r)
}
