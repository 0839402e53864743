// Package live follows a running measurement by the stream of the leader, through a port forwarded to its pod.
package live

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// maxLine bounds an update in bytes: 600 seconds are about half a megabyte.
	maxLine = 8 << 20
	// maxReason bounds a reason of the leader's for not streaming, in bytes.
	maxReason = 1 << 10
	// silence is the time without an update after which a stream counts as broken. There is one each second.
	silence = 10 * time.Second
)

// Unavailable is the error of a stream that can't be had at present.
type Unavailable struct {
	// Reason says why, and what would help, as a sentence.
	Reason string
	// Denied reports whether the user lacks a right, so that trying again won't help.
	Denied bool
}

// Error implements error.
func (u *Unavailable) Error() string { return u.Reason }

func unavailable(format string, args ...any) error {
	return &Unavailable{Reason: fmt.Sprintf(format, args...)}
}

// Source streams from the leader. Its methods are safe to call from any goroutine.
type Source struct {
	config *rest.Config
	lease  leaseReader
	// forward forwards a local port to one of a pod's, until the context ends.
	forward func(ctx context.Context, namespace, pod string, port int) (address string, ended <-chan struct{}, err error)

	mu   sync.Mutex
	path *path
}

// path is the way to a leader.
type path struct {
	leader
	address string
	ended   <-chan struct{}
	stop    context.CancelFunc
	client  *http.Client
}

// New returns a Source for the operator in a namespace whose leader holds the given Lease. It sends no request.
func New(config *rest.Config, namespace, lease string) (*Source, error) {
	leases, err := newLeaseReader(config, namespace, lease)
	if err != nil {
		return nil, err
	}
	f, err := newForwarder(config)
	if err != nil {
		return nil, err
	}
	return &Source{config: config, lease: leases, forward: f.forward}, nil
}

// Follow calls f with the state of a run's measurement, first as it is and then after each change, until the run has
// finished, f returns an error or the context ends. It returns an Unavailable if the stream can't be had, or breaks:
// as the leader changes, for example. Calling Follow again resumes it.
func (s *Source) Follow(ctx context.Context, namespace, name string, f func(*live.Update) error) error {
	if s.config.Impersonate.UserName != "" {
		return &Unavailable{Reason: "Live figures are not available with --as: the leader knows no impersonation.", Denied: true}
	}
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(silence, func() { cancel(unavailable("The leader, pod %s, has sent nothing for %s.", p.pod, silence)) })
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+session.ServerName+live.Path(namespace, name), nil)
	if err != nil {
		return fmt.Errorf("create the request: %w", err)
	}
	response, err := p.client.Do(request)
	if err != nil {
		s.drop(p)
		return s.broken(ctx, p, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	var state live.Update
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		watch.Reset(silence)
		var next live.Update
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			return unavailable("The leader sent something else than figures: %s.", err)
		}
		state = *state.Apply(&next)
		if err := f(&state); err != nil {
			return err
		}
		if state.Finished() {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		s.drop(p)
		return s.broken(ctx, p, err)
	}
	return unavailable("The leader, pod %s, ended the stream.", p.pod)
}

// broken returns why a stream broke.
func (s *Source) broken(ctx context.Context, p *path, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		return unavailable("Port %d of pod %s isn't the leader's: %s.", p.endpoint.Port, p.pod, unverified.Err)
	}
	return unavailable("The connection to the leader, pod %s, broke: %s.", p.pod, err)
}

// refused returns the leader's reason for not streaming.
func refused(response *http.Response) error {
	reason, _ := io.ReadAll(io.LimitReader(response.Body, maxReason))
	u := &Unavailable{Reason: "The leader refused: " + strings.TrimSuffix(strings.TrimSpace(string(reason)), ".") + "."}
	switch response.StatusCode {
	case http.StatusUnauthorized:
		u.Reason += " It recognizes tokens and, if the operator may read the cluster's CA for them, client certificates."
		u.Denied = true
	case http.StatusForbidden:
		u.Denied = true
	}
	return u
}

// connect returns the way to the leader.
func (s *Source) connect(ctx context.Context) (*path, error) {
	found, err := s.lease.leader(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.path; p != nil {
		select {
		case <-p.ended:
		default:
			if p.leader == *found {
				return p, nil
			}
		}
		p.stop()
		s.path = nil
	}
	// The forwarded port outlives this call, for the others.
	forwarding, stop := context.WithCancel(context.WithoutCancel(ctx))
	address, ended, err := s.forward(forwarding, found.namespace, found.pod, found.endpoint.Port)
	if err != nil {
		stop()
		return nil, err
	}
	client, err := newClient(s.config, found.endpoint, address)
	if err != nil {
		stop()
		return nil, err
	}
	s.path = &path{leader: *found, address: address, ended: ended, stop: stop, client: client}
	return s.path, nil
}

// drop forgets a way that doesn't lead to the leader any more.
func (s *Source) drop(p *path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == p {
		p.stop()
		s.path = nil
	}
}

// Close ends all streams.
func (s *Source) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != nil {
		s.path.stop()
		s.path = nil
	}
}
