package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
)

const (
	// interval is the time between two updates of a run.
	interval = time.Second
	// maxViewers bounds the streams of all users, maxUserViewers those of one. A page that is open in a browser has one.
	maxViewers     = 64
	maxUserViewers = 24
	// backlog is the number of updates that a viewer may be behind.
	backlog = 8
)

var (
	errTooMany  = errors.New("there are too many viewers at present")
	errBehind   = errors.New("the viewer reads too slowly")
	errFinished = errors.New("the run has finished")
)

// getRun returns a run, or nil if it doesn't exist.
type getRun func(context.Context, types.NamespacedName) (*v1alpha1.BenchmarkRun, error)

// hub shares the updates of each run among its viewers. A run without viewers costs nothing.
type hub struct {
	sessions Sessions
	get      getRun
	log      logr.Logger
	tick     func(time.Duration) (<-chan time.Time, func())

	mu     sync.Mutex
	shows  map[types.NamespacedName]*show
	users  map[string]int
	number int // of viewers
}

func newHub(sessions Sessions, get getRun, log logr.Logger) *hub {
	return &hub{sessions: sessions, get: get, log: log, shows: map[types.NamespacedName]*show{}, users: map[string]int{}, tick: func(d time.Duration) (<-chan time.Time, func()) {
		t := time.NewTicker(d)
		return t.C, t.Stop
	}}
}

// show is the stream of one run. Its fields are guarded by the hub's mutex, but for feed, which belongs to
// its goroutine.
type show struct {
	feed    feed
	cancel  context.CancelFunc
	viewers map[*viewer]bool
	// state is what a new viewer gets first, encoded when the first of an interval needs it; nil before the first update.
	state   *live.Update
	encoded []byte
}

// viewer is a stream to one user. lines are closed after err is set.
type viewer struct {
	lines chan []byte
	err   error
}

// join adds a viewer of a run. leave must be called once afterwards.
func (h *hub) join(name types.NamespacedName, user string) (*viewer, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.number >= maxViewers || h.users[user] >= maxUserViewers {
		return nil, nil, errTooMany
	}
	s := h.shows[name]
	if s == nil {
		ctx, cancel := context.WithCancel(context.Background())
		s = &show{feed: feed{sessions: h.sessions}, cancel: cancel, viewers: map[*viewer]bool{}}
		h.shows[name] = s
		go h.run(ctx, name, s)
	}
	v := &viewer{lines: make(chan []byte, backlog)}
	if s.state != nil {
		if s.encoded == nil {
			encoded, err := encode(s.state)
			if err != nil {
				return nil, nil, fmt.Errorf("encode the figures: %w", err)
			}
			s.encoded = encoded
		}
		v.lines <- s.encoded
	}
	s.viewers[v] = true
	h.number++
	h.users[user]++
	return v, func() { h.leave(name, s, v, user) }, nil
}

func (h *hub) leave(name types.NamespacedName, s *show, v *viewer, user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number--
	if h.users[user]--; h.users[user] == 0 {
		delete(h.users, user)
	}
	delete(s.viewers, v)
	if len(s.viewers) == 0 {
		h.end(name, s)
	}
}

// end ends a show. h.mu must be held.
func (h *hub) end(name types.NamespacedName, s *show) {
	s.cancel()
	if h.shows[name] == s {
		delete(h.shows, name)
	}
}

// drop ends a viewer's stream. h.mu must be held.
func (s *show) drop(v *viewer, err error) {
	if s.viewers[v] {
		delete(s.viewers, v)
		v.err = err
		close(v.lines)
	}
}

// run sends updates until nobody views the run any more, or there is nothing more to see.
func (h *hub) run(ctx context.Context, name types.NamespacedName, s *show) {
	ticks, stop := h.tick(interval)
	defer stop()
	for {
		err := h.update(ctx, name, s)
		if err != nil {
			h.mu.Lock()
			for v := range s.viewers {
				s.drop(v, err)
			}
			h.end(name, s)
			h.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// update sends one update to all viewers of a run. An error ends their streams.
func (h *hub) update(ctx context.Context, name types.NamespacedName, s *show) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the manager panicked: %v", v)
			h.log.Error(err, "Recovered from a panic in a live view", "run", name, "stack", string(debug.Stack()))
		}
	}()
	run, err := h.get(ctx, name)
	if err != nil {
		return err
	}
	if run == nil {
		return errNotFound
	}
	first := s.feed.state == nil || s.feed.state.UID != string(run.UID)
	if first {
		s.feed = feed{sessions: h.sessions}
	}
	u := s.feed.next(run)
	line, err := encode(u)
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.state, s.encoded = s.feed.state, nil
	for v := range s.viewers {
		select {
		case v.lines <- line:
		default:
			s.drop(v, errBehind)
		}
	}
	if u.Finished() {
		return errFinished
	}
	return nil
}
