package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/limit"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// helloTimeout bounds the time from the connection to a pod's Hello, and the
	// authentication of the pod.
	helloTimeout = 10 * time.Second
	// After keepaliveTime without a message, gRPC pings the pod. Without an answer
	// within keepaliveTimeout, it closes the connection.
	keepaliveTime    = 5 * time.Second
	keepaliveTimeout = 10 * time.Second
	// stopTimeout bounds the end of Serve.
	stopTimeout = 2 * time.Second
	// connectionBuffer is the size of a connection's write buffer in bytes.
	connectionBuffer = 4 << 10
	// messageBurst is the number of messages that a pod may send at once,
	// messageRate the number per second after that. Further ones are delayed.
	messageBurst = 10_000
	messageRate  = 1_000
	// maxPings bounds the pings of a pod that are not answered yet.
	maxPings = 1_000
	// maxHeaderBytes bounds the headers of a call: a token and what gRPC adds.
	maxHeaderBytes = 32 << 10
	// streamWindow bounds what a pod may send on a stream before it is read: gRPC's default.
	streamWindow = 64 << 10
	// idleTimeout closes a connection without a session.
	idleTimeout = helloTimeout
)

// frames holds buffers for what waits until it is read. A sample second is a frame of about 5 KiB, for which
// gRPC's own pool has nothing between 4 and 16 KiB: a backlog would take three times its size.
var frames = mem.NewTieredBufferPool(1<<10, 2<<10, 3<<10, 4<<10, 5<<10, 6<<10, 7<<10, 8<<10, 10<<10, 12<<10, 14<<10, 16<<10, 32<<10, 1<<20)

// stream is one connection of a pod. Its fields are guarded by the run's mutex.
type stream struct {
	protocol    uint32       // of the manager
	participant *participant // nil before Hello
	wakes       chan struct{}
	ends        chan error

	// What was sent on this stream.
	welcomed       bool
	watches        uint64
	sampleRequests uint64
	prepared       bool
	ended          bool
	// endedMeasurement reports whether the client has the order to end its measurement early.
	endedMeasurement bool
	released         bool
	setup            bool
	summarized       bool
	// pings are those that are not answered yet.
	pings []ping
}

// ping is a ping that arrived. sent is the pod's clock, received the manager's.
type ping struct{ sent, received int64 }

// notify makes the sender check for messages to send.
func (st *stream) notify() {
	select {
	case st.wakes <- struct{}{}:
	default:
	}
}

func (st *stream) end(err error) {
	select {
	case st.ends <- err:
	default:
	}
}

// Serve serves sessions on a listener until the context ends, and closes the
// listener. Only the leader may call it, once.
func (s *Server) Serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	s.mu.Lock()
	s.served = time.Now()
	s.mu.Unlock()
	server := grpc.NewServer(
		grpc.Creds(s.receiving.Credentials(credentials.NewTLS(config))),
		grpc.MaxRecvMsgSize(session.MaxMessageBytes),
		grpc.ReadBufferSize(0), // TLS has a buffer of its own
		grpc.WriteBufferSize(connectionBuffer),
		experimental.BufferPool(frames),
		grpc.ForceServerCodecV2(limit.Codec()),
		grpc.MaxConcurrentStreams(1), // limit.ReceiveLimiter counts what arrives on a connection
		// Without a fixed window, gRPC raises it to 16 MiB for each stream.
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(streamWindow),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(helloTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout, MaxConnectionIdle: idleTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	)
	sessionpb.RegisterSessionsServer(server, s)
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		s.endAll(status.Error(codes.Unavailable, "the manager is stopping"))
		bound := time.AfterFunc(stopTimeout, server.Stop)
		defer bound.Stop()
		server.GracefulStop()
	})
	go s.changes.announce(ctx, s.announce)
	err := server.Serve(limit.NewListener(listener, s.ConnectionsPerAddress))
	if !stop() {
		<-done
	}
	s.receivers.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve sessions: %w", err)
	}
	return nil
}

func (s *Server) endAll(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		r.endAll(err)
	}
}

// Join is one pod's session, over one connection.
func (s *Server) Join(rpc grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage]) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = status.Error(codes.Internal, s.panicked(v).Error())
		}
		s.counters.sessionEnded(err)
	}()
	identity, err := s.authenticate(rpc.Context())
	if err != nil {
		return err
	}
	log := s.log.WithValues("run", identity.Run, "pod", identity.Pod)
	if !s.gate.enter(identity.PodUID) {
		return status.Errorf(codes.ResourceExhausted, "pod %s has %d sessions already", identity.Pod, maxPodStreams)
	}
	defer s.gate.leave(identity.PodUID)
	conn := limit.ConnOf(rpc.Context())
	conn.Enter(identity.Run)
	defer conn.Leave()
	st := &stream{protocol: s.protocol, wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
	r := s.of(identity.Run)
	received := make(chan error, 1)
	s.receivers.Go(func() {
		received <- s.contain(r, st, identity, func() error { return s.receive(rpc, r, st, identity) })
	})
	err = s.contain(r, st, identity, func() error { return s.send(rpc, r, st, received) })
	if r.leave(st) {
		s.changes.add(identity.Run)
	}
	log.V(1).Info("Session ended", "error", err)
	return err
}

// send sends messages when they are due, until the stream ends. It returns why the stream ended.
func (s *Server) send(rpc grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage], r *run, st *stream, received <-chan error) error {
	hello := time.NewTimer(helloTimeout)
	defer hello.Stop()
	for {
		m := r.due(st)
		if m == nil {
			select {
			case <-st.wakes:
				continue
			case err := <-st.ends:
				return err
			case err := <-received:
				return err
			case <-hello.C:
				if !r.joined(st) {
					return status.Error(codes.DeadlineExceeded, "the pod did not send Hello")
				}
				continue
			}
		}
		if pong := m.GetPong(); pong != nil {
			pong.Answered = s.Now()
		}
		if err := rpc.Send(m); err != nil {
			return err
		}
	}
}

// receive handles a pod's messages until the stream ends. It returns why the stream ended.
func (s *Server) receive(rpc grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage], r *run, st *stream, identity Identity) error {
	first, err := rpc.Recv()
	if err != nil {
		return err
	}
	if err := r.join(st, identity, first.GetHello()); err != nil {
		s.changes.add(identity.Run)
		return err
	}
	s.changes.add(identity.Run)
	conn := limit.ConnOf(rpc.Context())
	speed := rate.NewLimiter(messageRate, messageBurst)
	for {
		conn.Received()
		m, err := rpc.Recv()
		received := s.Now()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if code := status.Code(err); code == codes.Internal || code == codes.ResourceExhausted {
			err = malformed("%s", status.Convert(err).Message())
		} else if err != nil {
			return err
		}
		var news bool
		if err == nil {
			news, err = r.receive(st, m, received)
		}
		if bad := (*malformedError)(nil); errors.As(err, &bad) {
			r.reject(st, bad)
			s.log.Info("Rejected pod for a malformed message", "run", identity.Run, "pod", identity.Pod, "message", bad.what)
			s.changes.add(identity.Run)
			return status.Error(codes.InvalidArgument, bad.Error())
		}
		full := errors.Is(err, memory.ErrFull)
		if news || full {
			s.changes.add(identity.Run)
		}
		if full {
			return status.Error(codes.ResourceExhausted, err.Error())
		}
		if err != nil {
			return err
		}
		if err := speed.Wait(rpc.Context()); err != nil {
			return err
		}
	}
}
