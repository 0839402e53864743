// Package exit holds the exit codes of the plugin and how an error carries one.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/report"
)

// The exit codes, as --help documents them.
const (
	// Success: the run succeeded, its result is valid and met its thresholds; or
	// what was asked for was done.
	Success = 0
	// Failed: the run ended without a result, or has none yet.
	Failed = 1
	// ThresholdsMissed: the result is valid and missed a threshold.
	ThresholdsMissed = 2
	// NotValid: the result can't be trusted, whatever its thresholds.
	NotValid = 3
	// Unknown: it can't be told: the API server doesn't answer, the run doesn't
	// exist or was deleted, the time given was over, or the command was wrong.
	Unknown = 4
	// Interrupted: by a signal, as shells have it.
	Interrupted = 130
)

// Error is an error with an exit code. Err may be nil when all was said before.
type Error struct {
	Code int
	Err  error
}

// Error is the message of the wrapped error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap is the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an error with an exit code.
func Errorf(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Report writes what an error says, if anything, and returns its exit code:
// Unknown for one that carries none.
func Report(w io.Writer, err error) int {
	if err == nil {
		return Success
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	carried := &Error{Code: Unknown, Err: err}
	errors.As(err, &carried)
	if carried.Err != nil {
		_, _ = fmt.Fprintf(w, "error: %s\n", report.Printable(err.Error()))
	}
	return carried.Code
}
