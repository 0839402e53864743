package manager

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session/manager/limit"
)

const (
	// identityLifetime is the time for which the identity of a token is kept: a pod that connects again and again
	// makes no call to the API server each time.
	identityLifetime = 10 * time.Second
	// maxIdentities bounds the identities that are kept.
	maxIdentities = 4096
	// maxRefusals bounds the tokens of an address that are refused at once. Those of refusalRate are
	// refused per second after that, without a limit on the tokens that are accepted.
	maxRefusals = 256
	refusalRate = 8
	// maxIdentifying bounds the tokens of an address that are being identified at once.
	maxIdentifying = 32
	// maxPodStreams bounds the streams of a pod. It has one, and a moment more after it has lost one.
	maxPodStreams = 4
)

// gate decides which calls may ask who a pod is, since that takes calls to the API server.
type gate struct {
	mu         sync.Mutex
	identities map[[sha256.Size]byte]knownIdentity
	callers    map[string]*caller
	streams    map[string]int // by the pod's UID
}

// knownIdentity is the identity of a token that was accepted.
type knownIdentity struct {
	identity Identity
	until    time.Time
}

// caller is an address that calls.
type caller struct {
	identifying int
	// refusals is the number of tokens refused until since, less those that are forgiven.
	refusals float64
	since    time.Time
}

func newGate() *gate {
	return &gate{identities: map[[sha256.Size]byte]knownIdentity{}, callers: map[string]*caller{}, streams: map[string]int{}}
}

// identify returns the identity of a token that an address has sent. It asks f unless it knows the
// identity, or the address has sent too many tokens that were refused.
func (g *gate) identify(now time.Time, address, token string, f func() (Identity, error)) (Identity, error) {
	key := sha256.Sum256([]byte(token))
	g.mu.Lock()
	if known, ok := g.identities[key]; ok && now.Before(known.until) {
		g.mu.Unlock()
		return known.identity, nil
	}
	c := g.caller(address, now)
	if c.refusals >= maxRefusals || c.identifying >= maxIdentifying {
		g.mu.Unlock()
		return Identity{}, errTooManyTokens
	}
	c.identifying++
	g.mu.Unlock()

	refused := true // also if f panics
	var identity Identity
	var err error
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		c.identifying--
		if refused {
			c.refusals++
		}
		if err == nil && !refused {
			g.keep(key, knownIdentity{identity: identity, until: now.Add(identityLifetime)}, now)
		}
	}()
	identity, err = f()
	refused = errors.Is(err, ErrUnauthenticated) || errors.Is(err, ErrForbidden)
	return identity, err
}

var errTooManyTokens = errors.New("too many tokens from one address")

// caller returns the state of an address. It drops those of others that have nothing to forgive.
func (g *gate) caller(address string, now time.Time) *caller {
	c := g.callers[address]
	if c == nil {
		maps.DeleteFunc(g.callers, func(_ string, other *caller) bool {
			return other.identifying == 0 && other.forgive(now) == 0
		})
		c = &caller{since: now}
		g.callers[address] = c
	}
	c.forgive(now)
	return c
}

// forgive subtracts the refusals that time has forgiven, and returns the rest.
func (c *caller) forgive(now time.Time) float64 {
	c.refusals = max(c.refusals-refusalRate*max(now.Sub(c.since), 0).Seconds(), 0)
	c.since = now
	return c.refusals
}

// keep keeps an identity. If there are too many, it drops those that are out of date, or else all.
func (g *gate) keep(key [sha256.Size]byte, identity knownIdentity, now time.Time) {
	if len(g.identities) >= maxIdentities {
		maps.DeleteFunc(g.identities, func(_ [sha256.Size]byte, other knownIdentity) bool { return !now.Before(other.until) })
	}
	if len(g.identities) >= maxIdentities {
		clear(g.identities)
	}
	g.identities[key] = identity
}

// enter counts a stream of a pod. It reports whether the pod may have it. If so, leave must follow.
func (g *gate) enter(podUID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.streams[podUID] >= maxPodStreams {
		return false
	}
	g.streams[podUID]++
	return true
}

func (g *gate) leave(podUID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.streams[podUID]--; g.streams[podUID] == 0 {
		delete(g.streams, podUID)
	}
}

// authenticate returns the identity of the pod that is calling.
func (s *Server) authenticate(ctx context.Context) (Identity, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) != 1 {
		return Identity{}, status.Error(codes.Unauthenticated, "the call has no token")
	}
	token, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok || token == "" {
		return Identity{}, status.Error(codes.Unauthenticated, "the call has no token")
	}
	address := ""
	if p, ok := peer.FromContext(ctx); ok {
		address = limit.HostOf(p.Addr)
	}
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	identity, err := s.gate.identify(time.Now(), address, token, func() (Identity, error) { return s.identify(ctx, token) })
	switch {
	case err == nil:
		return identity, nil
	case errors.Is(err, ErrUnauthenticated):
		return Identity{}, status.Error(codes.Unauthenticated, err.Error())
	case errors.Is(err, ErrNotYet):
		return Identity{}, status.Error(codes.Unavailable, err.Error())
	case errors.Is(err, ErrForbidden):
		return Identity{}, status.Error(codes.PermissionDenied, err.Error())
	case errors.Is(err, errTooManyTokens):
		return Identity{}, status.Error(codes.ResourceExhausted, err.Error())
	}
	s.log.Error(err, "Failed to authenticate pod")
	return Identity{}, status.Error(codes.Unavailable, "the manager failed to authenticate the pod")
}
