package ui

import (
	"context"
	"errors"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/assay-dev/assay/internal/live"
	pluginlive "github.com/assay-dev/assay/internal/plugin/live"
)

type update = live.Update

// relay holds the newest state of a stream for somebody who may be slower.
type relay struct {
	mu      sync.Mutex
	update  *update
	reason  string // why there is no newer one, empty while there is a stream
	changed chan struct{}
}

func newRelay() *relay { return &relay{changed: make(chan struct{})} }

func (l *relay) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *relay) put(u *update) {
	kept := *u
	l.set(func() { l.update, l.reason = &kept, "" })
}

func (l *relay) fail(err error) { l.set(func() { l.reason = sentence(err) }) }

func (l *relay) get() (*update, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.update, l.reason
}

func (l *relay) wait() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// either returns a channel that is closed when one of two is, or the context ends.
func either(ctx context.Context, a, b <-chan struct{}) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		select {
		case <-ctx.Done():
		case <-a:
		case <-b:
		}
	}()
	return c
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// denied reports whether the user lacks a right.
func denied(err error) bool {
	var u *pluginlive.Unavailable
	return errors.As(err, &u) && u.Denied
}

func isGone(err error) bool {
	code, _ := statusOf(err)
	return code == http.StatusNotFound
}

// statusOf returns the HTTP status for an error of the API server, and a title; 0 if it is another one.
func statusOf(err error) (code int, title string) {
	switch {
	case apierrors.IsNotFound(err):
		return http.StatusNotFound, "Not found"
	case apierrors.IsForbidden(err):
		return http.StatusForbidden, "Not permitted"
	case apierrors.IsUnauthorized(err):
		return http.StatusUnauthorized, "Not logged in"
	case apierrors.IsConflict(err):
		return http.StatusConflict, "Changed meanwhile"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return http.StatusUnprocessableEntity, "Rejected"
	}
	return 0, ""
}
