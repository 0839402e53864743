// Package watch is the verb "watch": it follows a run to its end and exits with
// its verdict.
package watch

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Follow a run to its end and exit with its verdict.

On a terminal a bar shows the stage, how much of it is done, requests per second,
errors and the time left. Elsewhere, as in a pipeline, a line is printed whenever
that changes. While the API server can't be reached, the command goes on trying
for five minutes; the run itself goes on regardless.

Exit codes:
    0  the run succeeded, its result is valid and met its thresholds, if any
    1  the run failed: it ended without a result
    2  the result is valid, but missed a threshold
    3  the result isn't valid, so that its thresholds mean nothing
    4  couldn't tell: the API server doesn't answer or refuses, there is no such
       run, it was deleted, the timeout passed, or the command was wrong
  130  interrupted`

const example = `  # Wait for a run, then print its report
  kubectl assay watch tomcat-nio && kubectl assay report tomcat-nio

  # In a pipeline: the run may not have been created yet, and must end in time
  kubectl assay watch tomcat-nio --wait-for-creation --timeout 20m`

// NewCommand is the verb.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var timeout time.Duration
	var waitForCreation bool
	cmd := &cobra.Command{
		Use:               "watch NAME",
		Short:             "Follow a run to its end and exit with its verdict",
		Long:              long,
		Example:           example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cluster.CompleteNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			f := &follower{
				client:          c,
				key:             types.NamespacedName{Namespace: c.Namespace, Name: args[0]},
				waitForCreation: waitForCreation,
				patience:        5 * time.Minute,
				pause:           500 * time.Millisecond,
				display:         newDisplay(streams),
			}
			return f.watch(ctx, streams.Out)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait, as in 20m; 0 waits as long as it takes")
	cmd.Flags().BoolVar(&waitForCreation, "wait-for-creation", false, "wait also while there is no such run yet")
	return cmd
}

// newDisplay is a bar on a terminal, lines elsewhere.
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

// silently is the error that only carries an exit code.
func silently(code int) error {
	if code == exit.Success {
		return nil
	}
	return &exit.Error{Code: code}
}
