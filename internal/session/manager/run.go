package manager

import (
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// intents are what the pods of a run are to be told, whenever they connect.
type intents struct {
	watch   *sessionpb.ManagerMessage
	prepare []*sessionpb.ManagerMessage // by client
	starts  map[sessionpb.Stage]int64
	reads   int
	release bool
}

// member is one pod of a run, connected or not.
type member struct {
	who               Identity
	instance          uint64
	attendance        *attendance // nil when it isn't connected
	disconnectedSince time.Time
	next              uint64 // the number of the first message that it hasn't sent yet
	failure           string

	// Of clients.
	ready       *sessionpb.Ready
	starts      map[sessionpb.Stage]int64
	warmupEnded bool
	totals      *result.Totals
	clockError  int64
	passed      int64 // seconds of the measurement below it have arrived

	// Of agents.
	answered *Answer
	silent   string
}

// run is what is known of a run's pods.
type run struct {
	mu      sync.Mutex
	intents intents
	clients map[int]*member
	agent   *member
	ended   bool

	progress map[sessionpb.Stage]*Progress
	usage    usage
	series   series
}

func newRun() *run {
	return &run{
		intents:  intents{starts: map[sessionpb.Stage]int64{}},
		clients:  map[int]*member{},
		progress: map[sessionpb.Stage]*Progress{},
		series:   series{open: map[int64]*openSecond{}},
	}
}

// attendance is one connection of a member.
type attendance struct {
	who   Identity
	wake  chan struct{}
	ended chan struct{} // closed by run.end

	mu    sync.Mutex
	queue []*sessionpb.ManagerMessage

	told told // of run.mu
}

// told is what a member was told in an attendance.
type told struct {
	watch   *sessionpb.ManagerMessage
	prepare bool
	starts  map[sessionpb.Stage]bool
	reads   int
	release bool
}

// join has a pod attend its run.
func (r *run) join(who Identity, hello *sessionpb.Hello) (*attendance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, status.Error(codes.Unavailable, "the run was forgotten just now")
	}
	m := r.memberOf(who)
	if m != nil && (m.who.PodUID != who.PodUID || m.instance != hello.GetInstance()) {
		if m.attendance != nil {
			return nil, status.Errorf(codes.FailedPrecondition, "pod %s attends in the place of pod %s", m.who.Pod, who.Pod)
		}
		return nil, status.Errorf(codes.FailedPrecondition, "pod %s comes in the place of pod %s, or was restarted", who.Pod, m.who.Pod)
	}
	if m == nil {
		m = &member{who: who, instance: hello.GetInstance(), next: 1, starts: map[sessionpb.Stage]int64{}}
		if who.Role == sessionpb.Role_ROLE_AGENT {
			r.agent = m
		} else {
			r.clients[who.Index] = m
		}
	}
	if m.attendance != nil {
		m.attendance.end() // a connection that broke without a word
	}
	for _, start := range hello.GetStarts() {
		m.starts[start.GetStage()] = start.GetAt()
		if r.intents.starts[start.GetStage()] == 0 {
			r.intents.starts[start.GetStage()] = start.GetAt()
		}
	}
	if hello.GetReady() != nil {
		m.ready = hello.GetReady()
	}
	m.warmupEnded = m.warmupEnded || hello.GetWarmupEnded()
	if answered := hello.GetTargetAnswered(); answered != nil {
		m.answered = answerOf(answered)
	}
	a := &attendance{who: who, wake: make(chan struct{}, 1), ended: make(chan struct{}), told: told{starts: map[sessionpb.Stage]bool{}, reads: r.intents.reads}}
	m.attendance = a
	a.push(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Welcome{Welcome: &sessionpb.Welcome{NextNumber: m.next}}})
	r.tell(m)
	return a, nil
}

func (r *run) leave(a *attendance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.memberOf(a.who); m != nil && m.attendance == a {
		m.attendance, m.disconnectedSince = nil, time.Now()
	}
}

func (r *run) memberOf(who Identity) *member {
	if who.Role == sessionpb.Role_ROLE_AGENT {
		return r.agent
	}
	return r.clients[who.Index]
}

// end ends all sessions of the run.
func (r *run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, m := range r.members() {
		if m.attendance != nil {
			m.attendance.end()
		}
	}
}

