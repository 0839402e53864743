// Package report is the verb "report": it prints what a finished run measured,
// from the artifact that the run names.
package report

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report"
)

const long = `Print what a finished run measured.

The report begins with whether the result can be trusted and, if not, why and
what to do. Then come the thresholds, a row for each client and one for all
together, for each of them every line that ab prints, and what the target and
the clients used.

Percentiles of all clients are from merged histograms, never from averages.

Exit codes:
  0  the report was printed, whatever its verdict
  1  the run has no result: it isn't finished or ended without one
  4  couldn't tell: the API server doesn't answer or refuses, there is no such
     run, its artifact is gone, or the command was wrong`

const example = `  # The report of a run, as text
  kubectl assay report tomcat-nio

  # The 99th percentile over all clients, in microseconds
  kubectl assay report tomcat-nio -o json |
    jq '.summary.merged.latencies.total.percentilesMicroseconds["99"]'`

// NewCommand is the verb.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:               "report NAME",
		Short:             "Print what a finished run measured",
		Long:              long,
		Example:           example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cluster.CompleteNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			return write(cmd.Context(), c, args[0], format, streams.Out)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", format, "form of the report: "+strings.Join(report.Names(), " or "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(report.Names(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // only for a flag that isn't there
	}
	return cmd
}
