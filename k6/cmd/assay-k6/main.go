// Command assay-k6 runs k6 scripts for assay-load, which hands over to it: it is k6 with an output that measures
// as Assay's own driver does. Only scripts, and loads by k6, need it.
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
		Short: "Run k6 for assay-load: scripts, and declared loads",
		Long: `Run k6 for assay-load, which starts this program: scripts, and declared loads. Use assay-load
instead: it has the same commands, and explains them.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	root.AddCommand(clientCommand(), runCommand(), k6Command())
	return root
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
