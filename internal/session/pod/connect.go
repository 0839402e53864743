package pod

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// dialTimeout bounds the opening of a connection to one address.
	dialTimeout = 3 * time.Second
	// The time between two attempts to connect doubles from shortestPause to
	// longestPause.
	shortestPause = 50 * time.Millisecond
	longestPause  = time.Second
	// refusalTimeout is for how long a pod tries against being refused: the
	// manager may not yet know of it, or the token may be about to be replaced.
	refusalTimeout = 30 * time.Second
	// flushTimeout bounds the time after the end of Run's context.
	flushTimeout = 2 * time.Second
)

// Run keeps the session until the manager says Release, and then returns nil.
// When the context ends first, Run delivers what is still to be sent if it can
// do so within two seconds, and returns the context's error. When the manager
// refuses the pod for good, Run returns an error that says why.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.orders)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(ctx, func() {
		if s.toFlush() {
			time.AfterFunc(flushTimeout, end)
		} else {
			end()
		}
	})
	defer stop()

	var (
		pause   = shortestPause
		refused refusals
		lastErr string
	)
	for {
		began := time.Now()
		welcomed, err := s.attend(ctx, life)
		switch {
		case errors.Is(err, errReleased):
			return nil
		case ctx.Err() != nil && (errors.Is(err, errFlushed) || life.Err() != nil || !s.toFlush()):
			return ctx.Err()
		}
		if refused.final(err, began, time.Now()) {
			return fmt.Errorf("the manager rejected this pod: %s", status.Convert(err).Message())
		}
		if welcomed {
			pause = shortestPause
		}
		if text := err.Error(); text != lastErr || welcomed {
			s.log.Warn("No session with the manager; trying again", "error", err)
			lastErr = text
		}
		if !s.wait(ctx, life, pause/2+rand.N(pause)) {
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// refusals tells whether the manager refuses the pod for good.
type refusals struct {
	since time.Time // zero when the last session didn't end by a refusal
}

// final takes in how a session ended that began at an instant, and returns
// whether there is no use in another.
func (r *refusals) final(err error, began, ended time.Time) bool {
	switch status.Code(err) {
	case codes.FailedPrecondition:
		return true
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented:
		if r.since.IsZero() || ended.Sub(began) > refusalTimeout {
			r.since = ended
		}
		return ended.Sub(r.since) > refusalTimeout
	}
	r.since = time.Time{}
	return false
}

// wait waits between two attempts. It returns false when there is to be no
// other.
func (s *Session) wait(ctx, life context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = life.Done()
	}
	select {
	case <-timer.C:
		return true
	case <-done:
		return life.Err() == nil && s.toFlush()
	}
}

// toFlush is whether there may be something to deliver after the end of Run's
// context.
func (s *Session) toFlush() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected || s.state.failure != ""
}

// connect returns a connection to whichever of the managers listens. gRPC opens
// it when it is used: it looks the host up, and tries the addresses one after
// the other, each a quarter of a second after the one before if not earlier.
func (s *Session) connect() (*grpc.ClientConn, error) {
	pem, err := s.config.CA()
	if err != nil {
		return nil, fmt.Errorf("read the manager's CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("read the manager's CA: no certificate in it")
	}
	return grpc.NewClient("dns:///"+s.config.Addresses,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			ServerName: session.ServerName,
			RootCAs:    roots,
			MinVersion: tls.VersionTLS13,
		})),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: dialTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(session.MaxMessageBytes)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(), // a proxy in the environment is for the load
	)
}
