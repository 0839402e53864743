// Package exit defines the exit codes of the plugin and errors that have one.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/printable"
)

// The exit codes. The help texts of the commands document them.
const (
	// Success means that the command succeeded. For watch: the run succeeded, and its
	// result is valid and meets its thresholds; or the round of the Benchmark passed or was measured.
	Success = 0
	// Failed means that the run failed, or has no result yet, or that the round ended with an error.
	Failed = 1
	// ThresholdsMissed means that the result is valid and misses a threshold. GateFailed has the same
	// code: a claim of the round is contradicted.
	ThresholdsMissed = 2
	GateFailed       = ThresholdsMissed
	// NotValid means that the result can't be trusted, whatever its thresholds.
	NotValid = 3
	// Unknown means that the outcome isn't known: the API server can't be reached or
	// rejects the request, the run doesn't exist or was deleted, the timeout expired,
	// or the command line is invalid.
	Unknown = 4
	// Inconclusive means that claims of the round are undecided, unless the Benchmark's
	// onInconclusive is Pass.
	Inconclusive = 5
	// Interrupted means that a signal ended the command. Shells use the same code.
	Interrupted = 130
)

// Error is an error with an exit code. Err is nil if there is nothing to print.
type Error struct {
	Code int
	Err  error
}

// Error implements error. It returns the message of the wrapped error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a formatted message, as fmt.Errorf does.
func Errorf(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Coded returns an error with an exit code and no message, or nil for Success.
func Coded(code int) error {
	if code == Success {
		return nil
	}
	return &Error{Code: code}
}

// Report prints the message of err, if it has one, and returns its exit code. The
// exit code of an error that isn't an Error is Unknown.
func Report(w io.Writer, err error) int {
	if err == nil {
		return Success
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	coded := &Error{Code: Unknown, Err: err}
	errors.As(err, &coded)
	if coded.Err != nil {
		_, _ = fmt.Fprintf(w, "error: %s\n", printable.Text(err.Error()))
	}
	return coded.Code
}
