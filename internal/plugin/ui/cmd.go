// Package ui implements the verb "ui", which serves pages with the runs and Benchmarks of a cluster to a browser on the
// same machine, with the rights of the user's kubeconfig.
package ui

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Show runs and Benchmarks in a browser.

The command serves pages on a port of this machine that only it can reach, and prints a
URL with a token: open it in a browser on this machine. Stop it with Ctrl+C. Nothing is
installed, and the pages can do what your kubeconfig can do, no more: those of a user who
may only read show everything and can change nothing.

A list shows all runs of the namespace, or of all with --all-namespaces, with filters that
are part of the URL. The page of a run shows its progress and then its report; tick two
runs to compare them. New runs are checked by the API server before they start.

While a run measures, its page shows throughput, percentiles over all clients, errors and
CPU of target and clients every few seconds, as its status has them.

Exit codes:
  0  the command was stopped
  4  the kubeconfig can't be read, or the port is in use`

const example = `  # The runs of the current namespace
  kubectl assay ui

  # Those of all namespaces, on a fixed port
  kubectl assay ui --all-namespaces --port 8017

  # On another machine: forward the port, and open the URL here
  ssh -L 8017:127.0.0.1:8017 build kubectl assay ui --port 8017`

type options struct {
	port       int
	everywhere bool
}

// NewCommand returns the command.
func NewCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:               "ui",
		Short:             "Show runs and Benchmarks in a browser",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), flags, streams) },
	}
	cmd.Flags().IntVar(&o.port, "port", 0, "port on 127.0.0.1; a free one if not set")
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "show the runs and Benchmarks of all namespaces")
	return cmd
}

func (o *options) run(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) error {
	if o.port < 0 || o.port > 65535 {
		return exit.Errorf(exit.Unknown, "--port %d must be 0 to 65535", o.port)
	}
	c, err := cluster.Connect(flags)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return exit.Errorf(exit.Unknown, "cannot listen: %w", err)
	}
	scope := Scope{Namespace: c.Namespace}
	if o.everywhere {
		scope.Namespace = ""
	}
	s, guard := NewApp(c, c.Namespace, scope), newGuard(listener.Addr())
	s.runs.start(ctx)
	s.benchmarks.start(ctx)
	if _, err := fmt.Fprintf(streams.Out, "Open %s\nStop with Ctrl+C.\n", guard.url()); err != nil {
		return err
	}
	return serve(ctx, listener, guard.protect(s.handler(), s.csrf))
}
