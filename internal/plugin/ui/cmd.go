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
	"github.com/assay-dev/assay/internal/plugin/live"
)

const long = `Show runs and Benchmarks in a browser.

The command serves pages on a port of this machine that only it can reach, and prints a
URL with a token: open it in a browser on this machine. Stop it with Ctrl+C. Nothing is
installed, and the pages can do what your kubeconfig can do, no more: those of a user who
may only read show everything and can change nothing.

A list shows all runs of the namespace, or of all with --all-namespaces, with filters that
are part of the URL. The page of a run shows its progress and then its report; tick two
runs to compare them. New runs are checked by the API server before they start.

While a run measures, its page shows percentiles over all clients, errors, CPU of target
and clients, and findings, each second, from the leader of the operator. That needs these
rights in the operator's namespace, which the Role with live-viewer in its name has:
  get leases             to find the leader
  create pods/portforward  to reach it, as "kubectl port-forward" does
and the right to get the run. Without them the page shows what the status says, every few
seconds and without percentiles, and the reason.

Exit codes:
  0  the command was stopped
  4  the kubeconfig can't be read, or the port is in use`

const example = `  # The runs of the current namespace
  kubectl assay ui

  # Those of all namespaces, on a fixed port
  kubectl assay ui --all-namespaces --port 8017

  # With an operator that was installed as release "perf" in namespace "tools"
  kubectl assay ui --operator-namespace tools --operator-lease perf-assay-manager

  # On another machine: forward the port, and open the URL here
  ssh -L 8017:127.0.0.1:8017 build kubectl assay ui --port 8017`

type options struct {
	port                             int
	everywhere                       bool
	operatorNamespace, operatorLease string
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
	cmd.Flags().StringVar(&o.operatorNamespace, "operator-namespace", "assay-system", "namespace in which the operator is installed")
	cmd.Flags().StringVar(&o.operatorLease, "operator-lease", "assay-manager", "name of the Lease of the operator's leader: NAME-manager, where NAME is that of a Helm release, followed by -assay unless it contains it")
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
	config, err := flags.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	source, err := live.New(config, o.operatorNamespace, o.operatorLease)
	if err != nil {
		return err
	}
	defer source.Close()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return exit.Errorf(exit.Unknown, "cannot listen: %w", err)
	}
	scope := c.Namespace
	if o.everywhere {
		scope = ""
	}
	s, guard := NewApp(c, c.Namespace, scope, source), newGuard(listener.Addr())
	s.watchCluster(ctx)
	if _, err := fmt.Fprintf(streams.Out, "Open %s\nStop with Ctrl+C.\n", guard.url()); err != nil {
		return err
	}
	return serve(ctx, listener, guard.protect(s.handler(), s.csrf))
}
