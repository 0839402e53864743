// Package report implements the verb "report", which prints the report of a
// finished run from the run's artifact.
package report

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
)

const long = `Print the report of a finished BenchmarkRun.

The report begins with whether the result is valid and, if not, why and what to
do. Thresholds and a table with one row per client and one for all clients follow,
then the lines of ab's report for each client and for all clients, and the
resource usage of the target and the clients.

Percentiles over all clients are computed from merged histograms, never averaged.

Exit codes:
  0  the report was printed, whatever its verdict
  1  the run has no result: it failed or isn't finished
  4  unknown: the API server can't be reached or rejects the request, the run or
     its artifact doesn't exist, or the command line is invalid`

const example = `  # The report of a run, as text
  kubectl assay report tomcat-nio

  # The 99th percentile over all clients, in microseconds
  kubectl assay report tomcat-nio -o json |
    jq '.summary.merged.latencies.total.percentilesMicroseconds["99"]'`

// NewCommand returns the command.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:               "report NAME",
		Short:             "Print the report of a finished BenchmarkRun",
		Long:              long,
		Example:           example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cluster.Complete(flags, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			return write(cmd.Context(), c, args[0], format, streams.Out)
		},
	}
	cluster.OutputFlag(cmd, &format, report.Names(), strings.Join(report.Names(), " or "))
	return cmd
}

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
