// Package table implements the verb "table", which prints the results of several
// runs, one row per run, from the runs' artifacts.
package table

import (
	"math"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report"
)

const long = `Print a table of BenchmarkRuns, one row per run.

Without names the table has all runs of the namespace, or those that --selector
selects, oldest first. Runs that are named are in the order of the command line.

Each row shows the configuration: connector, file, keep-alive, target rate,
connections per client, methods other than GET, authentication and TLS. Then come
requests per second and the median, 99th percentile and maximum of the total time
in milliseconds, for each client and for all clients. The last columns are the
failed requests of each client by kind and the CPU usage of each server of the
target in percent of its limit. Percentiles over all clients are computed from
merged histograms, never averaged.

A run whose result isn't valid, or that has none, is marked. The reason is below
the table, or in the column "reason" in CSV. Other findings are in the run's
report.

Exit codes:
  0  the table was printed and every run has a result, whatever its verdict
  1  the table was printed, but a run has no result: it failed or isn't finished
  4  unknown: the API server can't be reached or rejects the request, a run or an
     artifact doesn't exist, or the command line is invalid`

const example = `  # All runs with a label, oldest first
  kubectl assay table -l series=r1

  # Two runs, the baseline first
  kubectl assay table tomcat-nio tomcat-apr

  # As Markdown or CSV
  kubectl assay table -l series=r1 -o markdown
  kubectl assay table -l series=r1 -o csv > r1.csv

  # Valid runs sorted by requests per second, fastest first
  kubectl assay table -o json | jq -r '.runs | map(select(.valid)) |
    sort_by(-.merged.requestsPerSecond) | .[] |
    "\(.name) \(.merged.requestsPerSecond)"'`

// NewCommand returns the command.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	o := options{format: "text"}
	cmd := &cobra.Command{
		Use:               "table [NAME...]",
		Short:             "Print a table of BenchmarkRuns, one row per run",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cluster.Complete(flags, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if err := o.check(); err != nil {
				return err
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			return o.write(cmd.Context(), c, streams.Out)
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "label selector, as in kubectl get, for example series=r1,size!=small")
	cluster.OutputFlag(cmd, &o.format, report.TableNames(), strings.Join(report.TableNames(), ", "))
	return cmd
}
