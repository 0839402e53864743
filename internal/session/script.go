package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// ScriptDirectory is the directory of a client's k6 script.
	ScriptDirectory = "/assay/script"
	// WorkDirectory is the directory in which a client of a script can write files.
	WorkDirectory = "/assay/work"
	// ScriptLeader is the index of the client that runs setup() and teardown().
	ScriptLeader = 0
	// MaxSetupBytes bounds the JSON that setup() returns.
	MaxSetupBytes = 1 << 20
	// maxScriptBytes and maxScriptEntries bound the message with a client's figures of
	// a script, the latter its metrics and thresholds.
	maxScriptBytes   = 3 << 20
	maxScriptEntries = 1000
)

// Script is one client's part of a k6 script's load.
type Script struct {
	// File is the script's path below ScriptDirectory.
	File string `json:"file"`
	// Segment and Sequence are k6's execution segment of this client, as in
	// "1/3:2/3", and those of all clients, as in "0,1/3,2/3,1".
	Segment  string `json:"segment"`
	Sequence string `json:"sequence"`
	// Leads makes this client run setup() and teardown().
	Leads bool `json:"leads,omitempty"`
	// HostNames are names that resolve to the target.
	HostNames []string `json:"hostNames,omitempty"`
	// Tags are added to all samples.
	Tags map[string]string `json:"tags,omitempty"`
	// Secrets are the names of environment variables whose values are removed from
	// logs and messages.
	Secrets []string `json:"secrets,omitempty"`
	// Outputs are arguments of k6's option --out. Further settings of an output are in
	// the environment.
	Outputs []string `json:"outputs,omitempty"`
	// MergedThresholds makes the manager evaluate thresholds with abortOnFail, on the metrics of all clients. A client
	// of an older manager, or without one, evaluates them on its own metrics.
	MergedThresholds bool `json:"mergedThresholds,omitempty"`
}

func (s *Script) check() error {
	if s.File == "" || path.IsAbs(s.File) || path.Clean(s.File) != s.File || strings.HasPrefix(s.File, "..") {
		return fmt.Errorf("script %q", s.File)
	}
	if s.Segment == "" || s.Sequence == "" {
		return fmt.Errorf("execution segment %q of %q", s.Segment, s.Sequence)
	}
	return nil
}

// ScriptState is the progress of a client's k6 script.
type ScriptState struct {
	// SetupEnded is set once the client has what setup() returned: from its own call,
	// or from the client that leads.
	SetupEnded bool
	// SetupData is the JSON that setup() returned on the client that leads, or empty.
	SetupData []byte
	// LoadEnded is set once the client's load has ended.
	LoadEnded bool
}

// ScriptStateToWire returns the message for a state.
func ScriptStateToWire(s ScriptState) *sessionpb.ScriptState {
	return &sessionpb.ScriptState{SetupEnded: s.SetupEnded, SetupData: s.SetupData, LoadEnded: s.LoadEnded}
}

// ScriptStateFromWire is the inverse of ScriptStateToWire. It returns an error for
// data that setup() can't have returned.
func ScriptStateFromWire(w *sessionpb.ScriptState) (ScriptState, error) {
	s := ScriptState{SetupEnded: w.GetSetupEnded(), SetupData: w.GetSetupData(), LoadEnded: w.GetLoadEnded()}
	if n := len(s.SetupData); n > MaxSetupBytes {
		return ScriptState{}, fmt.Errorf("setup data of %d bytes", n)
	}
	if len(s.SetupData) > 0 && !json.Valid(s.SetupData) {
		return ScriptState{}, errors.New("setup data is not JSON")
	}
	return s, nil
}

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

// ScriptTotalsToWire returns the message for a client's figures of a script, or nil for none.
func ScriptTotalsToWire(s *result.ScriptTotals) (*sessionpb.ScriptTotals, error) {
	if s == nil {
		return nil, nil
	}
	w := toMessage(s, &sessionpb.ScriptTotals{})
	if n := proto.Size(w); n > maxScriptBytes {
		return nil, fmt.Errorf("the script's metrics have %d bytes, the limit is %d. Use fewer metrics", n, maxScriptBytes)
	}
	return w, nil
}

// ScriptTotalsFromWire is the inverse of ScriptTotalsToWire. It returns an error
// for what no client can have counted.
func ScriptTotalsFromWire(w *sessionpb.ScriptTotals) (*result.ScriptTotals, error) {
	if w == nil {
		return nil, nil
	}
	if n := proto.Size(w); n > maxScriptBytes {
		return nil, fmt.Errorf("figures of a script with %d bytes", n)
	}
	if n := len(w.GetMetrics()) + len(w.GetThresholds()); n > maxScriptEntries {
		return nil, fmt.Errorf("%d metrics and thresholds of a script", n)
	}
	s := &result.ScriptTotals{}
	if err := fromMessage(w, s); err != nil {
		return nil, fmt.Errorf("figures of a script: %w", err)
	}
	return s, s.Check()
}
