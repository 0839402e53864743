// Package table is the verb "table": it prints what several runs measured, one
// row for each, from the artifacts that the runs name.
package table

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report"
)

const long = `Print what several runs measured, one row for each.

Without names all runs of the namespace are in the table, or those with the
labels that --selector asks for, the oldest first. Runs that are named stand in
the order of their names in the command.

Each row has what was declared (connector, file, keep-alive or not, the rate that
was asked for, connections of each client, methods beside GET, authentication,
TLS), then, for each client and for all together, requests per
second and median, 99th percentile and longest total time in milliseconds, then
the failed requests of each client by kind and the CPU of the target in percent
of its limit. Percentiles of all clients are from merged histograms, never from
averages. Of a target with several servers each has its CPU.

A run whose result isn't valid, or that has none, is marked, and why stands
under the table; in CSV in the column "reason". What else speaks against a result
is in its own report.

Exit codes:
  0  the table was printed and every run in it has a result, whatever its verdict
  1  the table was printed, but a run has no result: it isn't finished or ended
     without one
  4  couldn't tell: the API server doesn't answer or refuses, there is no such
     run, an artifact is gone, or the command was wrong`

const example = `  # All runs of a series, as they were created
  kubectl assay table -l series=r1

  # Two runs, the baseline first
  kubectl assay table tomcat-nio tomcat-apr

  # For a page on GitHub, or for a spreadsheet
  kubectl assay table -l series=r1 -o markdown
  kubectl assay table -l series=r1 -o csv > r1.csv

  # Runs by requests per second, the fastest first
  kubectl assay table -o json | jq -r '.runs | map(select(.valid)) |
    sort_by(-.merged.requestsPerSecond) | .[] |
    "\(.name) \(.merged.requestsPerSecond)"'`

// NewCommand is the verb.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	asked := request{format: "text"}
	cmd := &cobra.Command{
		Use:               "table [NAME...]",
		Short:             "Print what several runs measured, one row for each",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cluster.CompleteFurtherNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked.names = args
			if err := asked.check(); err != nil {
				return err
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			return asked.write(cmd.Context(), c, streams.Out)
		},
	}
	cmd.Flags().StringVarP(&asked.selector, "selector", "l", "", "labels that runs must have, as kubectl get takes them: series=r1,size!=small")
	cmd.Flags().StringVarP(&asked.format, "output", "o", asked.format, "form of the table: "+strings.Join(report.TableNames(), ", "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(report.TableNames(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // only for a flag that isn't there
	}
	return cmd
}
