// Command assay-load generates HTTP load. In a client pod it gets its load from the manager. Without a cluster
// it gets the load from a file or from ab's options. For k6 scripts it hands over to the program assay-k6.
package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/session"
)

// version is set by the linker.
var version = "dev"

func main() { command.Execute(root()) }

func root() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay-load",
		Short: "Generate HTTP load and measure it",
		Long: `Generate HTTP load and measure it. k6 scripts are run by the program assay-k6,
which assay-load starts: it must be in the same directory.

To benchmark a server without a cluster, use "run" or "ab". "client" is for the
pods of a BenchmarkRun.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; see assay-load help", args[0])
			}
			return nil
		},
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	root.AddCommand(clientCommand(), copyCommand(), runCommand(), exportCommand(), abCommand(), k6Command())
	return root
}

func clientCommand() *cobra.Command {
	var runsScript, runsTool bool
	cmd := &cobra.Command{
		Use:   "client",
		Short: "Run as a client of a BenchmarkRun, in a pod that Assay starts",
		Long: `Run as a client of a BenchmarkRun. Assay starts this command in a pod; it needs Assay's manager.

Environment:
  ASSAY_MANAGER              host:port of the manager's session server
  ` + client.CPULimitVariable + `     the container's CPU limit in thousandths of a CPU
  ` + client.MemoryLimitVariable + `   the container's memory limit in bytes

Files:
  ` + session.TokenPath + `       the service account token
  ` + session.CAPath + `      the CA bundle to verify the manager with

Exit codes:
  0  the manager has stored the client's metrics
  1  failed`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runClient(runsScript, runsTool) },
	}
	cmd.Flags().BoolVar(&runsScript, "script", false, "run the k6 script in "+session.ScriptDirectory)
	cmd.Flags().BoolVar(&runsTool, "tool", false, "run the load generator that the plan names, a program on the PATH")
	cmd.MarkFlagsMutuallyExclusive("script", "tool")
	return cmd
}
