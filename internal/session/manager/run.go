package manager

import (
	"maps"
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

var errForgotten = status.Error(codes.Aborted, "the manager no longer handles the run")

// run is the state of one run's pods.
type run struct {
	created  time.Time
	counters *counters // of all runs; may be nil

	mu        sync.Mutex
	forgotten bool
	desired   *desired // nil until a controller sets something
	starts    map[sessionpb.Stage]int64
	clients   map[int]*participant
	agent     *participant
	// totalsBytes is the size of the clients' totals.
	totalsBytes int64
	// metricsBytes is the size of the clients' metrics of a k6 script.
	metricsBytes int64
	progress     map[sessionpb.Stage]*progress
	series       series
	whole        whole
	warmup       steady.Seconds
	usage        *usage            // of the server
	backends     map[string]*usage // of the containers behind it, by name
	node         samples[result.NodeUsage]
	governor     string
}

// desired holds what the controllers have set for the pods.
type desired struct {
	watch          *session.Watch
	watches        uint64 // the number of times that watch was changed
	plans          []*session.Plan
	address        string
	samplePending  bool   // a sample was requested and has not arrived
	sampleRequests uint64 // the number of requests for a sample
	end            bool   // the clients are to end their warm-up
	// endMeasurement is the second of the measurement with which the clients are to end it, 0 for its
	// planned end.
	endMeasurement int64
	// summarize holds the data with which clients are to run handleSummary(), by index.
	summarize map[int][]byte
	release   bool
}

// participant is the state of one pod: what it has reported, which of an agent is the part that
// session.AgentState has too, and what the session needs.
type participant struct {
	session.ClientState
	identity Identity
	// instance identifies the pod's process. One that was restarted in the same pod has another.
	instance uint64
	stream   *stream // nil while the pod is disconnected
	// next is the number of the first message that has not arrived.
	next uint64
	// had is the number of the last message that the pod had when it connected.
	had uint64
	// malformed is set if Failure is about a malformed message.
	malformed bool
	seconds   map[sessionpb.Stage]int64 // of a client, the first second that has not arrived
	// metricsBytes is the size of Metrics as it was sent.
	metricsBytes int64
}

func newRun() *run {
	return &run{
		created:  time.Now(),
		starts:   map[sessionpb.Stage]int64{},
		clients:  map[int]*participant{},
		progress: map[sessionpb.Stage]*progress{},
		series:   newSeries(),
		whole:    newWhole(),
		usage:    newUsage(0),
		backends: map[string]*usage{},
		node:     newNodeSamples(),
	}
}

// stages lists the stages in their order.
var stages = []sessionpb.Stage{
	sessionpb.Stage_STAGE_SETUP, sessionpb.Stage_STAGE_WARMUP, sessionpb.Stage_STAGE_MEASUREMENT, sessionpb.Stage_STAGE_TEARDOWN,
}

func (r *run) all() []*participant {
	all := slices.Collect(maps.Values(r.clients))
	if r.agent != nil {
		all = append(all, r.agent)
	}
	return all
}

// wake makes all senders check for messages to send.
func (r *run) wake() {
	for _, p := range r.all() {
		if p.stream != nil {
			p.stream.notify()
		}
	}
}

func (r *run) update(change func(*desired)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.desired == nil {
		r.desired = &desired{}
	}
	change(r.desired)
	r.wake()
}

func (r *run) start(stage sessionpb.Stage, at int64) {
	r.update(func(*desired) {
		if r.starts[stage] == 0 && slices.Contains(stages, stage) {
			r.setStart(stage, at)
		}
	})
}

func (r *run) setStart(stage sessionpb.Stage, at int64) {
	r.starts[stage] = at
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		r.warmup = steady.Seconds{} // nobody needs them any more
		r.setUsageStart(at)
	}
}

func (r *run) setUsageStart(at int64) {
	r.usage.setStart(at)
	r.node.setStart(at)
	for _, backend := range r.backends {
		backend.setStart(at)
	}
}

// forget ends all sessions for good.
func (r *run) forget() {
	r.mu.Lock()
	r.forgotten = true
	r.whole.drop()
	r.mu.Unlock()
	r.endAll(errForgotten)
}

func (r *run) endAll(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all() {
		if p.stream != nil {
			p.stream.end(err)
		}
	}
}

