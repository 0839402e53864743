// Package manager is the manager's end of the sessions. It keeps the state that the pods of each run have reported, and
// sends them what the controllers set. It doesn't know Kubernetes and decides nothing about a run.
//
// Its files, from the network to the controllers:
//
//	package limit                    what pods can make the manager hold
//	package series                   metrics by seconds: of the clients, and of the target's containers and node
//	serve.go, authenticate.go        connections and streams, and whose they are
//	join.go, receive.go, decode.go   what pods send: Hello, and all that follows it
//	orders.go                        what pods are sent
//	script.go                        both, for k6 scripts
//	run.go, contain.go               the state of a run, and what a panic leaves of it
//	memory.go                        how many bytes of it count, and what becomes of a pod for which there are no more
//	seconds.go                       which of its metrics by seconds all clients have sent
//	manager.go, observation.go       what controllers set and read
//	changes.go, statistics.go        which runs have changed, and numbers of sessions
package manager

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/limit"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// Errors that an Identify wraps if the pod must not have a session. Any other
// error means that the identity is unknown at present; the pod tries again.
var (
	// ErrUnauthenticated: the token isn't a pod's, or isn't valid any more.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: the pod belongs to no run.
	ErrForbidden = errors.New("forbidden")
	// ErrNotYet is the error for a pod of a run that doesn't hold its lane yet. It tries again for as long as that takes.
	ErrNotYet = errors.New("not yet")
)

// Identity identifies the pod of a session.
type Identity struct {
	// Run is the UID of the run that the pod belongs to.
	Run string
	// Role is the pod's role in the run.
	Role sessionpb.Role
	// Namespace is that of the pod and the run.
	Namespace string
	// Index is the client's number, from 0.
	Index int
	// Pod is the pod's name, PodUID its UID, Node the name of its node.
	Pod, PodUID, Node string
}

// Identify returns the identity of the pod that a token belongs to.
type Identify func(ctx context.Context, token string) (Identity, error)

// orphanTimeout is the time for which the state of a run's pods is kept if no controller
// sets anything for the run.
const orphanTimeout = 10 * time.Minute

// Server serves the sessions of all runs. Its methods are safe to call from any
// goroutine. What a controller sets for a run is kept until Forget, and is sent
// on present and future sessions. Setting it again changes nothing.
type Server struct {
	sessionpb.UnimplementedSessionsServer

	identify Identify
	// announce announces changes to the caller of New.
	announce func(run string)
	changes  *changes
	log      logr.Logger
	protocol uint32
	// origin is the time, with its monotonic reading, at which the clock was epoch.
	origin time.Time
	epoch  int64
	// receivers are the goroutines that receive the pods' messages.
	receivers sync.WaitGroup

	gate      *gate
	receiving *limit.ReceiveLimiter
	counters  *counters
	// ConnectionsPerAddress bounds the connections of an address. It must not be changed after the
	// call of Serve.
	ConnectionsPerAddress int
	// Memory accounts for what the pods of all runs make the manager hold. It must not be changed after the call of Serve.
	Memory *memory.Account

	starting sync.Mutex // held by StartTogether

	mu     sync.Mutex
	runs   map[string]*run
	served time.Time // when Serve was called
}

// New returns a server without sessions. It calls changed with the UID of a run
// after a pod of the run connected or disconnected, or reported something that
// may let the run proceed, but not for each sample. Several changes of a run may lead to one call.
// changed is called from one goroutine while Serve runs. It may wait.
func New(identify Identify, changed func(run string), log logr.Logger) *Server {
	now := time.Now()
	return &Server{identify: identify, announce: changed, changes: newChanges(), ConnectionsPerAddress: limit.MaxConnections, log: log, protocol: session.ProtocolVersion, origin: now, epoch: now.UnixMicro(), gate: newGate(), receiving: limit.NewReceiveLimiter(), counters: &counters{}, Memory: memory.NewForProcess(), runs: map[string]*run{}}
}

// Now returns the manager's clock, by which start times are set: microseconds since the Unix epoch. It runs on
// the monotonic clock, so that a step of the wall clock doesn't disturb a run.
func (s *Server) Now() int64 { return s.epoch + time.Since(s.origin).Microseconds() }

// Observe returns the state of a run's pods. The caller may change the returned
// copy, but not what its pointers lead to.
func (s *Server) Observe(uid string) session.Observation {
	o := contained(s, uid, (*run).observe)
	o.Now = s.Now()
	return o
}

