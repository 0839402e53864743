package manager

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Statistics counts the sessions of all runs.
type Statistics struct {
	// Clients and Agents are the numbers of pods that are connected.
	Clients, Agents int
	// Ended counts the sessions that have ended or were refused, by the name of their gRPC status code.
	Ended map[string]uint64
	// DuplicateSeconds is the number of sample seconds that were dropped because they had arrived before,
	// StaleSeconds that of the agents' samples that weren't newer than the last one.
	DuplicateSeconds, StaleSeconds uint64
}

// counters only grow.
type counters struct {
	ended             [codes.Unauthenticated + 1]atomic.Uint64
	duplicates, stale atomic.Uint64
}

// Statistics returns the statistics of all runs.
func (s *Server) Statistics() Statistics {
	statistics := Statistics{
		Ended: map[string]uint64{}, DuplicateSeconds: s.counters.duplicates.Load(), StaleSeconds: s.counters.stale.Load(),
	}
	for code := range s.counters.ended {
		if n := s.counters.ended[code].Load(); n > 0 {
			statistics.Ended[codes.Code(code).String()] = n
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		clients, agents := r.connected()
		statistics.Clients += clients
		statistics.Agents += agents
	}
	return statistics
}

func (r *run) connected() (clients, agents int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all() {
		switch {
		case p.stream == nil:
		case p.identity.Role == sessionpb.Role_ROLE_AGENT:
			agents++
		default:
			clients++
		}
	}
	return clients, agents
}

// sessionEnded counts a session that has ended with an error, or with nil.
func (c *counters) sessionEnded(err error) {
	code := status.Code(err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		code = status.FromContextError(err).Code()
	}
	if int(code) >= len(c.ended) {
		code = codes.Unknown
	}
	c.ended[code].Add(1)
}

// duplicate counts the seconds of a message that has arrived before.
func (c *counters) duplicate(m *sessionpb.PodMessage, n *numbered) {
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample, *sessionpb.PodMessage_ServerSample:
		c.duplicates.Add(n.last - n.first + 1) // both have arrived, so that they are small
	}
}
