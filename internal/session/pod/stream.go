package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// pingInterval is the time between two pings after the burst.
	pingInterval = 2 * time.Second
	// welcomeTimeout bounds the time from opening the stream to the manager's
	// welcome: it asks the API server who the pod is.
	welcomeTimeout = 10 * time.Second
	// silenceTimeout is how long the manager may send nothing, not even answers to
	// pings, before it is taken for dead.
	silenceTimeout = 6 * time.Second
)

var (
	errReleased = errors.New("released")
	errFlushed  = errors.New("flushed")
)

// stream is one connection to the manager.
type stream struct {
	*Session
	rpc     grpc.BidiStreamingClient[sessionpb.PodMessage, sessionpb.ManagerMessage]
	silence *time.Timer   // ends the stream unless it is reset
	ping    chan struct{} // asks the sender for a ping
	told    state         // what was told on this stream
	next    uint64        // the next number to send
}

// attend is the session over one connection, until that ends. It returns
// whether the manager welcomed the pod.
func (s *Session) attend(ctx, life context.Context) (welcomed bool, err error) {
	life, cancel := context.WithCancel(life)
	defer cancel()
	token, err := s.config.Token()
	if err != nil {
		return false, fmt.Errorf("read the token: %w", err)
	}
	conn, err := s.connect()
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }() // nothing is left to be sent
	silence := time.AfterFunc(welcomeTimeout, cancel)
	defer silence.Stop()
	rpc, err := sessionpb.NewSessionsClient(conn).Join(
		metadata.AppendToOutgoingContext(life, "authorization", "Bearer "+token))
	if err != nil {
		return false, err
	}
	st := &stream{Session: s, rpc: rpc, silence: silence, ping: make(chan struct{}, 1)}
	if err := st.greet(); err != nil {
		return false, err
	}
	s.setConnected(true)
	defer s.setConnected(false)
	s.log.Info("Session with the manager open", "nextNumber", st.next)

	received := make(chan error, 1)
	go func() { received <- st.receive() }()
	return true, st.send(ctx, received)
}

func (s *Session) setConnected(connected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected = connected
}

// greet sends Hello and waits for Welcome.
func (st *stream) greet() error {
	if err := st.rpc.Send(st.hello()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	answer, err := st.rpc.Recv()
	if status.Code(err) == codes.Unimplemented { // the manager is from before version 1
		return status.Error(codes.Unimplemented, session.CheckProtocol(session.Protocol(), nil).Error())
	}
	if err != nil {
		return err
	}
	welcome := answer.GetWelcome()
	if welcome == nil {
		return errors.New("the manager's first message isn't a welcome")
	}
	if err := session.CheckProtocol(session.Protocol(), welcome.GetProtocol()); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	st.silence.Reset(silenceTimeout)
	st.clock.connected()
	st.ping <- struct{}{}
	st.next = max(welcome.GetNextNumber(), 1)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.next > st.kept.last+1 {
		return fmt.Errorf("the manager has message %d, of %d that were sent", st.next-1, st.kept.last)
	}
	st.kept.arrived, st.kept.sent = st.next, st.next-1
	return nil
}

func (st *stream) hello() *sessionpb.PodMessage {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.told = state{warmupEnded: st.state.warmupEnded, answered: st.state.answered, script: st.state.script}
	if st.clock.measured() {
		st.told.ready = st.state.ready
	}
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Hello{Hello: &sessionpb.Hello{
		Role:           st.config.Role,
		Instance:       st.instance,
		Ready:          st.told.ready,
		Starts:         st.had.starts,
		WarmupEnded:    st.told.warmupEnded,
		ProbeSucceeded: st.told.answered,
		ScriptState:    st.told.script,
		Protocol:       session.Protocol(),
	}}}
}

// send sends until the stream or the context ends.
func (st *stream) send(ctx context.Context, received <-chan error) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		message := st.take()
		if message == nil && ctx.Err() != nil {
			return st.finish(received)
		}
		if message == nil {
			select {
			case <-st.ping:
				message = st.pinged()
			case <-ticker.C:
				message = st.pinged()
			case <-st.wake:
				continue
			case <-ctx.Done():
				continue
			case err := <-received:
				return err
			}
		}
		if err := st.rpc.Send(message); err != nil {
			// The stream has ended; the receiver knows why.
			return <-received
		}
		select {
		case <-ticker.C:
			st.askPing()
		default:
		}
	}
}

// finish ends the stream from the pod's side. When the manager then ends it
// too, it has everything.
func (st *stream) finish(received <-chan error) error {
	if err := st.rpc.CloseSend(); err != nil {
		return err
	}
	if err := <-received; !errors.Is(err, io.EOF) {
		return err
	}
	return errFlushed
}