// orphaned reports whether no controller has set anything for the run in a long
// time, and no pod is connected.
func (r *run) orphaned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.desired != nil || time.Since(r.created) < orphanTimeout {
		return false
	}
	return !slices.ContainsFunc(r.all(), func(p *participant) bool { return p.stream != nil })
}

// due returns the next message to send on a stream, or nil if there is none.
func (r *run) due(st *stream) *sessionpb.ManagerMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st {
		return nil
	}
	if !st.welcomed {
		st.welcomed = true
		welcome := &sessionpb.Welcome{NextNumber: p.next, Protocol: st.protocol}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Welcome{Welcome: welcome}}
	}
	if len(st.pings) > 0 {
		ping := st.pings[0]
		st.pings = st.pings[1:]
		pong := &sessionpb.Pong{Sent: ping.sent, Received: ping.received, NextNumber: p.next}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Pong{Pong: pong}}
	}
	d := r.desired
	if d == nil {
		d = &desired{}
	}
	if d.release {
		if st.released {
			return nil
		}
		st.released = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Release{Release: &sessionpb.Release{}}}
	}
	if m := d.dueByRole(st, p); m != nil {
		return m
	}
	if m := r.dueSetupData(st, p); m != nil {
		return m
	}
	if m := d.dueSummarize(st, p); m != nil {
		return m
	}
	for _, stage := range stages {
		if at := r.starts[stage]; at != 0 && p.Starts[stage] == 0 {
			p.Starts[stage] = at
			return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Start{Start: &sessionpb.Start{Stage: stage, At: at}}}
		}
	}
	if d.end && !st.ended && p.Starts[sessionpb.Stage_STAGE_WARMUP] != 0 && !p.WarmupEnded && p.identity.Role == sessionpb.Role_ROLE_CLIENT {
		st.ended = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_End{End: &sessionpb.End{}}}
	}
	return d.dueEndMeasurement(st, p)
}

// dueEndMeasurement returns the order to end the measurement early, for a client that is in it.
func (d *desired) dueEndMeasurement(st *stream, p *participant) *sessionpb.ManagerMessage {
	start := p.Starts[sessionpb.Stage_STAGE_MEASUREMENT]
	if d.endMeasurement == 0 || st.endedMeasurement || start == 0 || p.Totals != nil || p.identity.Role != sessionpb.Role_ROLE_CLIENT {
		return nil
	}
	st.endedMeasurement = true
	end := &sessionpb.End{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: start + d.endMeasurement*1_000_000}
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_End{End: end}}
}

// dueSetupData returns what setup() of the k6 script returned, for a client that doesn't have it.
func (r *run) dueSetupData(st *stream, p *participant) *sessionpb.ManagerMessage {
	leader := r.clients[session.ScriptLeader]
	if p.identity.Role != sessionpb.Role_ROLE_CLIENT || p == leader || leader == nil || !leader.Script.SetupEnded ||
		p.Script.SetupEnded || st.setup {
		return nil
	}
	st.setup = true
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_SetupData{SetupData: leader.Script.SetupData}}
}

// dueByRole returns the next message that only an agent, or only a client, is sent.
func (d *desired) dueByRole(st *stream, p *participant) *sessionpb.ManagerMessage {
	switch {
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && st.watches != d.watches:
		st.watches = d.watches
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Watch{Watch: mustEncode(d.watch)}}
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && d.samplePending && st.sampleRequests != d.sampleRequests:
		st.sampleRequests = d.sampleRequests
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Sample{Sample: &sessionpb.Sample{}}}
	case p.identity.Role == sessionpb.Role_ROLE_CLIENT && !p.Ready && !st.prepared && p.identity.Index < len(d.plans):
		st.prepared = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Prepare{
			Prepare: &sessionpb.Prepare{Plan: mustEncode(d.plans[p.identity.Index]), Address: d.address},
		}}
	}
	return nil
}

// mustEncode returns what a controller has set as it is sent. It panics if that can't be encoded; see contain.
func mustEncode(v any) []byte {
	data, err := session.Encode(v)
	if err != nil {
		panic(err)
	}
	return data
}

// fail sets why the pod can't continue. The first reason stands.
func (p *participant) fail(reason string) {
	if p.Failure == "" {
		p.Failure = reason
	}
}
