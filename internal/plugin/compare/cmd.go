// Package compare implements the verb "compare", which compares two runs, rounds or sets of runs that were measured
// at different times.
package compare

import (
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

const long = `Compare up to six runs, rounds of Benchmarks, or sets of runs: how each differs from the
first, which is the baseline.

A side is one of
  NAME                 a BenchmarkRun
  benchmark/NAME       the last completed round of a Benchmark
  benchmark/NAME#3     its round 3
  -l SELECTOR          all valid runs with these labels; sides that are named come first

With --by LABEL the sides are the values that runs have of a label, of all runs or of those
of one selector; the first in the order of the values is the baseline.

Rounds are compared cell by cell, by the names of the cells. Runs that were selected
otherwise are taken together, and compared with each cell of a round.

With several runs on each side the differences have confidence intervals. The two sides
were measured at different times: what changed on the machines in between is part of the
difference, and no interval shows it. A Benchmark with comparison.baseline.cell measures
both in turn, and is more certain. Of two single runs the differences are only printed:
runs of the same server differ by 10% and more.

Below the differences is what differs in the specs of the runs and in the environments:
node, kernel, image, versions, CPUs. Sides of different node types, CPUs, kernels, CPU
exclusivity or kinds of load aren't compared, and neither are runs of several images on
one side.

Exit codes:
  0  the comparison was printed, whatever it says
  1  nothing to compare: a side has no valid run, no cell is on both sides, both sides
     are the same, or they were measured under different conditions
  4  unknown: the API server can't be reached or rejects the request, a run, Benchmark,
     round or artifact doesn't exist, or the command line is invalid`

const example = `  # Two runs
  kubectl assay compare tomcat-nio tomcat-apr

  # The last round of a Benchmark with an earlier one
  kubectl assay compare 'benchmark/nightly#12' benchmark/nightly

  # Two sets of runs, by label, with two metrics
  kubectl assay compare -l release=1.4 -l release=1.5 --metric LatencyP99,RequestsPerSecond

  # Two runs as a page for a browser: percentile curves, and what differs
  kubectl assay compare tomcat-nio tomcat-apr -o html > compare.html

  # Sets of runs by the value of their label release
  kubectl assay compare -l app=shop --by release

  # What differs in the specs, for another program
  kubectl assay compare tomcat-nio tomcat-apr -o json | jq .specDifferences`

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	o := options{format: "text"}
	cmd := &cobra.Command{
		Use:               "compare A B...",
		Short:             "Compare up to six runs, rounds of Benchmarks, or sets of runs",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cluster.Complete(flags, round.MaxSides),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			sources, err := o.check()
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
			return out.Report(o.format, func(to io.Writer) error { return o.write(cmd.Context(), c, sources, to) })
		},
	}
	cmd.Flags().StringArrayVarP(&o.selectors, "selector", "l", nil, "label selector of the runs of a side, as in kubectl get; may be repeated")
	cmd.Flags().StringVar(&o.by, "by", "", "label by whose values runs are sides, instead of names")
	cmd.Flags().StringSliceVar(&o.metrics, "metric", nil, "metrics to compare, for example LatencyP99,ErrorRate or, of a request, LatencyP99:cart; if not set, those that a Benchmark compares, and the default ones")
	cmd.Flags().Int32Var(&o.confidence, "confidence", defaultConfidence, "the confidence of intervals in percent")
	cluster.FlagCompletion(cmd, "metric", cobra.FixedCompletions(metricNames(), cobra.ShellCompDirectiveNoFileComp))
	formats := roundpage.ComparisonFormats.Names()
	cluster.OutputFlag(cmd, &o.format, formats, doc.Usage(formats))
	return cmd
}

func metricNames() []string { return slices.Sorted(maps.Keys(result.Metrics)) }
