package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func copyCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "copy FILE",
		Short:  "Copy this program to FILE, in a pod that Assay starts",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return copyProgram(args[0]) },
	}
}

// copyProgram copies this program to a file that everybody may execute.
func copyProgram(path string) (err error) {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	return nil
}
