package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

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
	// without a manager evaluates them on its own metrics.
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
