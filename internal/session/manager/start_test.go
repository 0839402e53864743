package manager

import (
	"testing"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestAStartThatOnlyAnAgentHas has a manager be killed after it sent a start time to the agent alone.
// The clients must not get that from the next manager, but one of its own.
func TestAStartThatOnlyAnAgentHas(t *testing.T) {
	b := newBench(t)
	passed := b.Now() - 60_000_000
	a := b.dial(token(agentOf("run")))
	a.send(hello(&sessionpb.Hello{Role: agent, Instance: 1, Starts: started(passed)}))
	until(t, a, welcome)
	a.send(serverMessage(1, &result.ServerUsage{At: passed, UserCPU: 1, Resident: 100}))
	a.send(serverMessage(2, &result.ServerUsage{At: passed + 1_000_000, UserCPU: 2, Resident: 50}))
	read := func(user int64) session.Observation {
		return b.await("run", "read", func(o session.Observation) bool { return o.Agent.Latest != nil && o.Agent.Latest.UserCPU == user })
	}
	if o := read(2); len(o.Starts) != 0 {
		t.Errorf("the run started at %v", o.Starts)
	}
	c := b.dial(token(clientOf("run", 0)))
	c.send(hello(&sessionpb.Hello{Role: client, Instance: 1}))
	until(t, c, welcome)
	at := b.Now() + 100_000
	b.Start("run", measurement, at)
	start := until(t, c, (*sessionpb.ManagerMessage).GetStart)
	if start.GetAt() != at {
		t.Errorf("the client starts at %d, want %d", start.GetAt(), at)
	}
	a.send(serverMessage(3, &result.ServerUsage{At: at, UserCPU: 3, Resident: 60}))
	if o := read(3); o.Agent.Begin.At != at || o.Agent.PeakResident != 60 || o.Agent.Failure != "" {
		t.Errorf("%+v, begin %+v", o.Agent, o.Agent.Begin)
	}
}

// TestAnAgentIsBackBeforeTheClients has a manager be killed during a measurement. The samples that the
// agent repeats before any client is back count from the start of the measurement.
func TestAnAgentIsBackBeforeTheClients(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 10_000_000
	a := b.dial(token(agentOf("run")))
	a.send(hello(&sessionpb.Hello{Role: agent, Instance: 1, Starts: started(at)}))
	until(t, a, welcome)
	for i := range int64(3) {
		a.send(serverMessage(uint64(i+1), &result.ServerUsage{At: at + i*1_000_000, UserCPU: i, Resident: 10 - i}))
	}
	b.await("run", "read", func(o session.Observation) bool { return o.Agent.Latest != nil && o.Agent.Latest.UserCPU == 2 })
	c := b.dial(token(clientOf("run", 0)))
	c.send(hello(&sessionpb.Hello{Role: client, Instance: 1, Starts: started(at)}))
	until(t, c, welcome)
	if o := b.Observe("run"); o.Starts[measurement] != at || o.Agent.Begin.At != at || o.Agent.PeakResident != 10 {
		t.Errorf("%+v: %+v, begin %+v", o.Starts, o.Agent, o.Agent.Begin)
	}
}

// Start starts a stage of a single run.
func (s *Server) Start(run string, stage sessionpb.Stage, at int64) {
	s.StartTogether([]string{run}, stage, at)
}

// Runs that begin a stage together have the time of the one that has begun it.
func TestStartTogether(t *testing.T) {
	s := New(nil, nil, logr.Discard())
	s.StartTogether([]string{"a"}, measurement, 100)
	s.StartTogether([]string{"b", "a"}, measurement, 200)
	s.StartTogether([]string{"c", "d"}, measurement, 300)
	for run, want := range map[string]int64{"a": 100, "b": 100, "c": 300, "d": 300} {
		if got := s.of(run).started(measurement); got != want {
			t.Errorf("run %s begins at %d, want %d", run, got, want)
		}
	}
	if woken := s.changes.take(); !woken["a"] || !woken["d"] || woken["b"] || woken["c"] {
		t.Errorf("%v are looked at again, want those that did not ask", woken)
	}
}
