// Package report implements the verb "report", which prints the report of a
// finished run, or of a Benchmark's round, from its artifact.
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

const long = `Print the report of a finished BenchmarkRun, or of a round of a Benchmark.

The report of a run begins with whether the result is valid and, if not, why and what
to do. Thresholds and a table with one row per client and one for all clients follow,
then the lines of ab's report for each client and for all clients, and the
resource usage of the target and the clients.

Percentiles over all clients are computed from merged histograms, never averaged.

The report of a round begins with the verdict: what is better or worse than the
baseline, by how much and how sure that is; if it can't tell yet, which difference it
could have found, and about how many blocks would decide. The medians of each cell
with their intervals follow, capacities, invalid runs, and the conditions.

Exit codes:
  0  the report was printed, whatever its verdict
  1  the run has no result: it failed or isn't finished; or the Benchmark has no
     completed round
  4  unknown: the API server can't be reached or rejects the request, the run,
     Benchmark, round or its artifact doesn't exist, or the command line is invalid`

const example = `  # The report of a run, as text
  kubectl assay report tomcat-nio

  # The 99th percentile over all clients, in microseconds
  kubectl assay report tomcat-nio -o json |
    jq '.summary.merged.latencies.total.percentilesMicroseconds["99"]'

  # The levels of a load with stages
  kubectl assay report stages -o csv

  # The last completed round of a Benchmark, as text or for a pull request
  kubectl assay report benchmark/connectors
  kubectl assay report benchmark/connectors -o markdown

  # The last completed round as a page for a browser, and one of its pictures
  kubectl assay report benchmark/connectors -o html > report.html
  kubectl assay report benchmark/connectors -o svg=effects > effects.svg

  # An earlier round, and the figures of each of its runs
  kubectl assay report benchmark/connectors --round 3
  kubectl assay report benchmark/connectors -o json |
    jq -r '.runs[] | [.name, .figures.RequestsPerSecond] | @tsv'`

// NewCommand returns the command.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	format, number := "text", int64(0)
	cmd := &cobra.Command{
		Use:               "report (NAME | benchmark/NAME)",
		Short:             "Print the report of a finished BenchmarkRun or of a Benchmark's round",
		Long:              long,
		Example:           example,
		Args:              cluster.OneName,
		ValidArgsFunction: cluster.Complete(flags, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := cluster.Parse(args[0], cluster.BenchmarkRun)
			if err != nil {
				return err
			}
			if number < 0 || number > 0 && kind != cluster.Benchmark {
				return exit.Errorf(exit.Unknown, "--round needs benchmark/NAME and a number from 1 on")
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			if kind == cluster.Benchmark {
				return writeBenchmark(cmd.Context(), c, name, number, format, streams.Out)
			}
			return write(cmd.Context(), c, name, format, streams.Out)
		},
	}
	cluster.OutputFlag(cmd, &format, roundFormats(), strings.Join(report.Names(), " or ")+"; csv is for loads with stages; of a round "+strings.Join(roundFormats(), ", "))
	cmd.Flags().Int64Var(&number, "round", 0, "number of a Benchmark's round; the last completed one if not set")
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
