package manager

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// TestEndMeasurement checks that each client receives one order to end its measurement, with the second that was
// set first, also of a restarted manager, and that only seconds that all clients have sent can be decided by.
func TestEndMeasurement(t *testing.T) {
	b := newBench(t)
	agent := b.join(agentOf("run"))
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1))}
	at := b.Now() - 60_000_000
	b.Start("run", measurement, at)
	for _, c := range clients {
		order[pod.Start](t, c)
	}
	order[pod.Start](t, agent)
	for s := range int64(6) {
		clients[0].SendSecond(measurement, second(s, 10, 20))
		agent.SendServerSample(&result.ServerSample{
			Server: result.ServerUsage{At: at + s*1_000_000, UserCPU: s * 100}, Backends: []result.BackendUsage{{Name: "app", ServerUsage: result.ServerUsage{At: at + s*1_000_000, UserCPU: s * 200}}},
		})
	}
	for s := range int64(4) {
		clients[1].SendSecond(measurement, second(s, 30))
	}
	arrived := func(o session.Observation) bool {
		return o.Progress[measurement].Requests == 16 && o.Agent != nil && o.Agent.Latest != nil && o.Agent.Latest.UserCPU == 500
	}
	for range 2 {
		b.await("run", "the seconds", arrived)
		got := b.Passed("run", 2)
		if len(got) != 4 || got[3].Second != 3 || got[3].Requests != 3 || got[3].ServerCPU != 100 || got[3].BackendCPU["app"] != 200 {
			t.Errorf("passed %+v", got)
		}
		if got := b.Passed("run", 3); got != nil {
			t.Errorf("without the third client: %+v", got)
		}
		used := b.TargetUsage("run", 1, 4)
		if used.Server == nil || used.CPUOf("server") != 300 || used.CPUOf("app") != 600 || used.CPUOf("db") != result.Unknown {
			t.Errorf("used %+v", used)
		}
		b.EndMeasurement("run", 8)
		b.EndMeasurement("run", 9)
		b.restart()
	}
	b.await("run", "the seconds", arrived)
	b.EndMeasurement("run", 8) // another manager reads it in the status
	for _, c := range clients {
		if got := order[pod.EndMeasurement](t, c); got.At != at+8_000_000 {
			t.Errorf("it ends at %d, want %d", got.At, at+8_000_000)
		}
	}
	levels := []result.LevelTotals{{Measure: *measure(1), CPU: 5, Seconds: 8}, {}}
	steps := []result.LevelTotals{{Measure: *measure(2), CPU: 3, Seconds: 2}}
	clients[0].SendTotals(&result.Totals{StartedAt: at, EndedAt: at + 8_000_000, Measure: *measure(1), Levels: levels, Steps: steps})
	o := b.await("run", "totals", collected(1))
	got := o.Clients[0].Totals
	if len(got.Levels) != 2 || got.Levels[0].Seconds != 8 || got.Levels[1].Seconds != 0 || len(got.Steps) != 1 || got.Steps[0].Seconds != 2 || got.Steps[0].CPU != 3 {
		t.Errorf("levels %+v, steps %+v", got.Levels, got.Steps)
	}
	if got := b.Passed("run", 2); len(got) != 4 { // client 0 sends nothing more
		t.Errorf("passed %+v", got)
	}
	b.Release("run")
	for _, c := range clients {
		order[pod.Release](t, c) // and no second EndMeasurement
	}
}
