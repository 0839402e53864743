package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// Loop handles the manager's orders and the outcomes of background work, one after the other.
type Loop struct{ events chan func() error }

// NewLoop returns a loop that Run runs.
func NewLoop() Loop { return Loop{make(chan func() error, 8)} }

// Background runs work in a goroutine, and Run then calls the function that work returns, unless ctx is done. An error of
// that function ends the client.
func (l Loop) Background(ctx context.Context, work func() func() error) {
	go func() { l.add(ctx, work()) }()
}

// After makes Run call a function when a channel is closed, unless ctx is done before.
func (l Loop) After(ctx context.Context, closed <-chan struct{}, event func() error) {
	go func() {
		select {
		case <-closed:
			l.add(ctx, event)
		case <-ctx.Done():
		}
	}()
}

func (l Loop) add(ctx context.Context, event func() error) {
	select {
	case l.events <- event:
	case <-ctx.Done():
	}
}

// Run runs the session and handles the manager's orders until the manager releases the client. The context of handle ends
// then. Run has already reported any error that it returns to the manager, if the manager could be reached, and calls
// cleanUp while the session is still open.
func (l Loop) Run(ctx context.Context, s Session, handle func(context.Context, pod.Order) error, cleanUp func()) error {
	return runSession(ctx, s.Run, func(ctx context.Context) error {
		err := l.handle(ctx, s.Orders(), handle)
		if err != nil {
			s.FailAs(session.FailureKindOf(err), err.Error())
		}
		cleanUp()
		return err
	})
}

func (l Loop) handle(ctx context.Context, orders <-chan pod.Order, handle func(context.Context, pod.Order) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	for {
		var err error
		select {
		case order, ok := <-orders:
			if !ok {
				return errSessionClosed
			}
			if _, released := order.(pod.Release); released {
				return nil
			}
			err = handle(working, order)
		case event := <-l.events:
			err = event()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// errSessionClosed is the error of a client whose session ended before its release. runSession adds
// the reason.
var errSessionClosed = errors.New("the session with the manager closed")

// runSession runs a session and meanwhile handle, which handles the manager's orders until it
// releases the client. After an error of handle it also ends the session. A released session ends by
// itself.
func runSession(ctx context.Context, session, handle func(context.Context) error) error {
	sessionCtx, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- session(sessionCtx) }()
	err := handle(ctx)
	if err == nil {
		return nil
	}
	leave()
	if sessionErr := <-ended; errors.Is(err, errSessionClosed) {
		return fmt.Errorf("%w: %w", err, sessionErr)
	}
	return err
}
