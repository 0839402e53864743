// Package plugin defines the command line of kubectl-assay. Each verb has a
// package of its own below it.
package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/ab"
	"github.com/assay-dev/assay/internal/plugin/benchmark"
	"github.com/assay-dev/assay/internal/plugin/check"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/compare"
	"github.com/assay-dev/assay/internal/plugin/doctor"
	"github.com/assay-dev/assay/internal/plugin/initialize"
	"github.com/assay-dev/assay/internal/plugin/report"
	"github.com/assay-dev/assay/internal/plugin/table"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/plugin/ui"
	"github.com/assay-dev/assay/internal/plugin/watch"
)

const long = `Watch BenchmarkRuns and Benchmarks, print their reports and compare them.

A BenchmarkRun benchmarks an HTTP server. Create one with "kubectl apply", wait
for it to finish, and print its report:

  kubectl apply -f run.yaml
  kubectl assay watch tomcat-nio && kubectl assay report tomcat-nio

"kubectl assay init" writes a manifest to start from, and "kubectl assay check" says what
is wrong with one. Show several runs in a table:

  kubectl assay table tomcat-nio tomcat-apr

Show all of that in a browser, runs live while they measure:
  kubectl assay ui

Compare two images, settings or manifests, and get the answer in one sentence:

  kubectl assay ab shop:1.4 shop:1.5 -f run.yaml

A Benchmark makes runs of several variants and says which is better, by how much and
how sure that is:

  kubectl apply -f benchmark.yaml
  kubectl assay watch benchmark/connectors
  kubectl assay report benchmark/connectors

"kubectl explain benchmarkrun.spec" and "kubectl explain benchmark.spec" describe every
field.`

// NewCommand returns the plugin's root command with all verbs.
func NewCommand(streams genericiooptions.IOStreams, version string) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:           "kubectl-assay",
		Short:         "Watch BenchmarkRuns and Benchmarks, print their reports and compare them",
		Long:          long,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl assay"},
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.SetVersionTemplate("kubectl-assay {{.Version}}\n")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	flags.AddFlags(root.PersistentFlags())
	cluster.CompleteFlags(root, flags)
	terminal.AddFlag(root)
	root.AddCommand(
		ab.NewCommand(flags, streams),
		benchmark.NewCommand(flags, streams),
		check.NewCommand(flags, streams),
		compare.NewCommand(flags, streams),
		doctor.NewCommand(flags, streams, version),
		initialize.NewCommand(streams),
		report.NewCommand(flags, streams),
		table.NewCommand(flags, streams),
		ui.NewCommand(flags, streams),
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
