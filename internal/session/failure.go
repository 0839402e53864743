package session

import (
	"errors"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// FailureKind is the kind of a pod's failure; the zero value is for any that
// has none of its own.
type FailureKind = sessionpb.FailureKind

// The kinds of failures of a k6 script.
const (
	// FailureScriptInvalid: k6 can't compile the script, or its options are wrong.
	FailureScriptInvalid = sessionpb.FailureKind_FAILURE_KIND_SCRIPT_INVALID
	// FailureScriptException: setup() threw an exception or timed out, or k6
	// couldn't make a virtual user.
	FailureScriptException = sessionpb.FailureKind_FAILURE_KIND_SCRIPT_EXCEPTION
	// FailureScriptAborted: the script called test.abort().
	FailureScriptAborted = sessionpb.FailureKind_FAILURE_KIND_SCRIPT_ABORTED
)

// The other kinds of failures.
const (
	// FailureProtocolMismatch: the pod and the manager can't work together; see CheckProtocol.
	FailureProtocolMismatch = sessionpb.FailureKind_FAILURE_KIND_PROTOCOL_MISMATCH
	// FailureStopped: the pod was stopped by a signal. Why is known only to the cluster.
	FailureStopped = sessionpb.FailureKind_FAILURE_KIND_STOPPED
)

// FailureError is an error of a kind.
type FailureError struct {
	Kind FailureKind
	Err  error
}

// Error returns the text of Err.
func (e *FailureError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *FailureError) Unwrap() error { return e.Err }

// FailureKindOf returns the kind of an error, or the zero value if it has none.
func FailureKindOf(err error) FailureKind {
	var failure *FailureError
	if errors.As(err, &failure) {
		return failure.Kind
	}
	return 0
}
