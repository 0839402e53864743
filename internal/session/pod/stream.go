package pod

import (
	"bytes"
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
	// welcomeTimeout bounds the time from dialing to the manager's Welcome, in which
	// it has the API server authenticate the pod.
	welcomeTimeout = 10 * time.Second
	// contactTimeout is the time without a message from the manager, not even a Pong,
	// after which the pod disconnects.
	contactTimeout = 6 * time.Second
)

var (
	errReleased = errors.New("released")
	errFlushed  = errors.New("flushed")
)

// stream is one connection to the manager.
type stream struct {
	*Session
	rpc      grpc.BidiStreamingClient[sessionpb.PodMessage, sessionpb.ManagerMessage]
	contact  *time.Timer   // ends the stream unless it is reset
	ping     chan struct{} // makes the sender send a ping
	reported reports       // those that were sent on this stream
	next     uint64        // the next number to send
}

// join runs the session over one connection, until that ends. It reports whether
// the manager sent Welcome.
func (s *Session) join(ctx, life context.Context) (welcomed bool, err error) {
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
	defer func() { _ = conn.Close() }() // nothing is left to send
	contact := time.AfterFunc(welcomeTimeout, cancel)
	defer contact.Stop()
	rpc, err := sessionpb.NewSessionsClient(conn).Join(
		metadata.AppendToOutgoingContext(life, "authorization", "Bearer "+token))
	if err != nil {
		return false, err
	}
	st := &stream{Session: s, rpc: rpc, contact: contact, ping: make(chan struct{}, 1)}
	if err := st.greet(); err != nil {
		return false, err
	}
	s.setConnected(true)
	defer s.setConnected(false)
	s.log.Info("Connected to the manager", "nextNumber", st.next)

	received := make(chan error, 1)
	go func() { received <- st.receive() }()
	return true, st.send(ctx, received)
}

func (s *Session) setConnected(connected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected = connected
}

func (st *stream) greet() error {
	if err := st.rpc.Send(st.hello()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	answer, err := st.rpc.Recv()
	if err != nil {
		return err
	}
	welcome := answer.GetWelcome()
	if welcome == nil {
		return errors.New("the manager's first message is not Welcome")
	}
	if err := session.CheckProtocol(session.ProtocolVersion, welcome.GetProtocol()); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	st.contact.Reset(contactTimeout)
	st.clock.connected()
	st.ping <- struct{}{}
	st.next = max(welcome.GetNextNumber(), 1)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.next > st.kept.last+1 {
		return fmt.Errorf("the manager has message %d, but the last one sent is %d", st.next-1, st.kept.last)
	}
	st.kept.arrived, st.kept.sent = st.next, st.next-1
	return nil
}

// hello returns the Hello message. It repeats all that the pod has reported.
func (st *stream) hello() *sessionpb.PodMessage {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.reported = st.reports
	st.reported[failed], st.reported[probeFailed], st.reported[scriptMetrics] = nil, nil, nil
	if !st.clock.measured() {
		st.reported[ready] = nil
	}
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Hello{Hello: &sessionpb.Hello{
		Role:           st.config.Role,
		Instance:       st.instance,
		Ready:          st.reported[ready].GetReady(),
		Starts:         st.received.starts,
		WarmupEnded:    st.reported[warmupEnded] != nil,
		ProbeSucceeded: st.reported[probeSucceeded].GetProbeSucceeded(),
		ScriptState:    st.reported[scriptState].GetScriptState(),
		LastNumber:     st.kept.last,
		Protocol:       session.ProtocolVersion,
	}}}
}

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

// finish ends the stream from the pod's side. If the manager then ends it too, it
// has received everything.
func (st *stream) finish(received <-chan error) error {
	if err := st.rpc.CloseSend(); err != nil {
		return err
	}
	if err := <-received; !errors.Is(err, io.EOF) {
		return err
	}
	return errFlushed
}

