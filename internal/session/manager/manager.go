// Package manager is the manager's end of the pods' sessions: it keeps what
// the pods of each run have said, and tells them what the controllers want. It
// knows nothing of Kubernetes, and decides nothing about a run.
package manager

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// What an Identify wraps to say why a pod gets no session. Any other error
// means that it can't be known at present; the pod tries again.
var (
	// ErrUnauthenticated: the token isn't a pod's, or isn't valid any more.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: the pod belongs to no run.
	ErrForbidden = errors.New("forbidden")
)

// Identity says which pod a session is with.
type Identity struct {
	// Run is the UID of the run that the pod belongs to.
	Run string
	// Role is what the pod does in it.
	Role sessionpb.Role
	// Index is the client's number, from 0.
	Index int
	// Pod is the pod's name, PodUID its UID, Node the name of its node.
	Pod, PodUID, Node string
}

// Identify finds out whose token it is.
type Identify func(ctx context.Context, token string) (Identity, error)

// orphanAge is how long what a pod said is kept for a run that nobody asks
// anything of.
const orphanAge = 10 * time.Minute

// Server is the sessions of all runs. Its methods may be called from any
// goroutine. What is told to the pods of a run is kept until Forget, and told
// to sessions present and future; telling it again changes nothing.
type Server struct {
	sessionpb.UnimplementedSessionsServer

	identify Identify
	changed  func(run string)
	log      logr.Logger
	protocol *sessionpb.Protocol
	// origin is when the clock stood at epoch; it keeps its monotonic reading.
	origin time.Time
	epoch  int64
	// receivers are the goroutines that take the pods' messages.
	receivers sync.WaitGroup

	mu     sync.Mutex
	runs   map[string]*run
	served time.Time // when Serve was called
}

// New returns a server without sessions. It calls changed with the UID of a run
// whenever a pod of the run came or went, or said something by which the run may
// go on; not for each sample. changed may be called from many goroutines at
// once, and mustn't call the server.
func New(identify Identify, changed func(run string), log logr.Logger) *Server {
	now := time.Now()
	return &Server{identify: identify, changed: changed, log: log, protocol: session.Protocol(), origin: now, epoch: now.UnixMicro(), runs: map[string]*run{}}
}

// now is the manager's clock: microseconds since the Unix epoch. It runs by the
// monotonic clock, so that a step of the wall clock doesn't disturb a run.
func (s *Server) now() int64 { return s.epoch + time.Since(s.origin).Microseconds() }

// Observe returns what the pods of a run have said. The copy is the caller's;
// what its pointers lead to never changes.
func (s *Server) Observe(run string) Observation {
	if r := s.known(run); r != nil {
		return r.observe()
	}
	return Observation{Since: s.serving()}
}

// serving is since when pods could be heard: when Serve was called; the present
// until then.
func (s *Server) serving() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.served.IsZero() {
		return time.Now()
	}
	return s.served
}

// Series returns the seconds of a run's measurement so far, of all clients and
// the target. They are at most 600 entries; where there were more seconds, each
// entry has the same number of them, a power of two, with the true percentiles
// of all its requests.
func (s *Server) Series(run string) []result.Second {
	if r := s.known(run); r != nil {
		return r.seconds()
	}
	return nil
}

// ServerCPU is the CPU time of the run's server in some seconds of the
// measurement, in microseconds; -1 when it isn't known.
func (s *Server) ServerCPU(run string, from, to int64) int64 {
	if r := s.known(run); r != nil {
		return r.serverCPU(from, to)
	}
	return -1
}

// Watch tells the agent what to ask the target for until that answers with
// success, and what to sample.
func (s *Server) Watch(run string, watch session.Watch) {
	s.of(run).intend(func(w *wanted) bool {
		if w.watch != nil && reflect.DeepEqual(*w.watch, watch) {
			return false
		}
		w.watch = &watch
		w.watches++
		return true
	})
}

// Prepare tells the clients their plans, by index, and the target's address and
// port.
func (s *Server) Prepare(run string, plans []*session.Plan, address string) {
	s.of(run).intend(func(w *wanted) bool {
		first := w.plans == nil || w.address != address
		w.plans, w.address = plans, address
		return first
	})
}

// Start tells all pods when a stage begins: microseconds since the Unix epoch
// by the manager's clock. The first instant given for a stage stands, and one
// that a pod has from an earlier manager stands before all others.
func (s *Server) Start(run string, stage sessionpb.Stage, at int64) {
	s.of(run).start(stage, at)
}

// End tells the clients to end their warm-up.
func (s *Server) End(run string) {
	s.of(run).intend(func(w *wanted) bool {
		before := w.end
		w.end = true
		return !before
	})
}

// Windows returns the windows of a run's warm-up that a criterion compares, of
// those that all clients have sent, whose number is given. Until that many are
// known, and from the start of the measurement on, there are none.
func (s *Server) Windows(run string, clients int, c steady.Criterion) []result.WarmupWindow {
	if r := s.known(run); r != nil {
		return r.windows(clients, c)
	}
	return nil
}

// RequestSample requests a sample from the agent. While a request is pending,
// another changes nothing.
func (s *Server) RequestSample(run string) {
	s.of(run).intend(func(w *wanted) bool {
		if w.reading {
			return false
		}
		w.reading = true
		w.reads++
		return true
	})
}

// Release tells all pods that everything is stored and they may exit.
func (s *Server) Release(run string) {
	s.of(run).intend(func(w *wanted) bool {
		before := w.release
		w.release = true
		return !before
	})
}

// Forget ends the sessions of a run and drops all that is known of it.
func (s *Server) Forget(run string) {
	s.mu.Lock()
	r := s.runs[run]
	delete(s.runs, run)
	s.mu.Unlock()
	if r != nil {
		r.forget()
	}
}

// known returns a run, nil when nothing is known of it.
func (s *Server) known(uid string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[uid]
}

// of returns a run, made on first use.
func (s *Server) of(uid string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[uid]; r != nil {
		return r
	}
	for other, r := range s.runs {
		if r.orphaned() {
			delete(s.runs, other)
		}
	}
	r := newRun()
	s.runs[uid] = r
	return r
}
