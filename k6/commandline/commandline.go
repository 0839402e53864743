// Package commandline is the command line of assay-k6, and that of a build of k6 with Assay's extension.
package commandline

import (
	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/k6/runner"
	"github.com/assay-dev/assay/k6/script"
)

// Root returns the command line of assay-k6. version is the program's.
func Root(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   command.K6,
		Short: "Run k6 for assay-load: scripts, and declared loads",
		Long: `Run k6 for assay-load, which starts this program: scripts, and declared loads. Use assay-load
instead: it has the same commands, and explains them.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	// As in a build of k6 with the extension, so that pods start either image by the same command.
	x := &cobra.Command{Use: "x", Hidden: true}
	x.AddCommand(subcommand(version))
	root.AddCommand(clientCommand(), runCommand(version), k6Command(), x)
	return root
}

// Extension returns the command line of a build of k6 with Assay's extension, below "k6 x". version is the extension's.
func Extension(version string) *cobra.Command {
	assay := subcommand(version)
	assay.PersistentPreRunE = func(*cobra.Command, []string) error {
		script.RunsAsK6()
		return runner.StayOffline()
	}
	return assay
}

// subcommand returns the command assay with what clients need.
func subcommand(version string) *cobra.Command {
	assay := &cobra.Command{Use: "assay", Short: "Run scripts and declared loads as a client of Assay", Version: version}
	assay.AddCommand(clientCommand(), runCommand(version))
	return assay
}

func clientCommand() *cobra.Command {
	var runsTool bool
	client := &cobra.Command{
		Use:   "client --script|--tool",
		Short: "Run as a client of a BenchmarkRun with a script or the tool K6, in a pod that Assay starts",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			joined, log, err := command.Join()
			if err != nil {
				return err
			}
			if runsTool {
				return command.RunClient(script.NewPlan(joined, log), log)
			}
			return command.RunClient(script.New(joined, log), log)
		},
	}
	client.Flags().Bool("script", true, "run a script, the default")
	client.Flags().BoolVar(&runsTool, "tool", false, "run a declared load")
	return client
}

func k6Command() *cobra.Command {
	return &cobra.Command{
		Use:                "k6 ARGUMENTS",
		Short:              "Run k6's own command line",
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := runner.StayOffline(); err != nil {
				return err
			}
			runner.K6(args...)
			return nil
		},
	}
}
