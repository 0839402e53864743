package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/tool"
)

func k6Command() *cobra.Command {
	return &cobra.Command{
		Use:                "k6 ARGUMENTS",
		Short:              `Run k6's own command line, for example "assay-load k6 run script.js"`,
		DisableFlagParsing: true,
		RunE:               func(*cobra.Command, []string) error { return command.HandOver() },
	}
}

// runClient runs the client of a pod until the manager releases it.
func runClient(runsScript, runsTool bool) error {
	if runsScript {
		return command.HandOver()
	}
	joined, log, err := command.Join()
	if err != nil {
		return err
	}
	if runsTool {
		return command.RunClient(tool.New(joined, os.Getenv("PATH"), log), log)
	}
	return command.RunClient(client.New(joined, log), log)
}
