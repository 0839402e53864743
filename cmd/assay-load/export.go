package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/k6script"
)

func exportCommand() *cobra.Command {
	export := &cobra.Command{
		Use:   "export",
		Short: "Print the load of a YAML file as another program reads it",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	export.AddCommand(&cobra.Command{
		Use:   "k6 PLAN",
		Short: "Print the load of a YAML file as a k6 script",
		Long: `Print the load of a YAML file, which "run" reads, as a k6 script. Stock k6 runs it, and "run --engine k6" runs
the same script. PLAN may be - for the standard input.

The first lines of the script say how to run it. Credentials aren't part of it, but are read from the
environment variable AUTHORIZATION. What k6 can't do as declared is an error.

  assay-load export k6 plan.yaml > plan.js
  GODEBUG=http2client=0 k6 run plan.js`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			job, err := command.ReadPlan(args[0])
			if err != nil {
				return &command.Error{Code: command.ExitUsage, Err: fmt.Errorf("%s: %w", args[0], err)}
			}
			text, err := k6script.Script(job.Plan, job.URL.Scheme+"://"+job.URL.Host)
			if err != nil {
				return &command.Error{Code: command.ExitUsage, Err: fmt.Errorf("%s: %w", args[0], err)}
			}
			_, err = fmt.Fprint(c.OutOrStdout(), text)
			return err
		},
	})
	return export
}