// Series returns the seconds of a run's measurement so far, of all clients and the target, in at
// most 600 entries. If there were more seconds, each entry has the same number of them, a power of
// two. Its percentiles are those of all its requests, its sketch has all of their total times.
func (s *Server) Series(uid string) []result.Second { return contained(s, uid, (*run).seconds) }

// Passed returns the entries of Series whose seconds all clients have sent. clients is their number. There
// are none until that many are known.
func (s *Server) Passed(uid string, clients int) []result.Second {
	return contained(s, uid, func(r *run) []result.Second { return r.passedSeconds(clients) })
}

// TargetUsage returns what the run's target used in the seconds of the measurement from from to to.
func (s *Server) TargetUsage(uid string, from, to int64) result.TargetUsage {
	return contained(s, uid, func(r *run) result.TargetUsage { return r.targetUsage(from, to) })
}

// Watch sets what the agent probes until the target answers with success, and what it samples.
func (s *Server) Watch(run string, watch session.Watch) {
	s.of(run).update(func(d *desired) {
		if d.watch == nil || !reflect.DeepEqual(*d.watch, watch) {
			d.watch = &watch
			d.watches++
		}
	})
}

// Prepare sets the clients' plans, by index, and the target's address and port.
func (s *Server) Prepare(run string, plans []*session.Plan, address string) {
	r := s.of(run)
	r.update(func(d *desired) {
		d.plans, d.address = plans, address
		if len(plans) > 0 {
			r.target.SetSlices(plans[0].Slices)
		}
	})
}

// StartTogether sets when a stage begins for all pods of one or more runs: microseconds since the Unix epoch by the manager's
// clock, or the time of the first of the runs that has begun it. The first time that is set for a run's stage stands. The time
// that a pod has from an earlier manager takes precedence.
func (s *Server) StartTogether(runs []string, stage sessionpb.Stage, at int64) {
	s.starting.Lock()
	defer s.starting.Unlock()
	for _, uid := range runs {
		if began := s.of(uid).started(stage); began != 0 {
			at = began
			break
		}
	}
	for i, uid := range runs {
		s.of(uid).start(stage, at)
		if i > 0 { // the caller knows of the first
			s.changes.add(uid)
		}
	}
}

// End makes the clients end their warm-up.
func (s *Server) End(run string) {
	s.of(run).update(func(d *desired) { d.end = true })
}

// EndMeasurement makes the clients end their measurement with a second of it, or at once if that has
// passed. The first second that is set stands.
func (s *Server) EndMeasurement(run string, second int64) {
	s.of(run).update(func(d *desired) { d.endMeasurement = cmp.Or(d.endMeasurement, second) })
}

// Windows returns the windows of a run's warm-up that a criterion compares, of
// the seconds that all clients have sent. clients is their number. There are none
// until that many are known, nor from the start of the measurement on.
func (s *Server) Windows(uid string, clients int, c steady.Criterion) []result.WarmupWindow {
	return contained(s, uid, func(r *run) []result.WarmupWindow { return r.windows(clients, c) })
}

// RequestSample requests a usage sample from the agent. While a request is
// pending, another changes nothing.
func (s *Server) RequestSample(run string) {
	s.of(run).update(func(d *desired) {
		if !d.samplePending {
			d.samplePending = true
			d.sampleRequests++
		}
	})
}

// Release lets all pods exit: everything is stored.
func (s *Server) Release(run string) {
	s.of(run).update(func(d *desired) { d.release = true })
}

// Forget ends the sessions of a run and drops its state.
func (s *Server) Forget(run string) {
	s.mu.Lock()
	r := s.runs[run]
	delete(s.runs, run)
	s.mu.Unlock()
	if r != nil {
		r.forget()
	}
}

// known returns a run, or one without pods if it has no state. Pods of that could connect since the
// call of Serve.
func (s *Server) known(uid string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[uid]; r != nil {
		return r
	}
	r := newRun()
	r.created = cmp.Or(s.served, r.created)
	return r
}

// of returns a run. It creates it on first use.
func (s *Server) of(uid string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[uid]; r != nil {
		return r
	}
	for other, r := range s.runs {
		if r.orphaned() {
			delete(s.runs, other)
			r.forget()
		}
	}
	r := newRun()
	r.counters, r.memory = s.counters, s.Memory
	s.runs[uid] = r
	return r
}
