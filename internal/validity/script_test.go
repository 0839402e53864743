package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestRulesOfScripts(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*result.Result)
		reason   string
		severity result.Severity
		says     string
	}{
		"sound":             {func(*result.Result) {}, "", "", ""},
		"marked as failed":  {func(r *result.Result) { r.Script.MarkedFailed = []int{1} }, validity.ReasonScriptMarkedFailed, result.Invalidates, "on client 1"},
		"teardown() failed": {func(r *result.Result) { r.Script.TeardownError = "no" }, validity.ReasonTeardownFailed, result.Warns, "no"},
		"few dropped":       {func(r *result.Result) { r.Script.DroppedIterations = 1 }, "", "", ""},
		"some dropped":      {func(r *result.Result) { r.Script.DroppedIterations = 20 }, validity.ReasonIterationsDropped, result.Warns, "20 of 1020"},
		"many dropped":      {func(r *result.Result) { r.Script.DroppedIterations = 60 }, validity.ReasonIterationsDropped, result.Invalidates, "60 of 1060"},
		"few threw": {func(r *result.Result) {
			r.Script.ThrownIterations, r.Script.Exception = 99, "ReferenceError: no\n\tat x.js"
		},
			validity.ReasonIterationsFailed, result.Warns, "99 of 1000 iterations of the script ended with an uncaught exception: ReferenceError: no. "},
		"a tenth threw":        {func(r *result.Result) { r.Script.ThrownIterations = 100 }, validity.ReasonIterationsFailed, result.Invalidates, "100 of 1000"},
		"metrics were omitted": {func(r *result.Result) { r.Script.MetricsOmitted = 2 }, validity.ReasonMetricsOmitted, result.Warns, "2 metrics"},
		"cold":                 {func(r *result.Result) { r.Warmup = nil }, validity.ReasonNoWarmup, result.Warns, "setup()"},
		"no requests": {func(r *result.Result) {
			for i := range r.Clients {
				r.Clients[i].Measure = result.Measure{}
			}
			merged(r)
		}, validity.ReasonNoRequests, result.Warns, "k6's metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			r.Run.Load, r.Script = result.LoadScript, &result.Script{Iterations: 1000}
			tc.change(r)
			findings := validity.Judge(r, validity.Declared{})
			if tc.reason == "" {
				if len(findings) != 0 {
					t.Errorf("findings %+v", findings)
				}
				return
			}
			if len(findings) != 1 || findings[0].Reason != tc.reason || findings[0].Severity != tc.severity || !strings.Contains(findings[0].Message, tc.says) {
				t.Errorf("findings %+v", findings)
			}
		})
	}
}
