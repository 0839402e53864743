// Package plugin is the command line of kubectl-assay: one package below it for
// each verb.
package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/report"
	"github.com/assay-dev/assay/internal/plugin/table"
	"github.com/assay-dev/assay/internal/plugin/watch"
)

const long = `Watch benchmark runs, print their reports and compare them.

A BenchmarkRun benchmarks an HTTP server in the cluster. Create one with
"kubectl apply", then wait for it and read what it measured:

  kubectl apply -f run.yaml
  kubectl assay watch tomcat-nio && kubectl assay report tomcat-nio

Compare several runs:

  kubectl assay table tomcat-nio tomcat-apr

"kubectl explain benchmarkrun.spec" describes every field of a run.`

// NewCommand is the plugin's command with all its verbs.
func NewCommand(streams genericiooptions.IOStreams, version string) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:           "kubectl-assay",
		Short:         "Watch benchmark runs, print their reports and compare them",
		Long:          long,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl assay"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		report.NewCommand(flags, streams),
		table.NewCommand(flags, streams),
		watch.NewCommand(flags, streams),
		newVersionCommand(streams, version),
	)
	return root
}

func newVersionCommand(streams genericiooptions.IOStreams, version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this plugin",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(streams.Out, "kubectl-assay %s\n", version)
			return err
		},
	}
}
