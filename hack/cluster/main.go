// Command assay-cluster runs the Kubernetes cluster for demos and tests of Assay. It uses kind if a
// Docker engine is running and kind's node image is available. Otherwise it runs the cluster natively,
// from binaries that are built from the Go modules of Kubernetes. It can also run kind with podman, with a node
// image that is built from the same binaries.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/hack/cluster/kind"
	"github.com/assay-dev/assay/hack/cluster/native"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "assay-cluster:", err)
		os.Exit(1)
	}
}

// options holds the flags that all commands share.
type options struct {
	engine     string
	layout     native.Layout
	kubeconfig string
}

func report(format string, args ...any) {
	fmt.Printf("  "+format+"\n", args...)
}

func command() *cobra.Command {
	home, _ := os.UserHomeDir()
	cache := cmp.Or(os.Getenv("ASSAY_CACHE"), filepath.Join(home, ".cache", "assay"))
	var o options
	root := &cobra.Command{
		Use:           "assay-cluster",
		Short:         "Run the local Kubernetes cluster for demos and tests of Assay",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&o.engine, "engine", "auto", "kind, native, or auto: kind if a Docker engine and kind's node image are available")
	flags.StringVar(&o.layout.State, "state", "/var/lib/assay-cluster", "directory of the native cluster's persistent files; kind's with podman are in a directory with -kind appended")
	flags.StringVar(&o.layout.Run, "run", "/run/assay-cluster", "directory of the native cluster's pids and sockets; kind's with podman are in a directory with -kind appended")
	flags.StringVar(&o.layout.Bin, "bin", filepath.Join(cache, "bin"), "directory of the built programs")
	flags.StringVar(&o.layout.Images, "images", filepath.Join(cache, "images"), "directory of pause.tar, coredns.tar and kind-node.tar")
	flags.StringVar(&o.kubeconfig, "kubeconfig-copy", "", "file to write a copy of the kubeconfig to")

	root.AddCommand(
		o.upCommand(),
		&cobra.Command{
			Use: "down", Short: "Remove the cluster without a trace", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return o.down(cmd.Context()) },
		},
		&cobra.Command{
			Use: "status", Short: "Show each part, its health and its version", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return o.status(cmd.Context()) },
		},
		&cobra.Command{
			Use: "load ARCHIVE...", Short: "Load images into the cluster", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, files []string) error { return o.load(cmd.Context(), files) },
		},
		&cobra.Command{
			Use: "stop PART", Short: "Stop one part of the native cluster, or its second node, to simulate an outage", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, parts []string) error { return o.layout.StopPart(parts[0]) },
		},
		&cobra.Command{
			Use: "start PART", Short: "Start a part that was stopped with stop", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, parts []string) error {
				return o.layout.StartPart(cmd.Context(), parts[0], report)
			},
		},
		o.linkCommand(),
		o.superviseCommand(),
	)
	return root
}

func (o *options) upCommand() *cobra.Command {
	var nodes int
	cmd := &cobra.Command{
		Use: "up", Short: "Start the cluster, or those parts of it that are down", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.up(cmd.Context(), nodes) },
	}
	cmd.Flags().IntVar(&nodes, "nodes", 0, "number of nodes, 1 or 2; 0 is as many as the cluster has, or 1 for a new cluster")
	return cmd
}

// linkCommand returns the command that slows the network between the nodes.
func (o *options) linkCommand() *cobra.Command {
	var link native.Link
	cmd := &cobra.Command{
		Use: "link", Short: "Limit the network between the nodes of the native cluster; without flags, remove the limits", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.layout.SetLink(link) },
	}
	cmd.Flags().StringVar(&link.Rate, "rate", "", "bandwidth in each direction, such as 10mbit")
	cmd.Flags().DurationVar(&link.Delay, "delay", 0, "time that a packet takes in each direction, such as 20ms; needs a kernel with netem")
	cmd.Flags().Float64Var(&link.LossPercent, "loss", 0, "percentage of packets that are lost in each direction; 100 cuts the link")
	return cmd
}

// superviseCommand returns the command that `up` starts in the background.
func (o *options) superviseCommand() *cobra.Command {
	var newNamespace, second bool
	cmd := &cobra.Command{
		Use: "supervise", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.layout.Supervise(cmd.Context(), second, newNamespace)
		},
	}
	cmd.Flags().BoolVar(&newNamespace, "new-namespace", false, "prepare the mount namespace first")
	cmd.Flags().BoolVar(&second, "second-node", false, "supervise the second node instead of the first")
	return cmd
}

// cluster is a cluster of either engine.
type cluster interface {
	Up(ctx context.Context, nodes int, report func(format string, args ...any)) error
	Status(ctx context.Context, out io.Writer) error
	Load(ctx context.Context, archive string, report func(format string, args ...any)) error
}

func (o options) kind() kind.Cluster {
	return kind.Cluster{
		Bin: o.layout.Bin, Images: o.layout.Images, State: o.layout.State + "-kind", Run: o.layout.Run + "-kind",
		Kubeconfig: o.kubeconfig, Shared: o.layout.Exists,
	}
}

// cluster returns the cluster of the engine to use. With auto, an existing cluster decides, then
// what this machine supports.
func (o options) cluster(ctx context.Context) (cluster, error) {
	switch o.engine {
	case "kind":
		return o.kind(), nil
	case "native":
		return o.layout, nil
	case "auto":
		if !o.layout.Exists() && (o.kind().Exists(ctx) || o.kind().Available(ctx)) {
			return o.kind(), nil
		}
		return o.layout, nil
	}
	return nil, fmt.Errorf("--engine must be kind, native or auto, not %q", o.engine)
}

func (o options) up(ctx context.Context, nodes int) error {
	c, err := o.cluster(ctx)
	if err != nil {
		return err
	}
	if err := c.Up(ctx, nodes, report); err != nil {
		return err
	}
	if c == o.layout && o.kubeconfig != "" {
		if err := copyFile(o.kubeconfig, o.layout.Kubeconfig()); err != nil {
			return err
		}
	}
	fmt.Printf("\nexport KUBECONFIG=%s\n", cmp.Or(o.kubeconfig, o.layout.Kubeconfig()))
	return nil
}

func (o options) down(ctx context.Context) error {
	if o.kubeconfig != "" {
		if err := os.Remove(o.kubeconfig); err != nil && !os.IsNotExist(err) {
			return err
		}
		_ = os.Remove(filepath.Dir(o.kubeconfig)) // only when empty
	}
	if o.engine != "native" && o.kind().Exists(ctx) {
		if err := o.kind().Down(ctx, report); err != nil {
			return err
		}
	}
	if o.engine == "kind" {
		return nil
	}
	return o.layout.Down(ctx, report)
}

func (o options) status(ctx context.Context) error {
	c, err := o.cluster(ctx)
	if err != nil {
		return err
	}
	return c.Status(ctx, os.Stdout)
}

func (o options) load(ctx context.Context, files []string) error {
	c, err := o.cluster(ctx)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := c.Load(ctx, file, report); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
