package command

import (
	"errors"
	"testing"

	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// TestExitCodes checks the exit codes that don't depend on a load.
func TestExitCodes(t *testing.T) {
	invalid := []result.Finding{{Reason: "TooShort", Severity: result.Invalidates}}
	met, missed := result.ThresholdOutcome{Met: true}, result.ThresholdOutcome{}
	for name, tc := range map[string]struct {
		outcome standalone.Outcome
		want    int
	}{
		"valid":             {standalone.Outcome{Result: &result.Result{Thresholds: []result.ThresholdOutcome{met}}}, ExitValid},
		"missed":            {standalone.Outcome{Result: &result.Result{Thresholds: []result.ThresholdOutcome{met, missed}}}, ExitMissed},
		"missed, not valid": {standalone.Outcome{Result: &result.Result{Thresholds: []result.ThresholdOutcome{missed}, Findings: invalid}}, ExitNotValid},
		"interrupted":       {standalone.Outcome{Interrupted: true, Result: &result.Result{Findings: invalid}}, standalone.ExitInterrupted},
		"failed":            {standalone.Outcome{Err: errors.New("no")}, ExitFailed},
		"invalid script":    {standalone.Outcome{Err: &session.FailureError{Kind: session.FailureScriptInvalid, Err: errors.New("no")}}, ExitUsage},
	} {
		if got := Finish(tc.outcome, &Destination{format: "json"}); got != tc.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tc.want)
		}
	}
}
