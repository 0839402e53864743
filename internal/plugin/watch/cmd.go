// Package watch implements the verb "watch", which follows a run, or the round of a
// Benchmark, until it has finished and exits with a code for its verdict.
package watch

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/terminal"
)

const long = `Follow a BenchmarkRun, or the round of a Benchmark, until it has finished and exit
with its verdict.

On a terminal a progress bar shows the state of a run, requests per second, errors
and the time left; of a round whole blocks, cells, the run under way and the
expected end. Otherwise, for example in a pipeline, a line is printed whenever one
of these changes. If the connection to the API server is lost, the command retries
for five minutes. The run itself is not affected.

Exit codes:
    0  the run succeeded, and its result is valid and meets its thresholds, if any;
       or the round of the Benchmark passed
    1  the run failed: it has no result; or the round ended with an error
    2  the result is valid, but misses a threshold; or the round failed: a claim is
       contradicted
    3  the result isn't valid, whatever its thresholds
    4  unknown: the API server can't be reached or rejects the request, the run or
       Benchmark doesn't exist or was deleted, the timeout expired, or the command
       line is invalid
    5  the round is inconclusive: claims are undecided; 0 if the Benchmark's
       onInconclusive is Pass
  130  interrupted`

const example = `  # Wait for a run, then print its report
  kubectl assay watch tomcat-nio && kubectl assay report tomcat-nio

  # Wait for a Benchmark's round, then print what it says
  kubectl assay watch benchmark/connectors; kubectl assay report benchmark/connectors

  # In a pipeline: wait for the run to be created, and limit the time
  kubectl assay watch tomcat-nio --wait-for-creation --timeout 20m`

// reconnectTimeout is the time after which watch gives up an API server that it
// has lost contact with, retryInterval the time between two attempts.
const (
	reconnectTimeout = 5 * time.Minute
	retryInterval    = 500 * time.Millisecond
)

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	var timeout time.Duration
	var waitForCreation bool
	cmd := &cobra.Command{
		Use:               "watch (NAME | benchmark/NAME)",
		Short:             "Follow a BenchmarkRun or Benchmark until it has finished and exit with its verdict",
		Long:              long,
		Example:           example,
		Args:              cluster.OneName,
		ValidArgsFunction: cluster.Complete(flags, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := cluster.Parse(args[0], cluster.BenchmarkRun)
			if err != nil {
				return err
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			what := runs
			if kind == cluster.Benchmark {
				what = rounds("")
			}
			out, err := terminal.For(cmd, streams.Out)
			if err != nil {
				return err
			}
			return follow(cmd.Context(), c, name, what, waitForCreation, timeout, streams, out)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait, for example 20m; 0 means no limit")
	cmd.Flags().BoolVar(&waitForCreation, "wait-for-creation", false, "wait until the run or Benchmark is created")
	return cmd
}

// Round follows the round of a Benchmark for which a value of the annotation assay.dev/run-round asks, until
// it has ended, and writes its verdict to out. The error has the exit code. A timeout of 0 means no limit.
func Round(ctx context.Context, c *cluster.Cluster, name, request string, timeout time.Duration, streams genericiooptions.IOStreams, out *terminal.Writer) error {
	return follow(ctx, c, name, rounds(request), false, timeout, streams, out)
}

func follow(ctx context.Context, c *cluster.Cluster, name string, what subject, waitForCreation bool, timeout time.Duration, streams genericiooptions.IOStreams, out *terminal.Writer) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	f := &follower{
		subject:         what,
		client:          c,
		key:             types.NamespacedName{Namespace: c.Namespace, Name: name},
		waitForCreation: waitForCreation,
		display:         newDisplay(streams),
	}
	return f.watch(ctx, out)
}

// newDisplay returns a bar if the output is a terminal, and lines otherwise.
func newDisplay(streams genericiooptions.IOStreams) display {
	if file, is := streams.Out.(*os.File); is && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		return &bar{out: file, notes: streams.ErrOut, width: func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80
			}
			return width
		}}
	}
	return &lines{out: streams.Out, notes: streams.ErrOut}
}
