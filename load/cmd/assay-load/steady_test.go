package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/internal/testserver"
)

// TestRunUntilSteady warms up a server until its figures lie within a factor of
// three, which it may take some windows for on a busy machine.
func TestRunUntilSteady(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(9) })
	r, _ := runUntilSteady(t, server, `
url: http://%s/a
load: {closed: {connections: 4, requests: 2000}}
warmup: {steady: {windowSeconds: 1, windows: 2, throughputPercent: 100, p99Percent: 100, limitSeconds: 120}}
`)
	w := r.Warmup
	if w == nil || w.Steady == nil || !w.Steady.Reached || len(w.Steady.Windows) != 2 || w.Steady.ThroughputSpread() > 100 || w.Steady.P99Spread() > 100 {
		t.Fatalf("warm-up %+v", w)
	}
	last := w.Steady.Windows[1]
	if took := w.DurationMicroseconds; took < (last.Second+1)*1_000_000-100_000 || took > 119_000_000 {
		t.Errorf("the warm-up took %d µs, its last window began after %d s", took, last.Second)
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

// TestRunToTheLimit never has the hundred requests in a window that a 99th
// percentile needs.
func TestRunToTheLimit(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		a := testserver.OK(9)
		a.Delay = 50 * time.Millisecond
		return a
	})
	r, text := runUntilSteady(t, server, `
url: http://%s/a
load: {closed: {connections: 1, requests: 5}}
warmup: {steady: {windowSeconds: 1, windows: 2, limitSeconds: 3}}
`)
	w := r.Warmup
	if w == nil || w.Steady == nil || w.Steady.Reached || len(w.Steady.Windows) != 2 || w.Steady.Windows[1].Second != 2 {
		t.Fatalf("warm-up %+v", w)
	}
	if took := w.DurationMicroseconds; took < 2_900_000 || took > 60_000_000 || r.Merged.Requests != 5 {
		t.Errorf("the warm-up took %d µs; %d requests were measured", took, r.Merged.Requests)
	}
	if !strings.Contains(text, "WarmupNotSteady") || !strings.Contains(text, "fewer than 100 requests") {
		t.Errorf("the result says nothing of it:\n%s", text)
	}
}

// runUntilSteady drives a plan against a server and returns the result, also as
// it was printed. A busy machine may make it one that isn't valid.
func runUntilSteady(t *testing.T, server *testserver.Server, plan string) (r result.Result, text string) {
	t.Helper()
	output, errors, code := alone(t, "run", planFile(t, plan, server.Address()), "-o", "json")
	if code != exitValid && code != exitNotValid || errors != "" {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	return r, output
}
