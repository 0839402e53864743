package main

import (
	"encoding/json"
	"testing"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// TestRunStops runs stages of an hour against a server whose requests fail from the 50th on.
func TestRunStops(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Number >= 50 {
			return testserver.Status("500 Internal Server Error")
		}
		return testserver.OK(9)
	})
	output, errors, code := assayLoad(t, "run", planFile(t, `
url: http://%s/a
load:
  stages:
    levels: [{requestsPerSecond: 20, holdSeconds: 1800}, {requestsPerSecond: 40, holdSeconds: 1800}]
    stopAt: [{metric: FailedRequests, above: "1"}]
`, server.Address()), "-o", "json")
	if code != command.ExitValid && code != command.ExitNotValid || errors != "" {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	stop := r.Stop
	if stop == nil || stop.Kind != result.BreakingFailedRequests || stop.RatePerSecond != 20 || stop.Second < 2 || stop.End <= stop.Second {
		t.Fatalf("stopped by %+v", stop)
	}
	if len(r.Levels) != 1 || r.Levels[0].End < stop.End || r.Levels[0].Requests == 0 || r.DurationMicroseconds > 600_000_000 {
		t.Errorf("levels %+v", r.Levels)
	}
	if len(r.BreakingPoints) != 3 || !r.BreakingPoints[0].Reached || r.BreakingPoints[0].Second != stop.Second {
		t.Errorf("breaking points %+v", r.BreakingPoints)
	}
}
