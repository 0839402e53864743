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
	// ScriptDirectory is where a client has the files of its k6 script.
	ScriptDirectory = "/assay/script"
	// WorkDirectory is where a client of a script can write files.
	WorkDirectory = "/assay/work"
	// ScriptLeader is the index of the client that runs setup() and teardown().
	ScriptLeader = 0
	// MaxSetupBytes bounds what setup() returns, as JSON.
	MaxSetupBytes = 1 << 20
	// maxScriptBytes bounds a client's figures of a script.
	maxScriptBytes = 3 << 20
)

// Script is the part of one client in a run of a k6 script.
type Script struct {
	// File is the script's path below ScriptDirectory.
	File string `json:"file"`
	// Segment and Sequence are k6's execution segment of this client, as in
	// "1/3:2/3", and those of all clients, as in "0,1/3,2/3,1".
	Segment  string `json:"segment"`
	Sequence string `json:"sequence"`
	// Leads is whether this client runs setup() and teardown().
	Leads bool `json:"leads,omitempty"`
	// HostNames lead to the target.
	HostNames []string `json:"hostNames,omitempty"`
	// Tags are added to all samples.
	Tags map[string]string `json:"tags,omitempty"`
	// Secrets are the names of environment variables whose values are kept out of
	// logs and messages.
	Secrets []string `json:"secrets,omitempty"`
	// Outputs are k6's own outputs to switch on, as its --out names them. What they
	// need besides is in the environment.
	Outputs []string `json:"outputs,omitempty"`
}

func (s *Script) check() error {
	if s.File == "" || path.IsAbs(s.File) || path.Clean(s.File) != s.File || strings.HasPrefix(s.File, "..") {
		return fmt.Errorf("the script %q", s.File)
	}
	if s.Segment == "" || s.Sequence == "" {
		return fmt.Errorf("the execution segment %q of %q", s.Segment, s.Sequence)
	}
	return nil
}

// ScriptState says how far a client is with its k6 script.
type ScriptState struct {
	// SetupEnded is whether it has what setup() returned: its own, or that of the
	// client that leads.
	SetupEnded bool
	// SetupData is what setup() returned, of the client that leads: JSON, or
	// nothing.
	SetupData []byte
	// LoadEnded is whether its load has ended.
	LoadEnded bool
}

// ScriptStateToWire returns the state as it is sent.
func ScriptStateToWire(s ScriptState) *sessionpb.ScriptState {
	return &sessionpb.ScriptState{SetupEnded: s.SetupEnded, SetupData: s.SetupData, LoadEnded: s.LoadEnded}
}

// ScriptStateFromWire is the inverse of ScriptStateToWire. It refuses data that
// setup() can't have returned.
func ScriptStateFromWire(w *sessionpb.ScriptState) (ScriptState, error) {
	s := ScriptState{SetupEnded: w.GetSetupEnded(), SetupData: w.GetSetupData(), LoadEnded: w.GetLoadEnded()}
	if n := len(s.SetupData); n > MaxSetupBytes {
		return ScriptState{}, fmt.Errorf("setup data of %d bytes", n)
	}
	if len(s.SetupData) > 0 && !json.Valid(s.SetupData) {
		return ScriptState{}, errors.New("setup data that isn't JSON")
	}
	return s, nil
}

// FailureKind is the kind of a client's failure; the zero value is for any that
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

// FailureError is an error of a kind.
type FailureError struct {
	Kind FailureKind
	Err  error
}

// Error is what went wrong.
func (e *FailureError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *FailureError) Unwrap() error { return e.Err }

// ScriptTotalsToWire returns a client's figures of a script as they are sent;
// nil for none.
func ScriptTotalsToWire(s *result.ScriptTotals) (*sessionpb.ScriptTotals, error) {
	if s == nil {
		return nil, nil
	}
	w, err := toMessage(s, &sessionpb.ScriptTotals{})
	if n := proto.Size(w); err == nil && n > maxScriptBytes {
		err = fmt.Errorf("the script's metrics have %d bytes, the limit is %d: have fewer metrics", n, maxScriptBytes)
	}
	return w, err
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
	s := &result.ScriptTotals{}
	if err := fromMessage(w, s); err != nil {
		return nil, fmt.Errorf("figures of a script: %w", err)
	}
	return s, s.Check()
}
