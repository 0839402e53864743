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
	// The backoff between two attempts to connect doubles from minBackoff to maxBackoff.
	minBackoff = 50 * time.Millisecond
	maxBackoff = time.Second
	// rejectionTimeout is the time for which a pod retries if it is rejected: the manager may
	// not know it yet.
	rejectionTimeout = 30 * time.Second
	// authenticationTimeout is the same for a pod whose token isn't accepted. The API server may
	// reject a valid token in and after an outage, and the kubelet can't replace an expired one.
	authenticationTimeout = 5 * time.Minute
	// flushTimeout bounds the time after the end of Run's context.
	flushTimeout = 2 * time.Second
)

// Run keeps the session open until the manager sends Release, and then returns nil. If the context
// ends first, Run sends what hasn't been sent if it can do so within two seconds, and returns the
// context's error. If the manager rejects the pod for good, Run returns an error with the reason.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.orders)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(ctx, func() {
		if s.mayFlush() {
			time.AfterFunc(flushTimeout, end)
		} else {
			end()
		}
	})
	defer stop()

	var (
		delay    = minBackoff
		rejected rejections
		lastErr  string
	)
	for {
		began := time.Now()
		welcomed, err := s.join(ctx, life)
		switch {
		case errors.Is(err, errReleased):
			return nil
		case ctx.Err() != nil && (errors.Is(err, errFlushed) || life.Err() != nil || !s.mayFlush()):
			return ctx.Err()
		}
		if rejected.final(err, began, time.Now()) {
			return fmt.Errorf("the manager rejected this pod: %s", status.Convert(err).Message())
		}
		if welcomed && status.Code(err) != codes.ResourceExhausted { // else it waits for memory of the manager
			delay = minBackoff
		}
		if text := err.Error(); text != lastErr || welcomed {
			s.log.Warn("Disconnected from the manager, retrying", "error", err)
			lastErr = text
		}
		if !s.wait(ctx, life, delay/2+rand.N(delay)) {
			return ctx.Err()
		}
		delay = min(2*delay, maxBackoff)
	}
}

// rejections finds out whether the manager rejects the pod for good.
type rejections struct {
	since time.Time // zero if the last session didn't end with a rejection
	code  codes.Code
}

// final records the end of a session, and reports whether another attempt is of no use.
func (r *rejections) final(err error, began, ended time.Time) bool {
	code, timeout := status.Code(err), rejectionTimeout
	switch code {
	case codes.FailedPrecondition:
		return true
	case codes.Unauthenticated:
		timeout = authenticationTimeout
	case codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented:
	default:
		r.since = time.Time{}
		return false
	}
	sameKind := (code == codes.Unauthenticated) == (r.code == codes.Unauthenticated)
	if r.since.IsZero() || !sameKind || ended.Sub(began) > rejectionTimeout {
		r.since = ended
	}
	r.code = code
	return ended.Sub(r.since) > timeout
}

// wait waits between two attempts to connect. It reports whether there is to be another attempt.
func (s *Session) wait(ctx, life context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = life.Done()
	}
	select {
	case <-timer.C:
		return true
	case <-done:
		return life.Err() == nil && s.mayFlush()
	}
}

// mayFlush reports whether there may be something to send after the end of Run's context.
func (s *Session) mayFlush() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected || s.reports[failed] != nil
}

// connect returns a connection to the manager that listens. gRPC opens it on first
// use: it looks up the host, and tries one address after the other, the next as
// soon as one fails and after 250 ms at the latest.
func (s *Session) connect() (*grpc.ClientConn, error) {
	pem, err := s.config.CA()
	if err != nil {
		return nil, fmt.Errorf("read the manager's CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("read the manager's CA: no certificate found")
	}
	return grpc.NewClient("dns:///"+s.config.Addresses,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			ServerName: session.ServerName,
			RootCAs:    roots,
			MinVersion: tls.VersionTLS13,
		})),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: dialTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(session.MaxMessageBytes)),
		grpc.WithWriteBufferSize(session.WriteBufferBytes),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(), // a proxy in the environment is for the load
	)
}
