// Command assay-load generates HTTP load: it is k6 with Assay's extensions. In a client pod it gets
// its load from the manager. Without a cluster it gets the load from a file or from ab's options.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/client"
)

// version is set by the linker.
var version = "dev"

func main() {
	command := root()
	if err := command.Execute(); err != nil {
		var coded *codedError
		if !errors.As(err, &coded) {
			coded = &codedError{exitFailed, err}
		}
		fmt.Fprintln(os.Stderr, "assay-load:", coded.err)
		os.Exit(coded.code)
	}
}

// The exit codes. The help texts of the commands document them. The code after an
// interrupt is standalone.ExitInterrupted.
const (
	exitValid    = 0
	exitFailed   = 1
	exitMissed   = 2
	exitNotValid = 3
	exitUsage    = 4
	// exitABUsage is ab's exit code for invalid options.
	exitABUsage = 22
)

// codedError is an error with the exit code of the process.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }

func (e *codedError) Unwrap() error { return e.err }

func root() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay-load",
		Short: "Generate HTTP load and measure it",
		Long: `Generate HTTP load and measure it. assay-load is k6 with Assay's extensions.

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
	root.AddCommand(clientCommand(), copyCommand(), runCommand(), abCommand(), k6Command())
	return root
}

func clientCommand() *cobra.Command {
	var runsScript, runsTool bool
	command := &cobra.Command{
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
  0  the manager has stored the client's figures
  1  failed`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runClient(runsScript, runsTool) },
	}
	command.Flags().BoolVar(&runsScript, "script", false, "run the k6 script in "+session.ScriptDirectory)
	command.Flags().BoolVar(&runsTool, "tool", false, "run the load generator that the plan names, a program on the PATH")
	command.MarkFlagsMutuallyExclusive("script", "tool")
	return command
}
