// Package table implements the verb "table", which prints the results of several
// runs, one row per run, from the runs' artifacts, and the cells of a Benchmark by
// the values of two axes.
package table

import (
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

const long = `Print a table of BenchmarkRuns, one row per run, or of the cells of a Benchmark.

Without names the table has all runs of the namespace, or those that --selector
selects, oldest first. Runs that are named are in the order of the command line.

Each row shows the configuration: connector, file, keep-alive, target rate,
connections per client, methods other than GET, authentication and TLS. Then come
requests per second and the median, 99th percentile and maximum of the total time
in milliseconds, for each client and for all clients. The last columns are the
failed requests of each client by kind and the CPU usage of each server of the
target in percent of its limit. Percentiles over all clients are computed from
merged histograms, never averaged.

On a terminal that is narrower than the table, it leaves out columns: those of each
client first. If that isn't enough, each run is a block of lines.

A run whose result isn't valid, or that has none, is marked. The reason is below
the table, or in the column "reason" in CSV. Other findings are in the run's
report.

With benchmark/NAME the table has the medians of a metric over the runs of the last
completed round. --pivot names the axis of the rows and the axis of the columns; without
it they are the first two axes. Other axes have a table for each combination of their
values. Of a load with stages, "level" is an axis too, unless the Benchmark has one of
that name: the metrics then are those of a level, such as TargetCPUIdle. With
--percent-of it has the differences from the cell that differs only on the named axes,
in percent, estimated within blocks as in the report; of levels, the differences of the
medians. Whether a difference is more than noise is said by "kubectl assay report".
A breaking point that most runs of a cell didn't meet is "none up to" their highest level.

Exit codes:
  0  the table was printed and every run has a result, whatever its verdict
  1  the table was printed, but a run has no result: it failed or isn't finished; or
     the Benchmark has no completed round
  4  unknown: the API server can't be reached or rejects the request, a run, Benchmark,
     round or artifact doesn't exist, or the command line is invalid`

const example = `  # All runs with a label, oldest first
  kubectl assay table -l series=r1

  # Two runs, the baseline first
  kubectl assay table tomcat-nio tomcat-apr

  # As Markdown or CSV
  kubectl assay table -l series=r1 -o markdown
  kubectl assay table -l series=r1 -o csv > r1.csv

  # Two sets of repetitions, compared by benchstat
  kubectl assay table -l release=1.4 -o benchstat > old.txt
  kubectl assay table -l release=1.5 -o benchstat > new.txt
  benchstat old.txt new.txt

  # Valid runs sorted by requests per second, fastest first
  kubectl assay table -o json | jq -r '.runs | map(select(.valid)) |
    sort_by(-.merged.requestsPerSecond) | .[] |
    "\(.name) \(.merged.requestsPerSecond)"'

  # A Benchmark's requests per second by file size and connections
  kubectl assay table benchmark/sizes --pivot size,connections -o markdown

  # Its 99th percentiles as CSV
  kubectl assay table benchmark/sizes --pivot size,connections --metric LatencyP99 -o csv

  # The users at which each server's CPU passed 90%, and its latencies at each level of users
  kubectl assay table benchmark/servers --pivot server,cpu --metric BreakingPointCPU
  kubectl assay table benchmark/servers --pivot level,server --metric LatencyMean

  # By how many percent each server is above or below httpd
  kubectl assay table benchmark/servers --pivot server,clients --percent-of server=httpd`

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	o := options{format: "text"}
	cmd := &cobra.Command{
		Use:               "table [NAME... | benchmark/NAME]",
		Short:             "Print a table of BenchmarkRuns, or of the cells of a Benchmark",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cluster.Complete(flags, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			benchmark, err := o.benchmark()
			if err == nil && benchmark != "" && o.request != "" {
				err = exit.Errorf(exit.Unknown, "--request is for runs: use --metric LatencyP99:%s with a Benchmark", o.request)
			}
			if err == nil {
				err = o.check()
			}
			if err != nil {
				return err
			}
			out, err := terminal.For(cmd, streams.Out)
			if err != nil {
				return exit.Errorf(exit.Unknown, "%w", err)
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			return out.Report(o.format, func(to io.Writer) error {
				if benchmark != "" {
					return o.writePivot(cmd.Context(), c, benchmark, to)
				}
				return o.write(cmd.Context(), c, to)
			})
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "label selector, as in kubectl get, for example series=r1,size!=small")
	cmd.Flags().StringVar(&o.request, "request", "", "name of a request of the load, whose metrics the rows have instead of those of all requests, for example checkout")
	cmd.Flags().StringSliceVar(&o.pivot.axes, "pivot", nil, "of a Benchmark: the axis of the rows and the axis of the columns, for example size,connections")
	cmd.Flags().StringVar(&o.pivot.metric, "metric", "", "of a Benchmark: the metric, for example LatencyP99 or, of a request, LatencyP99:cart (default RequestsPerSecond)")
	cmd.Flags().StringVar(&o.pivot.percentOf, "percent-of", "", "of a Benchmark: the values of axes from which differences are printed in percent, for example server=httpd")
	cmd.Flags().Int64Var(&o.pivot.round, "round", 0, "of a Benchmark: the number of the round; the last completed one if not set")
	cluster.FlagCompletion(cmd, "metric", cobra.FixedCompletions(slices.Sorted(maps.Keys(result.Metrics)), cobra.ShellCompDirectiveNoFileComp))
	cluster.OutputFlag(cmd, &o.format, report.TableNames(), doc.Usage(report.TableNames())+"; of a Benchmark: "+doc.Usage(round.PivotFormats.Names()))
	return cmd
}
