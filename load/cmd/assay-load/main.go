// Command assay-load is Assay's client: k6 with Assay's extension. In a pod it
// takes its load from the manager, alone from a file or from ab's options.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/client"
)

// version is set when the program is built.
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

// Exit codes, as the help of the commands documents them. standalone has that of
// an interrupt.
const (
	exitValid    = 0
	exitFailed   = 1
	exitNotValid = 3
	exitUsage    = 4
	// exitABUsage is ab's own for a wrong command line.
	exitABUsage = 22
)

// codedError is an error with the exit code that it ends the process with.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }

func (e *codedError) Unwrap() error { return e.err }

func root() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay-load",
		Short: "assay-load drives HTTP load: it is k6 with Assay's extension.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no command %q; see assay-load help", args[0])
			}
			return nil
		},
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	root.AddCommand(clientCommand(), runCommand(), abCommand(), k6Command())
	return root
}

func clientCommand() *cobra.Command {
	var runsScript bool
	command := &cobra.Command{
		Use:   "client",
		Short: "Be a client in a benchmark run, in a pod that Assay starts",
		Long: `Be a client in a benchmark run. Assay starts this in a pod; it does nothing without Assay's manager.

Environment:
  ASSAY_MANAGER              host:port of the manager's sessions
  ` + client.CPULimitVariable + `     the container's CPU limit in thousandths of a CPU
  ` + client.MemoryLimitVariable + `   the container's memory limit in bytes

Its token is in ` + session.TokenPath + `, the certificates by which it checks
the manager in ` + session.CAPath + `.

It exits 0 when the manager has stored its figures, else 1.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runClient(runsScript) },
	}
	command.Flags().BoolVar(&runsScript, "script", false, "have k6 run the script in "+session.ScriptFolder)
	return command
}