// take returns the next message to send, or nil if there is none.
func (st *stream) take() *sessionpb.PodMessage {
	select {
	case <-st.ping:
		return st.pinged()
	default:
	}
	settled := st.clock.settled()
	st.mu.Lock()
	defer st.mu.Unlock()
	for kind, message := range st.reports {
		waits := kind == ready && !settled || kind == probeFailed && st.reports[probeSucceeded] != nil
		if !waits && !proto.Equal(message, st.reported[kind]) {
			st.reported[kind] = message
			return message
		}
	}
	m, ok := st.kept.from(st.next)
	if !ok {
		return nil
	}
	st.next, st.kept.sent = m.last+1, m.last
	body, err := m.body()
	if err != nil { // it was encoded here
		st.fail(0, err.Error())
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

// receive handles the manager's messages until the stream ends or the manager releases the pod.
func (st *stream) receive() error {
	for {
		message, err := st.rpc.Recv()
		if err != nil {
			return err
		}
		returned := st.clock.own()
		st.contact.Reset(contactTimeout)
		switch m := message.GetMessage().(type) {
		case *sessionpb.ManagerMessage_Pong:
			st.ponged(m.Pong, returned)
		case *sessionpb.ManagerMessage_Release:
			st.deliver(Release{})
			return errReleased
		default:
			if order := st.order(message); order != nil {
				st.deliver(order)
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
		st.notify() // Ready may wait for it
	} else {
		st.askPing()
	}
}

// order returns the order in a message, or nil if it was received before.
func (st *stream) order(message *sessionpb.ManagerMessage) Order {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch m := message.GetMessage().(type) {
	case *sessionpb.ManagerMessage_Prepare:
		plan, err := session.DecodePlan(m.Prepare.GetPlan())
		if err != nil {
			st.fail(0, "invalid plan from the manager: "+err.Error())
			return nil
		}
		return once(&st.received.prepared, Prepare{Plan: plan, Address: m.Prepare.GetAddress()})
	case *sessionpb.ManagerMessage_Start:
		for _, start := range st.received.starts {
			if start.GetStage() == m.Start.GetStage() {
				return nil
			}
		}
		st.received.starts = append(st.received.starts, m.Start)
		if m.Start.GetStage() == sessionpb.Stage_STAGE_MEASUREMENT {
			st.clock.freeze()
		}
		return Start{Stage: m.Start.GetStage(), At: m.Start.GetAt()}
	case *sessionpb.ManagerMessage_SetupData:
		return once(&st.received.setup, SetupData{Data: m.SetupData})
	case *sessionpb.ManagerMessage_Summarize:
		return once(&st.received.summarize, Summarize{Data: m.Summarize})
	case *sessionpb.ManagerMessage_End:
		if m.End.GetStage() == sessionpb.Stage_STAGE_MEASUREMENT {
			return once(&st.received.endMeasurement, EndMeasurement{At: m.End.GetAt()})
		}
		return once(&st.received.end, End{})
	case *sessionpb.ManagerMessage_Watch:
		if bytes.Equal(m.Watch, st.received.watch) {
			return nil
		}
		watch, err := session.DecodeWatch(m.Watch)
		if err != nil {
			st.fail(0, "invalid watch from the manager: "+err.Error())
			return nil
		}
		st.received.watch = m.Watch
		return Watch{*watch}
	case *sessionpb.ManagerMessage_Sample:
		st.sampleRequested = st.clock.at(time.Now())
		return Sample{}
	}
	return nil
}

// once returns an order, or nil if one of its kind was received before.
func once(received *bool, order Order) Order {
	if *received {
		return nil
	}
	*received = true
	return order
}

// deliver delivers an order. All orders of a run except Sample fit into half of the
// channel. If that half is full, a Sample in it makes another unnecessary.
func (st *stream) deliver(order Order) {
	if _, ok := order.(Sample); ok && len(st.orders) > cap(st.orders)/2 {
		return
	}
	st.orders <- order
}
