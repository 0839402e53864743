package pod

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// dialTimeout bounds the opening of one TCP connection, and the lookup before.
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
			return fmt.Errorf("the manager refuses this pod: %w", err)
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
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument:
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

// connect opens a connection to whichever of the managers is listening.
func (s *Session) connect(ctx context.Context) (*grpc.ClientConn, error) {
	pem, err := s.config.CA()
	if err != nil {
		return nil, fmt.Errorf("read the manager's certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("read the manager's certificate authority: no certificate in it")
	}
	dialed, err := dial(ctx, s.config.Addresses)
	if err != nil {
		return nil, err
	}
	var once atomic.Bool
	conn, err := grpc.NewClient("passthrough:///"+s.config.Addresses,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			ServerName: session.ServerName,
			RootCAs:    roots,
			MinVersion: tls.VersionTLS13,
		})),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if once.Swap(true) {
				return nil, errors.New("the connection is used up")
			}
			return dialed, nil
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(session.MaxMessageBytes)),
		grpc.WithDisableServiceConfig(),
	)
	if err != nil {
		_ = dialed.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	conn.Connect()
	return conn, nil
}

// dial tries all addresses of the host at once and returns the first connection
// that opens.
func dial(ctx context.Context, addresses string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(addresses)
	if err != nil {
		return nil, fmt.Errorf("the managers' address: %w", err)
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("look up the managers: %w", err)
	}
	type outcome struct {
		conn net.Conn
		err  error
	}
	outcomes := make(chan outcome)
	for _, ip := range ips {
		go func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(ip, port))
			select {
			case outcomes <- outcome{conn, err}:
			case <-ctx.Done():
				if conn != nil {
					_ = conn.Close()
				}
			}
		}()
	}
	var failures []error
	for range ips {
		select {
		case o := <-outcomes:
			if o.err == nil {
				return o.conn, nil
			}
			failures = append(failures, o.err)
		case <-ctx.Done():
			return nil, errors.Join(append(failures, ctx.Err())...)
		}
	}
	return nil, errors.Join(failures...)
}
