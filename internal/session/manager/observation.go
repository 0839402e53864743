package manager

import (
	"maps"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Observation is what the pods of a run said.
type Observation struct {
	// Clients are the clients that were ever connected, by index.
	Clients map[int]ClientState
	// Agent is nil when it was never connected.
	Agent *AgentState
	// Starts are the start instants of stages, as they were given or as a client
	// has had them from an earlier manager.
	Starts map[sessionpb.Stage]int64
	// Progress is how far stages are.
	Progress map[sessionpb.Stage]Progress
}

// ClientState is what a client said.
type ClientState struct {
	Pod, PodUID, Node string
	Connected         bool
	// DisconnectedSince is when the session broke, when it isn't connected.
	DisconnectedSince time.Time
	Ready             bool
	// CPUs lists the CPUs that the client may run on.
	CPUs        string
	Starts      map[sessionpb.Stage]int64
	WarmupEnded bool
	// Totals are its final figures; nil until it sent them.
	Totals *result.Totals
	// ClockError bounds the error of its clock, in microseconds.
	ClockError int64
	// Failure says what went wrong; empty for nothing.
	Failure string
}

// AgentState is what the target's agent said.
type AgentState struct {
	Pod, PodUID, Node string
	Connected         bool
	DisconnectedSince time.Time
	// Answered is the target's first answer with success; nil until then.
	Answered *Answer
	// Silent says what was seen instead.
	Silent string
	// Begin is the last reading at or before the start of the measurement, or the
	// first one after it. Latest is the last reading.
	Begin, Latest *result.ServerUsage
	// PeakCPUPercent is the largest CPU time between two readings of the
	// measurement, in percent of one CPU; PeakResident the largest resident set.
	PeakCPUPercent float64
	PeakResident   int64
	Failure        string
}

// Answer is the target's first answer with success.
type Answer struct {
	// Software is its Server header; DocumentLength the length of its body.
	Software       string
	DocumentLength int64
}

func answerOf(w *sessionpb.TargetAnswered) *Answer {
	return &Answer{Software: w.GetServerSoftware(), DocumentLength: w.GetDocumentLength()}
}

// Progress is how far a stage is, over all clients.
type Progress struct {
	// Requests and Errors are the requests that ended, and those that failed.
	Requests, Errors int64
	// RequestsPerSecond is the requests that ended in the newest second of which
	// no client sends any more.
	RequestsPerSecond int64

	second, inSecond, before int64
}

func (p *Progress) add(second int64, counts *result.Counts) {
	p.Requests += counts.Requests
	p.Errors += counts.Errors.Total()
	switch {
	case second > p.second:
		p.RequestsPerSecond, p.second, p.inSecond = p.inSecond, second, counts.Requests
	case second == p.second:
		p.inSecond += counts.Requests
	}
}

func (r *run) observe() Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := Observation{
		Clients:  make(map[int]ClientState, len(r.clients)),
		Starts:   maps.Clone(r.intents.starts),
		Progress: make(map[sessionpb.Stage]Progress, len(r.progress)),
	}
	for stage, p := range r.progress {
		o.Progress[stage] = *p
	}
	for i, m := range r.clients {
		o.Clients[i] = ClientState{
			Pod: m.who.Pod, PodUID: m.who.PodUID, Node: m.who.Node,
			Connected: m.attendance != nil, DisconnectedSince: m.disconnectedSince,
			Ready: m.ready != nil, CPUs: m.ready.GetCpus(), Starts: maps.Clone(m.starts), WarmupEnded: m.warmupEnded,
			Totals: m.totals, ClockError: m.clockError, Failure: m.failure,
		}
	}
	if m := r.agent; m != nil {
		o.Agent = &AgentState{
			Pod: m.who.Pod, PodUID: m.who.PodUID, Node: m.who.Node,
			Connected: m.attendance != nil, DisconnectedSince: m.disconnectedSince,
			Answered: m.answered, Silent: m.silent, Failure: m.failure,
			Begin: r.usage.begin, Latest: r.usage.latest, PeakCPUPercent: r.usage.peakCPU, PeakResident: r.usage.peakResident,
		}
	}
	return o
}

// usage is what is kept of the agent's readings.
type usage struct {
	begin, latest *result.ServerUsage
	peakCPU       float64
	peakResident  int64
}

// add takes in a reading; start is the measurement's, 0 when it has none yet.
func (u *usage) add(reading result.ServerUsage, start int64) {
	last := u.latest
	u.latest = &reading
	if start == 0 || reading.At <= start || u.begin == nil {
		u.begin = &reading
	}
	if start == 0 || reading.At <= start {
		return
	}
	u.peakResident = max(u.peakResident, reading.Resident)
	if last != nil && reading.At > last.At {
		cpu := reading.UserCPU + reading.SystemCPU - last.UserCPU - last.SystemCPU
		// Processor time is counted in hundredths of a second, too coarse for a
		// span much shorter than a second.
		if span := reading.At - last.At; span >= 500_000 {
			u.peakCPU = max(u.peakCPU, 100*float64(cpu)/float64(span))
		}
	}
}
