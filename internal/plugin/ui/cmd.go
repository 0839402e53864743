// Package ui implements the verb "ui", which serves pages with the runs and Benchmarks of a cluster to a browser on the
// same machine, with the rights of the user's kubeconfig.
package ui

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Show runs and Benchmarks in a browser.

The command serves pages on a port of this machine that only it can reach, and prints a
URL with a token: open it in a browser on this machine. Stop it with Ctrl+C. Nothing is
installed, and the pages can do what your kubeconfig can do, no more: those of a user who
may only read show everything and can change nothing.

The port is the same at each start for a cluster, so that bookmarks stay good once you
have opened the new URL.

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
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
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
	cmd.Flags().IntVar(&o.port, "port", 0, "port on 127.0.0.1; if not set one that is the same at each start for this cluster, or a free one while that is in use")
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "show the runs and Benchmarks of all namespaces")
	return cmd
}

// firstPort is the first of the ports that portOf returns, which are below those that systems give away, and ports how many there are.
const firstPort, ports = 20000, 10000

// portOf returns the port for the pages of a cluster, by the address of its API server and the user's number: the same at each start, so
// that bookmarks lead to the same cluster, and another one than that of another user of the machine.
func portOf(server string, user int) int {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s %d", server, user) // it can't fail
	return firstPort + int(h.Sum32()%ports)
}

// listen listens on a port of this machine or, if that is 0, on a usual one, or on any if that is in use.
func listen(ctx context.Context, port, usual int) (net.Listener, error) {
	on := func(port int) (net.Listener, error) {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	if port != 0 {
		return on(port)
	}
	if listener, err := on(usual); err == nil {
		return listener, nil
	}
	return on(0)
}

func (o *options) run(ctx context.Context, flags cluster.Flags, streams genericiooptions.IOStreams) error {
	if o.port < 0 || o.port > 65535 {
		return exit.Errorf(exit.Unknown, "--port %d must be 0 to 65535", o.port)
	}
	config, namespace, err := cluster.Config(flags)
	if err != nil {
		return err
	}
	c, err := cluster.New(config, namespace)
	if err != nil {
		return err
	}
	usual := portOf(config.Host, os.Getuid())
	listener, err := listen(ctx, o.port, usual)
	if err != nil {
		return exit.Errorf(exit.Unknown, "cannot listen: %w", err)
	}
	if o.port == 0 && listener.Addr().(*net.TCPAddr).Port != usual {
		_, _ = fmt.Fprintf(streams.ErrOut, "Port %d of this cluster's bookmarks is in use, by another start perhaps.\n", usual)
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
