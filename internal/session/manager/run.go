package manager

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// run is everything known of one run.
type run struct {
	made time.Time

	mu        sync.Mutex
	forgotten bool
	wanted    *wanted // nil while nobody asked anything of the run
	starts    map[sessionpb.Stage]int64
	clients   map[int]*participant
	agent     *participant
	progress  map[sessionpb.Stage]*progress
	series    series
	warmup    steady.Seconds
	usage     usage             // of the server
	backends  map[string]*usage // of the containers behind it, by name
}

// wanted is what the pods are to be told.
type wanted struct {
	watch   *session.Watch
	watches uint64 // how often watch was changed
	plans   []*session.Plan
	address string
	reading bool   // a reading was asked for and isn't here
	reads   uint64 // how often one was asked for
	end     bool   // the clients are to end their warm-up
	release bool
}

// participant is what is known of one pod.
type participant struct {
	identity Identity
	// instance tells the pod's process from another in the same pod.
	instance          uint64
	stream            *stream // nil while there is none
	disconnectedSince time.Time
	// next is the number of the first message that isn't here.
	next uint64
	// starts are those that the pod has, or was sent in this session.
	starts map[sessionpb.Stage]int64
	// failure says why the pod can't go on; malformed, that it is for what the pod
	// sent.
	failure string
	// failureKind is the kind of the failure, where the pod has said it.
	failureKind session.FailureKind
	malformed   bool

	// Of a client.
	ready       bool
	cpus        string
	warmupEnded bool
	seconds     map[sessionpb.Stage]int64 // the first second that isn't here
	script      session.ScriptState
	totals      *result.Totals
	clockError  int64

	// Of whoever asks the target.
	answered *session.ProbeResult
	silent   string
}

func newRun() *run {
	return &run{
		made:     time.Now(),
		starts:   map[sessionpb.Stage]int64{},
		clients:  map[int]*participant{},
		progress: map[sessionpb.Stage]*progress{},
		series:   newSeries(),
		backends: map[string]*usage{},
	}
}

// stages are the stages in their order.
var stages = []sessionpb.Stage{
	sessionpb.Stage_STAGE_SETUP, sessionpb.Stage_STAGE_WARMUP, sessionpb.Stage_STAGE_MEASUREMENT, sessionpb.Stage_STAGE_TEARDOWN,
}

// all returns the participants.
func (r *run) all() []*participant {
	all := make([]*participant, 0, len(r.clients)+1)
	for _, p := range r.clients {
		all = append(all, p)
	}
	if r.agent != nil {
		all = append(all, r.agent)
	}
	return all
}

// wake has all senders look for something to send.
func (r *run) wake() {
	for _, p := range r.all() {
		if p.stream != nil {
			p.stream.notify()
		}
	}
}

// intend changes what the pods are to be told; change returns whether there is
// something new.
func (r *run) intend(change func(*wanted) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted == nil {
		r.wanted = &wanted{}
	}
	if change(r.wanted) {
		r.wake()
	}
}

// start sets the start instant of a stage, unless it is set.
func (r *run) start(stage sessionpb.Stage, at int64) {
	r.intend(func(*wanted) bool {
		if r.starts[stage] != 0 || !slices.Contains(stages, stage) {
			return false
		}
		r.setStart(stage, at)
		return true
	})
}

func (r *run) setStart(stage sessionpb.Stage, at int64) {
	r.starts[stage] = at
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		r.warmup = steady.Seconds{} // whatever it was for has been decided
		r.usage.begins(at)
		for _, backend := range r.backends {
			backend.begins(at)
		}
	}
}

// forget ends all sessions.
func (r *run) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten = true
	for _, p := range r.all() {
		if p.stream != nil {
			p.stream.end(status.Error(codes.Aborted, "the manager has let go of the run"))
		}
	}
}

// orphaned is whether nobody asked anything of the run for long, and it has no
// session.
func (r *run) orphaned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted != nil || time.Since(r.made) < orphanAge {
		return false
	}
	return !slices.ContainsFunc(r.all(), func(p *participant) bool { return p.stream != nil })
}

// due returns the next message that is to be sent on a stream, nil when there
// is none.
func (r *run) due(st *stream) *sessionpb.ManagerMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st {
		return nil
	}
	if !st.welcomed {
		st.welcomed = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Welcome{
			Welcome: &sessionpb.Welcome{NextNumber: p.next, Protocol: st.protocol},
		}}
	}
	if len(st.pings) > 0 {
		ping := st.pings[0]
		st.pings = st.pings[1:]
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Pong{
			Pong: &sessionpb.Pong{Sent: ping.sent, Received: ping.received, NextNumber: p.next},
		}}
	}
	w := r.wanted
	if w == nil {
		w = &wanted{}
	}
	if w.release {
		if st.released {
			return nil
		}
		st.released = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Release{Release: &sessionpb.Release{}}}
	}
	if m := w.dueByRole(st, p); m != nil {
		return m
	}
	if m := r.dueSetupData(st, p); m != nil {
		return m
	}
	for _, stage := range stages {
		if at := r.starts[stage]; at != 0 && p.starts[stage] == 0 {
			p.starts[stage] = at
			return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Start{
				Start: &sessionpb.Start{Stage: stage, At: at},
			}}
		}
	}
	if w.end && !st.ended && p.starts[sessionpb.Stage_STAGE_WARMUP] != 0 && !p.warmupEnded && p.identity.Role == sessionpb.Role_ROLE_CLIENT {
		st.ended = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_End{End: &sessionpb.End{}}}
	}
	return nil
}

// dueSetupData returns what setup() of the k6 script returned, for a client that
// doesn't have it.
func (r *run) dueSetupData(st *stream, p *participant) *sessionpb.ManagerMessage {
	leader := r.clients[session.ScriptLeader]
	if p.identity.Role != sessionpb.Role_ROLE_CLIENT || p == leader || leader == nil || !leader.script.SetupEnded ||
		p.script.SetupEnded || st.setup {
		return nil
	}
	st.setup = true
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_SetupData{
		SetupData: &sessionpb.SetupData{Data: leader.script.SetupData},
	}}
}

// dueByRole returns what is to be sent to an agent, or to a client, alone.
func (w *wanted) dueByRole(st *stream, p *participant) *sessionpb.ManagerMessage {
	switch {
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && st.watches != w.watches:
		st.watches = w.watches
		watch, err := session.WatchToWire(w.watch)
		if err != nil {
			p.fail("what it is to watch can't be sent: " + err.Error())
			return nil
		}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Watch{Watch: watch}}
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && w.reading && st.reads != w.reads:
		st.reads = w.reads
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Sample{Sample: &sessionpb.Sample{}}}
	case p.identity.Role == sessionpb.Role_ROLE_CLIENT && !p.ready && !st.prepared && p.identity.Index < len(w.plans):
		st.prepared = true
		plan, err := session.PlanToWire(w.plans[p.identity.Index])
		if err != nil {
			p.fail("its plan can't be sent: " + err.Error())
			return nil
		}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Prepare{
			Prepare: &sessionpb.Prepare{Plan: plan, Address: w.address},
		}}
	}
	return nil
}

// setReady takes that a client is ready.
func (p *participant) setReady(ready *sessionpb.Ready) {
	p.ready, p.cpus = true, clipped(ready.GetCpus())
}

// fail sets why the pod can't go on. The first reason stands.
func (p *participant) fail(reason string) {
	if p.failure == "" {
		p.failure = reason
	}
}
