package ui

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxIdle is the time without a request after which a session ends. A page that is open keeps it.
	maxIdle = 30 * time.Minute
	// maxAge is the longest time of a session. Tokens usually expire before.
	maxAge = 12 * time.Hour
	// maxUnchecked is the time after which the API server is asked again whether it accepts a session's token.
	maxUnchecked = 10 * time.Minute
	// maxOfUser bounds the sessions of one user: the oldest one makes room.
	maxOfUser = 4
	sweep     = time.Minute
)

// errFull is the error of a session for which there is no room.
var errFull = errors.New("too many users are logged in; try again later, or ask for a higher --max-sessions")

// userSession is the time for which a user is logged in.
type userSession struct {
	key, user string
	app       *App
	pages     http.Handler
	// ctx ends with the session.
	ctx  context.Context
	stop context.CancelFunc
	all  *sessions
	// check returns an error if the API server doesn't accept the token any more.
	check func(context.Context) error
	// The rest is guarded by all.mu.
	opened, used, checked time.Time
	requests              int // under way
}

// release ends the use of a session by a request.
func (s *userSession) release() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.requests--
	s.used = s.all.now()
}

// sessions are those of a Portal, by their keys.
type sessions struct {
	most int
	now  func() time.Time

	mu     sync.Mutex
	ended  bool
	byKey  map[string]*userSession
	parent context.Context
	stop   context.CancelFunc
}

func newSessions(most int, now func() time.Time) *sessions {
	s := &sessions{most: most, now: now, byKey: map[string]*userSession{}}
	s.parent, s.stop = context.WithCancel(context.Background())
	return s
}

// run ends sessions in time until the context ends, and then all.
func (all *sessions) run(ctx context.Context) {
	ticker := time.NewTicker(sweep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			all.mu.Lock()
			defer all.mu.Unlock()
			all.ended = true
			all.stop()
			clear(all.byKey)
			return
		case <-ticker.C:
			all.expire()
			all.check(ctx)
		}
	}
}

// check ends the sessions whose tokens the API server doesn't accept any more. One that doesn't answer ends none.
func (all *sessions) check(ctx context.Context) {
	for _, s := range all.unchecked() {
		asking, cancel := context.WithTimeout(ctx, loginTimeout)
		err := s.check(asking)
		cancel()
		all.mu.Lock()
		switch {
		case apierrors.IsUnauthorized(err):
			all.remove(s)
		case err == nil:
			s.checked = all.now()
		}
		all.mu.Unlock()
	}
}

func (all *sessions) unchecked() []*userSession {
	all.mu.Lock()
	defer all.mu.Unlock()
	var due []*userSession
	for _, s := range all.byKey {
		if all.now().Sub(s.checked) >= maxUnchecked {
			due = append(due, s)
		}
	}
	return due
}

// expire ends the sessions that are idle or too old.
func (all *sessions) expire() {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := all.now()
	for _, s := range all.byKey {
		if now.Sub(s.opened) >= maxAge || s.requests == 0 && now.Sub(s.used) >= maxIdle {
			all.remove(s)
		}
	}
}

func (all *sessions) remove(s *userSession) {
	s.stop()
	if all.byKey[s.key] == s {
		delete(all.byKey, s.key)
	}
}

// end ends a session.
func (all *sessions) end(s *userSession) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.remove(s)
}

// use returns a session for a request, which must release it, or nil if there is none.
func (all *sessions) use(key string) *userSession {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.enter(key)
}

func (all *sessions) enter(key string) *userSession {
	s := all.byKey[key]
	switch {
	case s == nil:
		return nil
	case all.now().Sub(s.opened) >= maxAge:
		all.remove(s)
		return nil
	}
	s.requests++
	return s
}

// start starts a session of a user for a request, which must release it. If there is one of the key already, it is that one.
func (all *sessions) start(key, user string, open func(context.Context) (*App, error), check func(context.Context) error) (*userSession, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if s := all.enter(key); s != nil {
		return s, nil
	}
	if all.ended {
		return nil, context.Canceled
	}
	var oldest *userSession
	own := 0
	for _, s := range all.byKey {
		if s.user != user {
			continue
		}
		own++
		if oldest == nil || s.used.Before(oldest.used) {
			oldest = s
		}
	}
	switch {
	case own >= maxOfUser || oldest != nil && len(all.byKey) >= all.most:
		all.remove(oldest)
	case len(all.byKey) >= all.most:
		return nil, errFull
	}
	ctx, stop := context.WithCancel(all.parent)
	pages, err := open(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	now := all.now()
	s := &userSession{
		key: key, user: user, app: pages, pages: pages.handler(), ctx: ctx, stop: stop, all: all, check: check,
		opened: now, used: now, checked: now, requests: 1,
	}
	pages.watchCluster(ctx)
	all.byKey[key] = s
	return s, nil
}