func (r *run) members() []*member {
	var members []*member
	for _, m := range r.clients {
		members = append(members, m)
	}
	if r.agent != nil {
		members = append(members, r.agent)
	}
	return members
}

// intend changes what the pods are to be told, and tells those that are
// connected.
func (r *run) intend(change func(*intents)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.intents)
	for _, m := range r.members() {
		r.tell(m)
	}
}

// tell sends a member what it wasn't told in its present attendance.
func (r *run) tell(m *member) {
	a := m.attendance
	if a == nil {
		return
	}
	i, t := &r.intents, &a.told
	if m.who.Role == sessionpb.Role_ROLE_AGENT {
		if i.watch != nil && t.watch == nil {
			t.watch = i.watch
			a.push(i.watch)
		}
	} else if m.who.Index < len(i.prepare) && !t.prepare {
		t.prepare = true
		a.push(i.prepare[m.who.Index])
	}
	for _, stage := range []sessionpb.Stage{sessionpb.Stage_STAGE_WARMUP, sessionpb.Stage_STAGE_MEASUREMENT} {
		if at := i.starts[stage]; at != 0 && !t.starts[stage] {
			t.starts[stage], m.starts[stage] = true, at
			a.push(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Start{Start: &sessionpb.Start{Stage: stage, At: at}}})
		}
	}
	if m.who.Role == sessionpb.Role_ROLE_AGENT && t.reads < i.reads {
		t.reads = i.reads
		a.push(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Read{Read: &sessionpb.Read{}}})
	}
	if i.release && !t.release {
		t.release = true
		a.push(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Release{Release: &sessionpb.Release{}}})
	}
}

func (r *run) fail(a *attendance, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.memberOf(a.who); m != nil && m.attendance == a && m.failure == "" {
		m.failure = reason
	}
}

func (r *run) nextNumber(a *attendance) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.memberOf(a.who); m != nil {
		return m.next
	}
	return 0
}

func (a *attendance) push(m *sessionpb.ManagerMessage) {
	a.mu.Lock()
	a.queue = append(a.queue, m)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// answer answers a ping; its last stamp is made when it is sent.
func (a *attendance) answer(sent, received int64, next uint64) {
	a.push(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Pong{Pong: &sessionpb.Pong{Sent: sent, Received: received, NextNumber: next}}})
}

func (a *attendance) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.ended:
	default:
		close(a.ended)
	}
}

