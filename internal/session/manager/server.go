// Package manager is the manager's end of the pods' sessions. It keeps, run by
// run, what the pods said and what they are to be told; it knows nothing of
// Kubernetes.
package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// What an Identify wraps to say why a pod has no session. Any other error means
// that it isn't known now who the pod is.
var (
	// ErrUnauthenticated: the token isn't one of a pod.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: the pod belongs to no run.
	ErrForbidden = errors.New("forbidden")
)

// keepaliveTime is how long a connection may be quiet before it is probed, and
// keepaliveTimeout how long an answer is waited for.
const (
	keepaliveTime    = 5 * time.Second
	keepaliveTimeout = 5 * time.Second
)

// Identity is who a pod is.
type Identity struct {
	// Run is the UID of the pod's run.
	Run string
	// Role is what the pod does in it; Index is a client's number.
	Role  sessionpb.Role
	Index int
	// Pod, PodUID and Node are the pod's name, its UID and its node.
	Pod, PodUID, Node string
}

// Identify finds out whose token it is.
type Identify func(ctx context.Context, token string) (Identity, error)

// Server serves sessions. It is made by New.
type Server struct {
	sessionpb.UnimplementedSessionsServer
	identify Identify
	changed  func(run string)
	log      logr.Logger

	mu   sync.Mutex
	runs map[string]*run
}

// New returns a server. changed is called with the UID of a run when something
// changed that decides how the run goes on; samples alone don't. It mustn't
// wait.
func New(identify Identify, changed func(run string), log logr.Logger) *Server {
	return &Server{identify: identify, changed: changed, log: log, runs: map[string]*run{}}
}

// Serve serves sessions until the context ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	server := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(config)),
		grpc.MaxRecvMsgSize(session.MaxMessageBytes),
		grpc.MaxSendMsgSize(session.MaxMessageBytes),
		grpc.MaxConcurrentStreams(4),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTime / 5, PermitWithoutStream: true}),
	)
	sessionpb.RegisterSessionsServer(server, s)
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve sessions: %w", err)
	}
	return nil
}

// Attend is one pod's session.
func (s *Server) Attend(stream grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage]) error {
	who, err := s.authenticate(stream.Context())
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.GetHello()
	if hello == nil || hello.GetRole() != who.Role {
		return status.Errorf(codes.InvalidArgument, "pod %s must begin with a Hello in the role %s", who.Pod, who.Role)
	}
	r := s.run(who.Run)
	a, err := r.join(who, hello)
	if err != nil {
		return err
	}
	s.changed(who.Run)
	defer func() {
		r.leave(a)
		s.changed(who.Run)
	}()
	sending := make(chan error, 1)
	go func() { sending <- a.send(stream) }()
	receiving := make(chan error, 1)
	go func() { receiving <- s.receive(stream, r, a) }()
	select {
	case err = <-sending:
	case err = <-receiving:
	case <-a.ended:
		err = status.Error(codes.Unavailable, "the session was ended")
	}
	return err
}

// receive takes in what a pod sends. What contradicts itself or the protocol
// fails the pod's run, and ends the session.
func (s *Server) receive(stream grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage], r *run, a *attendance) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		received := time.Now()
		if ping := m.GetPing(); ping != nil {
			a.answer(ping.GetSent(), received.UnixMicro(), r.nextNumber(a))
			continue
		}
		news, err := r.take(a, m)
		if err != nil {
			s.log.Info("a pod sent nonsense", "run", a.who.Run, "pod", a.who.Pod, "error", err.Error())
			r.fail(a, fmt.Sprintf("it sent what makes no sense: %v", err))
			s.changed(a.who.Run)
			return status.Error(codes.InvalidArgument, err.Error())
		}
		if news {
			s.changed(a.who.Run)
		}
	}
}

func (s *Server) authenticate(ctx context.Context) (Identity, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get("authorization")
	if len(values) != 1 {
		return Identity{}, status.Error(codes.Unauthenticated, "no token")
	}
	token, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok {
		return Identity{}, status.Error(codes.Unauthenticated, "no bearer token")
	}
	who, err := s.identify(ctx, token)
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, ErrUnauthenticated):
		return Identity{}, status.Error(codes.Unauthenticated, err.Error())
	case errors.Is(err, ErrForbidden):
		return Identity{}, status.Error(codes.PermissionDenied, err.Error())
	}
	s.log.Error(err, "can't tell who a pod is")
	return Identity{}, status.Error(codes.Unavailable, "it can't be told now who the pod is")
}

func (s *Server) run(uid string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[uid]
	if r == nil {
		r = newRun()
		s.runs[uid] = r
	}
	return r
}

// Observe says what the pods of a run said.
func (s *Server) Observe(uid string) Observation { return s.run(uid).observe() }

// Series is the seconds of a run's measurement so far.
func (s *Server) Series(uid string) []result.Second { return s.run(uid).seriesSoFar() }

// Watch tells the agent of a run to ask the target for a path until it answers.
func (s *Server) Watch(uid, address, path string) {
	s.run(uid).intend(func(i *intents) {
		i.watch = &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Watch{Watch: &sessionpb.Watch{Address: address, Path: path}}}
	})
}

// Prepare gives each client of a run its plan and the target's address. The
// first plans stand.
func (s *Server) Prepare(uid string, plans []*session.Plan, address string) {
	s.run(uid).intend(func(i *intents) {
		if i.prepare != nil {
			return
		}
		for _, plan := range plans {
			encoded, err := session.EncodePlan(plan)
			if err != nil {
				s.log.Error(err, "a plan can't be encoded", "run", uid)
				return
			}
			i.prepare = append(i.prepare, &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Prepare{
				Prepare: &sessionpb.Prepare{Plan: encoded, Address: address},
			}})
		}
	})
}

// Start tells the pods of a run when a stage begins: at is in microseconds
// since the Unix epoch by the manager's clock. The first instant stands.
func (s *Server) Start(uid string, stage sessionpb.Stage, at int64) {
	s.run(uid).intend(func(i *intents) {
		if i.starts[stage] == 0 {
			i.starts[stage] = at
		}
	})
}

// Read asks the agent of a run for a reading of the server.
func (s *Server) Read(uid string) { s.run(uid).intend(func(i *intents) { i.reads++ }) }

// Release lets the pods of a run exit.
func (s *Server) Release(uid string) { s.run(uid).intend(func(i *intents) { i.release = true }) }

// Forget ends the sessions of a run and drops all that is known of it.
func (s *Server) Forget(uid string) {
	s.mu.Lock()
	r := s.runs[uid]
	delete(s.runs, uid)
	s.mu.Unlock()
	if r != nil {
		r.end()
	}
}
