package manager

import (
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/series"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

var errForgotten = status.Error(codes.Aborted, "the manager no longer handles the run")

// run is the state of one run's pods.
type run struct {
	created  time.Time
	counters *counters // of all runs of a server

	mu        sync.Mutex
	forgotten bool
	desired   *desired // nil until a controller sets something
	starts    map[sessionpb.Stage]int64
	clients   map[int]*participant
	agent     *participant
	// memory is the account of all runs, or nil; owner is what the run is there.
	memory   *memory.Account
	owner    memory.Owner
	held     held
	progress map[sessionpb.Stage]*progress
	series   *series.Clients
	warmup   steady.Seconds
	target   *series.Target
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
		counters: &counters{},
		starts:   map[sessionpb.Stage]int64{},
		clients:  map[int]*participant{},
		progress: map[sessionpb.Stage]*progress{},
		series:   series.NewClients(),
		target:   series.NewTarget(),
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

// started returns the start time of a stage, or 0 if it has none.
func (r *run) started(stage sessionpb.Stage) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts[stage]
}

func (r *run) setStart(stage sessionpb.Stage, at int64) {
	r.starts[stage] = at
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		r.warmup = steady.Seconds{} // nobody needs them any more
		r.target.SetStart(at)
	}
}

// forget ends all sessions for good.
func (r *run) forget() {
	r.mu.Lock()
	r.forgotten = true
	r.releaseAll()
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

// fail sets why the pod can't continue. The first reason stands.
func (p *participant) fail(reason string) {
	if p.Failure == "" {
		p.Failure = reason
	}
}
