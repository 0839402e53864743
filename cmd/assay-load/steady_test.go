package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// TestRunUntilSteady warms up a server until its metrics spread by at most 100%.
// On a busy machine that can take several windows.
func TestRunUntilSteady(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(9) })
	r, _ := runUntilSteady(t, server, `
url: http://%s/a
load: {closed: {connections: 4, requestCount: 2000}, warmup: {steady: {windowSeconds: 1, windows: 2, throughputPercent: 100, p99Percent: 100, timeoutSeconds: 120}}}
`)
	w := r.Warmup
	if w == nil || w.Steady == nil || !w.Steady.Reached || len(w.Steady.Windows) != 2 || w.Steady.ThroughputSpread() > 100 || w.Steady.P99Spread() > 100 {
		t.Fatalf("warm-up %+v", w)
	}
	inWindows := w.Steady.Windows[0].Succeeded + w.Steady.Windows[1].Succeeded
	if took := w.DurationMicroseconds; inWindows == 0 || w.Requests < inWindows || took > 119_000_000 {
		t.Errorf("the warm-up took %d µs and had %d requests, its last windows %d", took, w.Requests, inWindows)
	}
	if seen := server.Seen().Requests; r.Merged.Requests != 2000 || w.Errors.Total() != 0 || seen != 2001+w.Requests {
		t.Errorf("the server saw %d requests, of which %d were warm-up and %d measured", seen, w.Requests, r.Merged.Requests)
	}
	for _, f := range r.Findings {
		if f.Reason == "WarmupNotSteady" {
			t.Error(f.Message)
		}
	}
}

// TestWarmupReachesTimeout runs a warm-up whose windows never have the 100
// requests that a 99th percentile needs.
func TestWarmupReachesTimeout(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		a := testserver.OK(9)
		a.Delay = 50 * time.Millisecond
		return a
	})
	r, text := runUntilSteady(t, server, `
url: http://%s/a
load: {closed: {connections: 1, requestCount: 5}, warmup: {steady: {windowSeconds: 1, windows: 2, timeoutSeconds: 3}}}
`)
	w := r.Warmup
	if w == nil || w.Steady == nil || w.Steady.Reached || len(w.Steady.Windows) != 2 || w.Steady.Windows[1].Second != 2 {
		t.Fatalf("warm-up %+v", w)
	}
	if took := w.DurationMicroseconds; took < 2_900_000 || took > 60_000_000 || r.Merged.Requests != 5 {
		t.Errorf("the warm-up took %d µs; %d requests were measured", took, r.Merged.Requests)
	}
	if !strings.Contains(text, "WarmupNotSteady") || !strings.Contains(text, "fewer than 100 successful requests") {
		t.Errorf("the result doesn't say that the warm-up timed out:\n%s", text)
	}
}

// runUntilSteady runs a plan against a server and returns the result, parsed and
// as printed. On a busy machine the result may be invalid.
func runUntilSteady(t *testing.T, server *testserver.Server, plan string) (r result.Result, text string) {
	t.Helper()
	output, errors, code := assayLoad(t, "run", planFile(t, plan, server.Address()), "-o", "json")
	if code != command.ExitValid && code != command.ExitNotValid || errors != "" {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	return r, output
}
