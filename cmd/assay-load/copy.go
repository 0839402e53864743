package main

import (
	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/selfcopy"
)

func copyCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "copy FILE",
		Short:  "Copy this program to FILE, in a pod that Assay starts",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return selfcopy.Copy(args[0]) },
	}
}
