// Command assay-k6 runs k6 scripts for assay-load, which hands over to it: it is k6 with an output that measures
// as Assay's own driver does. Loads without a script don't need it.
package main

import (
	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/k6/runner"
	"github.com/assay-dev/assay/k6/script"
)

// version is set by the linker.
var version = "dev"

func main() { command.Execute(root()) }

func root() *cobra.Command {
	root := &cobra.Command{
		Use:   command.K6,
		Short: "Run k6 scripts for assay-load",
		Long: `Run k6 scripts for assay-load, which starts this program. Use assay-load instead: it has
the same commands, and explains them.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	root.AddCommand(clientCommand(), runCommand(), k6Command())
	return root
}

func clientCommand() *cobra.Command {
	client := &cobra.Command{
		Use:   "client --script",
		Short: "Run as a client of a BenchmarkRun with a script, in a pod that Assay starts",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			joined, log, err := command.Join()
			if err != nil {
				return err
			}
			return command.RunClient(script.New(joined, log), log)
		},
	}
	client.Flags().Bool("script", true, "run a script: this program does nothing else")
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
