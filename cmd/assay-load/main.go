// Command assay-load generates HTTP load. In a client pod it gets its load from the manager. Without a cluster
// it gets the load from a file or from ab's options. For k6 scripts it hands over to the program assay-k6.
package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/session"
)

// version is set by the linker.
var version = "dev"

func main() { command.Execute(root()) }

func root() *cobra.Command {
	var options urlOptions
	root := &cobra.Command{
		Use:   "assay-load [flags] URL",
		Short: "Generate HTTP load and measure it",
		Long: `Generate HTTP load and measure it.

With a URL it is measured for 10 s on 10 connections, and the report is printed, which begins with whether
the result is valid. A page (-o html) or a picture is written to a file, whose name is printed.

"run" runs a load that a file describes, or a k6 script, and "ab" accepts ab's options. k6 scripts are run
by the program assay-k6, which must be in the same directory. "client" is for the pods of a BenchmarkRun.

Exit codes: those of "assay-load run"; see assay-load run --help.`,
		Example: `  assay-load http://127.0.0.1:8080/
  assay-load -c 100 -d 30s --warmup 5s -H 'Accept: application/json' http://127.0.0.1:8080/a?b=c
  assay-load --rate 0.5 -n 20 https://www.example.org/
  assay-load -o html http://127.0.0.1:8080/`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return &command.Error{Code: command.ExitUsage, Err: fmt.Errorf("specify one URL, not %d: put URLs with & or ? in quotes; see assay-load --help", len(args))}
			case len(args) == 1 && !strings.ContainsAny(args[0], ".:/"):
				return &command.Error{Code: command.ExitUsage, Err: fmt.Errorf("unknown command %q; see assay-load --help. A URL begins with http:// or https://", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				if c.Flags().NFlag() > 0 {
					return &command.Error{Code: command.ExitUsage, Err: errors.New("specify a URL; see assay-load --help")}
				}
				return c.Help()
			}
			return runURL(c.Context(), c, args[0], &options)
		},
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version,
	}
	options.addFlags(root)
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