// take returns the next message that is due, nil when there is none.
func (st *stream) take() *sessionpb.PodMessage {
	select {
	case <-st.ping:
		return st.pinged()
	default:
	}
	settled := st.clock.settled()
	st.mu.Lock()
	defer st.mu.Unlock()
	is, told := &st.state, &st.told
	switch {
	case is.failure != told.failure:
		told.failure = is.failure
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Failure{Failure: &sessionpb.Failure{
			Reason: is.failure, Kind: is.failureKind,
		}}}
	case is.answered != told.answered:
		told.answered = is.answered
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeSucceeded{ProbeSucceeded: is.answered}}
	case is.ready != told.ready && settled:
		told.ready = is.ready
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: is.ready}}
	case is.warmupEnded != told.warmupEnded:
		told.warmupEnded = is.warmupEnded
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_StageEnded{
			StageEnded: &sessionpb.StageEnded{Stage: sessionpb.Stage_STAGE_WARMUP},
		}}
	case is.script != told.script:
		told.script = is.script
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptState{ScriptState: is.script}}
	case is.answered == nil && is.silent != told.silent:
		told.silent = is.silent
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeFailed{
			ProbeFailed: &sessionpb.ProbeFailed{Reason: is.silent},
		}}
	}
	m, ok := st.kept.from(st.next)
	if !ok {
		return nil
	}
	st.next, st.kept.sent = m.last+1, m.last
	body, err := m.body()
	if err != nil { // it was encoded here
		is.failure = err.Error()
		st.notify()
		return nil
	}
	return body
}

func (st *stream) pinged() *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: st.clock.own()}}}
}

func (st *stream) askPing() {
	select {
	case st.ping <- struct{}{}:
	default:
	}
}

// receive takes the manager's messages until the stream ends, or the pod is
// released.
func (st *stream) receive() error {
	for {
		message, err := st.rpc.Recv()
		if err != nil {
			return err
		}
		returned := st.clock.own()
		st.silence.Reset(silenceTimeout)
		switch m := message.GetMessage().(type) {
		case *sessionpb.ManagerMessage_Pong:
			st.ponged(m.Pong, returned)
		case *sessionpb.ManagerMessage_Release:
			st.give(Release{})
			return errReleased
		default:
			if order := st.order(message); order != nil {
				st.give(order)
			}
		}
	}
}

func (st *stream) ponged(p *sessionpb.Pong, returned int64) {
	st.clock.answered(p.GetSent(), p.GetReceived(), p.GetAnswered(), returned)
	st.mu.Lock()
	st.kept.arrived = max(st.kept.arrived, p.GetNextNumber())
	st.mu.Unlock()
	if st.clock.settled() {
		st.notify() // Ready may have waited for it
	} else {
		st.askPing()
	}
}

// order returns the order in a message, nil when it was had before.
func (st *stream) order(message *sessionpb.ManagerMessage) Order {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch m := message.GetMessage().(type) {
	case *sessionpb.ManagerMessage_Prepare:
		if st.had.prepared {
			return nil
		}
		plan, err := session.PlanFromWire(m.Prepare.GetPlan())
		if err != nil {
			st.state.failure = "the manager's plan can't be carried out: " + err.Error()
			st.notify()
			return nil
		}
		st.had.prepared = true
		return Prepare{Plan: plan, Address: m.Prepare.GetAddress()}
	case *sessionpb.ManagerMessage_Start:
		for _, had := range st.had.starts {
			if had.GetStage() == m.Start.GetStage() {
				return nil
			}
		}
		st.had.starts = append(st.had.starts, m.Start)
		if m.Start.GetStage() == sessionpb.Stage_STAGE_MEASUREMENT {
			st.clock.freeze()
		}
		return Start{Stage: m.Start.GetStage(), At: m.Start.GetAt()}
	case *sessionpb.ManagerMessage_SetupData:
		if st.had.setup {
			return nil
		}
		st.had.setup = true
		return SetupData{Data: m.SetupData.GetData()}
	case *sessionpb.ManagerMessage_End:
		if st.had.end {
			return nil
		}
		st.had.end = true
		return End{}
	case *sessionpb.ManagerMessage_Watch:
		if proto.Equal(m.Watch, st.had.watch) {
			return nil
		}
		watch, err := session.WatchFromWire(m.Watch)
		if err != nil {
			st.state.failure = "what the manager has the agent watch can't be watched: " + err.Error()
			st.notify()
			return nil
		}
		st.had.watch = m.Watch
		return Watch{*watch}
	case *sessionpb.ManagerMessage_Sample:
		st.readAt = st.clock.now()
		return Sample{}
	}
	return nil
}

// give passes an order on. The orders of a run but Sample always fit into half of
// the channel; of Sample, one that waits there is as good as many.
func (st *stream) give(order Order) {
	if _, ok := order.(Sample); ok && len(st.orders) > cap(st.orders)/2 {
		return
	}
	st.orders <- order
}
