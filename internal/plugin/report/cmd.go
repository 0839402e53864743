// Package report implements the verb "report", which prints the report of a
// finished run, or of a Benchmark's round, from its artifact.
package report

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/output"
)

const long = `Print the report of a finished BenchmarkRun, or of a round of a Benchmark.

The report of a run begins with whether the result is valid and, if not, why and what
to do. Thresholds and a table with one row per client and one for all clients follow,
then the lines of ab's report for each client and for all clients, and the
resource usage of the target and the clients.

Percentiles over all clients are computed from merged histograms, never averaged.

The report of a round begins with the verdict: which claims are contradicted,
undecided or confirmed, with the difference and how sure that is; of one that is
undecided, about how many blocks would decide. What nobody claimed anything about is
exploration, with an interval and no verdict. The medians of each cell
with their intervals follow, capacities, invalid runs, and the conditions.

Output formats of a run:
  text               for people, with the lines of ab and the summary of siege
  html               a page with pictures, which needs nothing but itself
  svg=PICTURE        one of its pictures
  markdown           for a comment on a pull request
  json               the full result and its metrics, for programs
  csv[=levels]       the levels of a load with stages, for a spreadsheet
  csv=series         each second
  csv=percentiles    percentiles of each phase, of all clients and of each
  csv=requests       each request of a load of several
  hgrm[=PHASE]       HdrHistogram's percentile distribution of total times or a phase
  junit              a test case for each finding and threshold, for pipelines
  requests           a list of requests like that of "ab -g", sampled from the histograms
  script             the files that handleSummary() of a k6 script returned, with
                     --directory
  benchstat          Go's benchmark format, for benchstat

Of a round: text, html and svg=PICTURE, markdown, json, csv (a record for each run),
junit (a test case for each claim) and benchstat (a repetition for each
run).

Exit codes:
  0  the report was printed, whatever its verdict
  1  the run has no result: it failed or isn't finished; or the Benchmark has no
     completed round. With -o html the page of a failed run is printed, which says why
  4  unknown: the API server can't be reached or rejects the request, the run,
     Benchmark, round or its artifact doesn't exist, or the command line is invalid`

const example = `  # The report of a run, as text
  kubectl assay report tomcat-nio

  # With the percentile curve drawn below it, for a terminal
  kubectl assay report tomcat-nio --plot

  # The 99th percentile over all clients, in microseconds
  kubectl assay report tomcat-nio -o json |
    jq '.summary.merged.latencies.total.percentilesMicroseconds["99"]'

  # A page with pictures in the browser, as a file, or one of its pictures
  kubectl assay report tomcat-nio --open
  kubectl assay report tomcat-nio -o html > report.html
  kubectl assay report tomcat-nio -o svg=percentiles > percentiles.svg

  # The levels of a load with stages, and each second of any load
  kubectl assay report stages -o csv
  kubectl assay report tomcat-nio -o csv=series > series.csv

  # The files that handleSummary() of a k6 script returned
  kubectl assay report shop -o script --directory shop

  # Compare runs by benchstat
  kubectl assay report tomcat-nio -o benchstat > nio.txt
  kubectl assay report tomcat-apr -o benchstat > apr.txt
  benchstat -col /connector nio.txt apr.txt

  # A page of the full result, copied from the run's bucket, with a latency heat map
  kubectl assay report tomcat-nio --file result.json.gz -o html > report.html

  # The last completed round of a Benchmark, as text or for a pull request
  kubectl assay report benchmark/connectors
  kubectl assay report benchmark/connectors -o markdown

  # The last completed round as a page for a browser, and one of its pictures
  kubectl assay report benchmark/connectors -o html > report.html
  kubectl assay report benchmark/connectors -o svg=claims > claims.svg

  # An earlier round, and the metrics of each of its runs
  kubectl assay report benchmark/connectors --round 3
  kubectl assay report benchmark/connectors -o json |
    jq -r '.runs[] | [.name, .metrics.RequestsPerSecond] | @tsv'`

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	format, number := "text", int64(0)
	var directory, file string
	var plot, open bool
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
			if file != "" && kind == cluster.Benchmark {
				return exit.Errorf(exit.Unknown, "--file needs the name of a BenchmarkRun")
			}
			if directory != "" && (format != output.Script || kind != cluster.BenchmarkRun) {
				return exit.Errorf(exit.Unknown, "--directory needs the report of a run with -o %s", output.Script)
			}
			if err := output.CheckDirectory(format, directory); err != nil {
				return exit.Errorf(exit.Unknown, "%w", err)
			}
			if plot && (kind == cluster.Benchmark || format != "text") {
				return exit.Errorf(exit.Unknown, "--plot needs the name of a BenchmarkRun and -o text; -o svg=percentiles draws the same curve as a picture")
			}
			if open {
				if cmd.Flags().Changed("output") && format != output.HTML {
					return exit.Errorf(exit.Unknown, "--open shows the page of -o html, not -o %s", format)
				}
				format = output.HTML
			}
			out, err := terminal.For(cmd, streams.Out)
			if err != nil {
				return exit.Errorf(exit.Unknown, "%w", err)
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			write := func(to io.Writer) error {
				if kind == cluster.Benchmark {
					return WriteRound(cmd.Context(), c, name, number, format, to)
				}
				return WriteRun(cmd.Context(), c, name, file, format, directory, plot, to)
			}
			if open {
				return openPage(cmd.Context(), write, streams)
			}
			return out.Report(format, write)
		},
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(output.Formats(), roundpage.Formats.Names()...))))
	cluster.OutputFlag(cmd, &format, all, doc.Usage(output.Formats())+"; of a round: "+doc.Usage(roundpage.Formats.Names()))
	cmd.Flags().StringVar(&directory, "directory", "", "with -o script: write the files into this directory")
	cmd.Flags().BoolVar(&open, "open", false, "write the page of -o html to a temporary file and open it in the browser")
	cmd.Flags().BoolVar(&plot, "plot", false, "with -o text: draw the percentile curve of a run below its report, in braille characters")
	cmd.Flags().StringVar(&file, "file", "", "read the run's full result from this file, a copy of its object in a bucket, instead of its ConfigMap")
	cmd.Flags().Int64Var(&number, "round", 0, "number of a Benchmark's round; the last completed one if not set")
	return cmd
}