// send sends what is pushed until the attendance ends.
func (a *attendance) send(stream grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage]) error {
	for {
		select {
		case <-a.wake:
		case <-a.ended:
			return nil
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		a.mu.Lock()
		queue := a.queue
		a.queue = nil
		a.mu.Unlock()
		for _, m := range queue {
			if pong := m.GetPong(); pong != nil {
				pong.Answered = time.Now().UnixMicro()
			}
			if err := stream.Send(m); err != nil {
				return err
			}
		}
	}
}

// take takes in a message other than Ping. news is whether it decides how the
// run goes on.
func (r *run) take(a *attendance, message *sessionpb.PodMessage) (news bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memberOf(a.who)
	if m == nil || m.attendance != a {
		return false, nil // another connection has taken its place
	}
	client := m.who.Role == sessionpb.Role_ROLE_CLIENT
	switch body := message.GetMessage().(type) {
	case *sessionpb.PodMessage_Failure:
		if m.failure == "" {
			m.failure = body.Failure.GetReason()
		}
		return true, nil
	case *sessionpb.PodMessage_Ready:
		m.ready = body.Ready
		return true, onlyFor(client, "Ready")
	case *sessionpb.PodMessage_StageEnded:
		m.warmupEnded = true
		return true, onlyFor(client, "StageEnded")
	case *sessionpb.PodMessage_ClientSample:
		if err := onlyFor(client, "ClientSample"); err != nil {
			return false, err
		}
		return false, m.numbered(body.ClientSample.GetFirstNumber(), body.ClientSample.GetNumber(), func() error {
			return r.takeClientSample(m, body.ClientSample)
		})
	case *sessionpb.PodMessage_ClientTotals:
		if err := onlyFor(client, "ClientTotals"); err != nil {
			return false, err
		}
		return true, m.numbered(0, body.ClientTotals.GetNumber(), func() error { return r.takeTotals(m, body.ClientTotals) })
	case *sessionpb.PodMessage_TargetAnswered:
		m.answered = answerOf(body.TargetAnswered)
		return true, onlyFor(!client, "TargetAnswered")
	case *sessionpb.PodMessage_TargetSilent:
		m.silent = body.TargetSilent.GetReason()
		return true, onlyFor(!client, "TargetSilent")
	case *sessionpb.PodMessage_ServerSample:
		if err := onlyFor(!client, "ServerSample"); err != nil {
			return false, err
		}
		return body.ServerSample.GetAsked(), m.numbered(body.ServerSample.GetFirstNumber(), body.ServerSample.GetNumber(), func() error {
			u := session.ServerUsageFromWire(body.ServerSample)
			r.usage.add(u, r.intents.starts[sessionpb.Stage_STAGE_MEASUREMENT])
			r.series.addServer(u, r.intents.starts[sessionpb.Stage_STAGE_MEASUREMENT])
			return nil
		})
	}
	return false, fmt.Errorf("a message %T", message.GetMessage())
}

func onlyFor(allowed bool, what string) error {
	if !allowed {
		return fmt.Errorf("a %s, which isn't for its role", what)
	}
	return nil
}

// numbered takes a numbered message that stands for the numbers from first to
// last: it passes over what it has, and refuses a gap.
func (m *member) numbered(first, last uint64, take func() error) error {
	if first == 0 {
		first = last
	}
	switch {
	case last < m.next:
		return nil
	case first != m.next || last < first:
		return fmt.Errorf("messages %d to %d, where %d is next", first, last, m.next)
	}
	if err := take(); err != nil {
		return err
	}
	m.next = last + 1
	return nil
}

func (r *run) takeClientSample(m *member, sample *sessionpb.ClientSample) error {
	stage := sample.GetStage()
	if m.starts[stage] == 0 || sample.GetSecond() < 0 || sample.GetSeconds() < 0 || m.totals != nil {
		return fmt.Errorf("a sample of second %d of %s, which it isn't in", sample.GetSecond(), stage)
	}
	measure, err := session.MeasureFromWire(sample.GetMeasure())
	if err != nil {
		return err
	}
	r.progressOf(stage).add(sample.GetSecond(), &measure.Counts)
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		seconds := max(sample.GetSeconds(), 1)
		if sample.GetSecond() < m.passed {
			return fmt.Errorf("second %d after second %d", sample.GetSecond(), m.passed-1)
		}
		r.series.addClient(sample.GetSecond(), measure, session.ClientUsageFromWire(sample.GetUsage()))
		m.passed = sample.GetSecond() + seconds
		r.series.close(r.passedByAll())
	}
	return nil
}

// passedByAll is the first second of the measurement that some client may still
// send.
func (r *run) passedByAll() int64 {
	if len(r.clients) < len(r.intents.prepare) || len(r.clients) == 0 {
		return 0
	}
	passed := int64(1<<62 - 1)
	for _, m := range r.clients {
		if m.totals == nil {
			passed = min(passed, m.passed)
		}
	}
	return passed
}

func (r *run) takeTotals(m *member, w *sessionpb.ClientTotals) error {
	if m.totals != nil || m.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 || w.GetEndedAt() < w.GetStartedAt() {
		return fmt.Errorf("totals of a measurement that it isn't in")
	}
	measure, err := session.MeasureFromWire(w.GetMeasure())
	if err != nil {
		return err
	}
	totals := &result.Totals{
		Measure: *measure, StartedAt: w.GetStartedAt(), EndedAt: w.GetEndedAt(), Usage: session.ClientUsageFromWire(w.GetUsage()),
	}
	if w.GetWarmup() != nil {
		if totals.Warmup, err = session.CountsFromWire(w.GetWarmup()); err != nil {
			return err
		}
	}
	m.totals, m.clockError = totals, w.GetClockError()
	r.series.close(r.passedByAll())
	return nil
}

func (r *run) progressOf(stage sessionpb.Stage) *Progress {
	p := r.progress[stage]
	if p == nil {
		p = &Progress{}
		r.progress[stage] = p
	}
	return p
}
