// Package benchmark implements the verbs below "benchmark", which begin, cancel, accept, suspend and resume the rounds of
// a Benchmark. They change the Benchmark alone; the operator does what it says.
package benchmark

import (
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
)

const long = `Begin, cancel, accept, suspend and resume the rounds of a Benchmark.

A Benchmark measures every cell, which is a combination of the values of its axes,
in several blocks, compares the cells with a baseline and decides. Carrying this
out once is a round. A round begins when the Benchmark is created, when its spec
changes, by its schedule, and with "kubectl assay benchmark run".

  kubectl apply -f benchmark.yaml
  kubectl assay watch benchmark/connectors
  kubectl assay report benchmark/connectors

"kubectl explain benchmark.spec" describes every field of a Benchmark.`

const runLong = `Begin a round of a Benchmark now.

The round has the spec as it is in the cluster. If a round is under way, the new one
begins after it. A suspended Benchmark is refused: resume it first. So is one whose
spec the operator has found to be invalid.

The command sets the annotation assay.dev/run-round and returns. With --wait it
follows the round until it has ended, as "kubectl assay watch" does, and exits with
its verdict.

Exit codes:
    0  a round was asked for; with --wait: it passed
    1  the Benchmark is suspended, or its spec is invalid; with --wait: the round ended
       with an error
    2  with --wait: the round failed: a claim is contradicted
    4  unknown: the API server can't be reached or rejects the request, the
       Benchmark doesn't exist or was deleted, the timeout expired, or the command
       line is invalid
    5  with --wait: the round is inconclusive: claims are undecided; 0 if the
       Benchmark's onInconclusive is Pass
  130  interrupted; the round goes on`

const runExample = `  # A round now
  kubectl assay benchmark run connectors

  # In a pipeline: fail it if the new image is slower
  kubectl assay benchmark run image-gate --wait --timeout 2h

  # Measure once more than the schedule does, then read what it says
  kubectl assay benchmark run nightly --wait; kubectl assay report benchmark/nightly`

const cancelLong = `Cancel the round of a Benchmark that is under way.

The run under way is deleted, and the round ends with the verdict Error. Runs that
have finished are kept as long as the Benchmark's history says. The next round begins
as usual; use "kubectl assay benchmark suspend" to prevent it.

The command sets the annotation assay.dev/cancel-round to the number of the round, so
that it never cancels another one.

Exit codes:
  0  the operator was asked to cancel the round
  1  no round is under way
  4  unknown: the API server can't be reached or rejects the request, the Benchmark
     doesn't exist, or the command line is invalid`

const cancelExample = `  # Cancel the round, and let no other begin
  kubectl assay benchmark suspend connectors
  kubectl assay benchmark cancel connectors`

const acceptLong = `Accept the newest completed round of a Benchmark as the baseline of later rounds.

With comparison.baseline.lastPassed each round is compared with the last one that
passed. If the machine changed since, for example its kernel, no later round can be
compared with it. If the server became slower for a good reason, every later round
fails. Accept a round to compare later ones with it instead, whatever its verdict.

The newest completed round that has an artifact is accepted. A round is refused whose
runs were made under different conditions, or that has no block in which every cell
has a valid run. The verdict of the round doesn't change.

The command sets the annotation assay.dev/accept-round to the number of the round, so
that it never accepts another one, and the time, so that it can be repeated. It then
waits for the operator's answer, which is also in status.acceptance.

Exit codes:
    0  the round was accepted, or is the baseline already
    1  no round can be accepted, or the operator refused the request
    4  unknown: the API server can't be reached or rejects the request, the Benchmark
       or the artifact of the round doesn't exist, the operator didn't answer before
       the timeout expired, or the command line is invalid
  130  interrupted; the operator may still accept the round`

const acceptExample = `  # After an upgrade of the kernel: measure, look, accept
  kubectl assay benchmark run image-gate --wait
  kubectl assay report benchmark/image-gate
  kubectl assay benchmark accept image-gate`

const suspendLong = `Suspend a Benchmark: no round begins, and the round under way makes no further runs.

The run under way is completed. "kubectl assay benchmark resume" lets the round go on
where it stood. The command sets spec.suspend, as an edit of the manifest would. If a
GitOps tool owns the field, change it there: the tool would undo the change.

Exit codes:
  0  the Benchmark is suspended, or was before
  4  unknown: the API server can't be reached or rejects the request, the Benchmark
     doesn't exist, or the command line is invalid`

const suspendExample = `  # Leave the machine to others for a while
  kubectl assay benchmark suspend connectors
  kubectl assay benchmark resume connectors`

const resumeLong = `Resume a suspended Benchmark. The round under way goes on where it stood. Without one, a
round begins if the spec changed or one was asked for since; the schedule is in force again.

Exit codes:
  0  the Benchmark isn't suspended, or wasn't before
  4  unknown: the API server can't be reached or rejects the request, the Benchmark
     doesn't exist, or the command line is invalid`

// NewCommand returns the command with its verbs.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "benchmark",
		Aliases: []string{"benchmarks", "bm"},
		Short:   "Begin, cancel, accept, suspend and resume the rounds of a Benchmark",
		Long:    long,
		// Without it, a verb that doesn't exist would print the help and exit with 0.
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Errorf(exit.Unknown, "unknown verb %q: use benchmark run, cancel, accept, suspend or resume", args[0])
			}
			return cmd.Help()
		},
	}
	var wait bool
	var timeout, answerTimeout time.Duration
	run := newVerb(flags, streams, "run", "Begin a round of a Benchmark now", runLong, runExample, func(o *options) verb { return o.run(wait, timeout) })
	run.Flags().BoolVar(&wait, "wait", false, "wait for the end of the round and exit with its verdict")
	run.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait, for example 2h; 0 means no limit")
	accept := newVerb(flags, streams, "accept", "Accept the newest completed round as the baseline of later ones", acceptLong, acceptExample, func(o *options) verb { return o.accept(answerTimeout) })
	accept.Flags().DurationVar(&answerTimeout, "timeout", 30*time.Second, "maximum time to wait for the operator's answer")
	cmd.AddCommand(
		run,
		newVerb(flags, streams, "cancel", "Cancel the round of a Benchmark that is under way", cancelLong, cancelExample, func(o *options) verb { return o.cancel }),
		accept,
		newVerb(flags, streams, "suspend", "Suspend a Benchmark", suspendLong, suspendExample, (*options).suspend),
		newVerb(flags, streams, "resume", "Resume a suspended Benchmark", resumeLong, suspendExample, (*options).resume),
	)
	return cmd
}

func newVerb(flags cluster.Flags, streams genericiooptions.IOStreams, name, short, long, example string, of func(*options) verb) *cobra.Command {
	o := &options{streams: streams}
	cmd := &cobra.Command{
		Use:               name + " NAME",
		Short:             short,
		Long:              long,
		Example:           example,
		Args:              cluster.OneName,
		ValidArgsFunction: cluster.CompleteBenchmarks(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := cluster.ParseOf(args[0], cluster.Benchmark)
			if err != nil {
				return err
			}
			if o.out, err = terminal.For(cmd, streams.Out); err != nil {
				return err
			}
			if o.cluster, err = cluster.Connect(flags); err != nil {
				return err
			}
			b, err := o.cluster.Benchmark(cmd.Context(), name)
			if err != nil {
				return err
			}
			return of(o)(cmd.Context(), b)
		},
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "let the API server check the change without making it")
	return cmd
}
