// Package command holds what the command lines of assay-load and assay-k6 share: exit codes, the report of a
// load without a cluster, and the life of a client in a pod.
package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/validity"
)

// The exit codes. The help texts of the commands document them. The code after an
// interrupt is standalone.ExitInterrupted.
const (
	ExitValid    = 0
	ExitFailed   = 1
	ExitMissed   = 2
	ExitNotValid = 3
	ExitUsage    = 4
	// ExitABUsage is ab's exit code for invalid options.
	ExitABUsage = 22
)

// Error is an error with the exit code of the process.
type Error struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without the exit code.
func (e *Error) Unwrap() error { return e.Err }

// Execute runs a command line. It exits the process if that fails. Both programs report errors as
// assay-load: that is what users type.
func Execute(root *cobra.Command) {
	err := root.Execute()
	if err == nil {
		return
	}
	coded := &Error{Code: ExitFailed, Err: err}
	errors.As(err, &coded)
	fmt.Fprintln(os.Stderr, "assay-load:", coded.Err)
	os.Exit(coded.Code)
}

// Finish writes the report of an outcome to where to says, and returns the exit code.
func Finish(o standalone.Outcome, to *Destination) int {
	defer to.Close()
	if o.Interrupted {
		fmt.Fprintln(os.Stderr, "assay-load: interrupted")
	}
	if o.Err != nil {
		fmt.Fprintln(os.Stderr, "assay-load:", o.Err)
		if session.FailureKindOf(o.Err) == session.FailureScriptInvalid {
			return Code(o, ExitUsage)
		}
		return Code(o, ExitFailed)
	}
	if err := to.Write(o.Result); err != nil {
		fmt.Fprintln(os.Stderr, "assay-load:", err)
		return ExitFailed
	}
	switch {
	case !validity.Valid(o.Result.Findings):
		return Code(o, ExitNotValid)
	case slices.ContainsFunc(o.Result.Thresholds, func(t result.ThresholdOutcome) bool { return !t.Met }):
		return Code(o, ExitMissed)
	}
	return Code(o, ExitValid)
}

// Code returns standalone.ExitInterrupted if the load was interrupted, and code otherwise.
func Code(o standalone.Outcome, code int) int {
	if o.Interrupted {
		return standalone.ExitInterrupted
	}
	return code
}

// Print writes the text with a single write, and only if there was no error.
func Print(to io.Writer, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	_, err := text.WriteTo(to)
	return err
}
