package manager

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// textBytes bounds the texts that are kept of a pod.
	textBytes = 1024
	// clockSlack is by how much an instant may lie in the future: clocks differ,
	// most of all after the manager has moved to another node.
	clockSlack = int64(time.Minute / time.Microsecond)
	// mostRequests bounds the requests of one message, so that sums of messages
	// can't overflow.
	mostRequests = 1 << 40
)

// malformedError says what a pod sent that no pod should send.
type malformedError struct{ what string }

func malformed(format string, args ...any) *malformedError {
	return &malformedError{what: fmt.Sprintf(format, args...)}
}

// Error says what was sent.
func (e *malformedError) Error() string { return e.what }

// condemn makes what a pod sent its failure.
func (p *participant) condemn(e *malformedError) {
	p.fail("it sent " + clipped(e.what))
	p.malformed = true
}

func (r *run) condemn(st *stream, e *malformedError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st.participant != nil && st.participant.stream == st {
		st.participant.condemn(e)
	}
}

// receive takes one message after Hello; now is the manager's clock when it
// came. It returns whether there is news for the controllers. An error ends the
// stream; a malformedError also ends the run.
func (r *run) receive(st *stream, m *sessionpb.PodMessage, now int64) (news bool, err error) {
	sample, err := decodeSample(r, st, m, now)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st || r.forgotten {
		return false, status.Error(codes.Aborted, "the session is over")
	}
	if !allowed(p.identity.Role, m) {
		return false, malformed("%s, which a %s never sends", nameOf(m), p.identity.Role)
	}
	switch body := m.GetMessage().(type) {
	case *sessionpb.PodMessage_Ping:
		st.pings = append(st.pings, ping{sent: body.Ping.GetSent(), received: now})
		st.notify()
	case *sessionpb.PodMessage_Ready:
		p.setReady(body.Ready)
		return true, nil
	case *sessionpb.PodMessage_StageEnded:
		if body.StageEnded.GetStage() != sessionpb.Stage_STAGE_WARMUP || r.starts[sessionpb.Stage_STAGE_WARMUP] == 0 {
			return false, malformed("the end of a stage that it wasn't in: %s", body.StageEnded.GetStage())
		}
		p.warmupEnded = true
		return true, nil
	case *sessionpb.PodMessage_ProbeSucceeded:
		if nonsense := p.hearAnswer(body.ProbeSucceeded); nonsense != nil {
			return false, nonsense
		}
		return true, nil
	case *sessionpb.PodMessage_ScriptState:
		if nonsense := r.hearScript(p, body.ScriptState); nonsense != nil {
			return false, nonsense
		}
		return true, nil
	case *sessionpb.PodMessage_ProbeFailed:
		p.silent = clipped(body.ProbeFailed.GetReason())
		return true, nil
	case *sessionpb.PodMessage_Failure:
		if p.failure == "" {
			p.failureKind = body.Failure.GetKind()
		}
		p.fail(clipped(body.Failure.GetReason()))
		return true, nil
	default:
		return r.receiveNumbered(p, sample)
	}
	return false, nil
}

// numbered is a numbered message with its content checked.
type numbered struct {
	first, last uint64
	second      *result.ClientSecond
	stage       sessionpb.Stage
	seconds     int64
	totals      *result.Totals
	clockError  int64
	reading     *result.ServerSample
	asked       bool
}

// receiveNumbered takes a numbered message, if it is the next; one that is
// here already is dropped.
func (r *run) receiveNumbered(p *participant, n *numbered) (news bool, err error) {
	switch {
	case n == nil || n.last < p.next:
		return false, nil
	case n.first != p.next:
		return false, status.Errorf(codes.InvalidArgument, "message %d came, the next is %d", n.first, p.next)
	}
	switch {
	case n.second != nil:
		if n.second.Second < p.seconds[n.stage] {
			return false, malformed("second %d after second %d", n.second.Second, p.seconds[n.stage]-1)
		}
		p.seconds[n.stage] = n.second.Second + n.seconds
		r.addSecond(n)
	case n.totals != nil:
		if p.totals != nil {
			return false, malformed("its totals twice")
		}
		p.totals, p.clockError, news = n.totals, n.clockError, true
	case n.reading != nil:
		appeared, nonsense := r.addReading(n.reading)
		if nonsense != nil {
			return false, nonsense
		}
		news = appeared || n.asked
		if n.asked && r.wanted != nil {
			r.wanted.reading = false
		}
	}
	p.next = n.last + 1
	return news, nil
}

// decodeSample returns the content of a numbered message; nil when it isn't one,
// or is here already. Decoding takes long, so that it is done without the run's
// mutex.
func decodeSample(r *run, st *stream, m *sessionpb.PodMessage, now int64) (*numbered, error) {
	r.mu.Lock()
	p := st.participant
	next, role := p.next, p.identity.Role
	starts := map[sessionpb.Stage]int64{}
	for stage, at := range r.starts {
		starts[stage] = at
	}
	r.mu.Unlock()
	if !allowed(role, m) {
		return nil, nil
	}
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample, *sessionpb.PodMessage_ClientTotals, *sessionpb.PodMessage_ServerSample:
	case nil: // of a later version: only its numbers count
		if m.GetNumber() == 0 {
			return nil, nil
		}
	default:
		return nil, nil
	}
	n := &numbered{first: m.GetFirstNumber(), last: m.GetNumber()}
	if n.first == 0 {
		n.first = n.last
	}
	if n.last == 0 || n.first > n.last {
		return nil, malformed("a message with the numbers %d to %d", n.first, n.last)
	}
	if n.last < next {
		return n, nil
	}
	switch body := m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample:
		return n, n.decodeSecond(body.ClientSample, starts, now)
	case *sessionpb.PodMessage_ClientTotals:
		return n, n.decodeTotals(body.ClientTotals, starts, now)
	case *sessionpb.PodMessage_ServerSample:
		return n, n.decodeReading(body.ServerSample, now)
	}
	return n, nil
}

func (n *numbered) decodeSecond(w *sessionpb.ClientSample, starts map[sessionpb.Stage]int64, now int64) error {
	n.stage, n.seconds = w.GetStage(), max(w.GetSeconds(), 1)
	start := starts[n.stage]
	if start == 0 {
		return malformed("a sample of a stage that wasn't started: %s", n.stage)
	}
	until := (now + clockSlack - start) / 1_000_000
	if w.GetSecond() < 0 || w.GetSecond() > until || n.seconds > until-w.GetSecond() {
		return malformed("a sample of the seconds %d to %d, which aren't over", w.GetSecond(), w.GetSecond()+n.seconds-1)
	}
	measure, err := decodeMeasure(w.GetMeasure())
	if err != nil {
		return err
	}
	n.second = &result.ClientSecond{Second: w.GetSecond(), Measure: *measure}
	if n.second.Usage, err = session.ClientUsageFromWire(w.GetUsage()); err != nil {
		return malformed("figures that can't be: %s", err)
	}
	return nil
}

func (n *numbered) decodeTotals(w *sessionpb.ClientTotals, starts map[sessionpb.Stage]int64, now int64) error {
	start := starts[sessionpb.Stage_STAGE_MEASUREMENT]
	if start == 0 {
		return malformed("totals before the measurement was started")
	}
	measure, err := decodeMeasure(w.GetMeasure())
	if err != nil {
		return err
	}
	began, ended := w.GetStartedAt(), w.GetEndedAt()
	if ended < began || ended > now+clockSlack || began < start-clockSlack && (began != 0 || measure.Requests != 0) {
		return malformed("totals of a measurement from %d to %d, which began at %d", began, ended, start)
	}
	// There may be a thousand clients, whose totals are kept until the last has sent its own.
	if err := measure.Latencies.Pack(); err != nil {
		return err
	}
	n.totals = &result.Totals{Measure: *measure, StartedAt: began, EndedAt: ended}
	if n.totals.Usage, err = session.ClientUsageFromWire(w.GetUsage()); err != nil {
		return malformed("figures that can't be: %s", err)
	}
	if n.totals.Arrivals, err = session.ArrivalsFromWire(w.GetArrivals(), &measure.Counts); err != nil {
		return malformed("figures that can't be: %s", err)
	}
	if n.totals.Levels, err = session.LevelsFromWire(w.GetLevels()); err != nil {
		return malformed("figures that can't be: %s", err)
	}
	if n.totals.Script, err = session.ScriptTotalsFromWire(w.GetScript()); err != nil {
		return malformed("figures that can't be: %s", err)
	}
	n.clockError = max(w.GetClockError(), 0)
	if w.GetWarmup() != nil {
		if n.totals.Warmup, err = session.CountsFromWire(w.GetWarmup()); err != nil {
			return malformed("figures that can't be: %s", err)
		}
		n.totals.WarmupMicroseconds = max(w.GetWarmupDuration(), 0)
	}
	return nil
}

func (n *numbered) decodeReading(w *sessionpb.ServerSample, now int64) error {
	reading, err := session.ServerSampleFromWire(w)
	if err != nil {
		return malformed("a reading that can't be: %s", err)
	}
	if at := reading.Server.At; at <= 0 || at > now+clockSlack {
		return malformed("a reading that can't be: at %d", at)
	}
	usages := []*result.ServerUsage{&reading.Server}
	for i := range reading.Backends {
		usages = append(usages, &reading.Backends[i].ServerUsage)
	}
	for _, u := range usages {
		u.CPUs, u.AgentCPUs = clipped(u.CPUs), clipped(u.AgentCPUs)
	}
	n.reading, n.asked = reading, w.GetAsked()
	return nil
}

func decodeMeasure(w *sessionpb.Measure) (*result.Measure, error) {
	measure, err := session.MeasureFromWire(w)
	if err != nil {
		return nil, malformed("figures that can't be: %s", err)
	}
	if measure.Requests > mostRequests || measure.Dropped > mostRequests {
		return nil, malformed("figures that can't be: %d requests, %d dropped", measure.Requests, measure.Dropped)
	}
	return measure, nil
}

// allowed is whether pods of a role send such messages.
func allowed(role sessionpb.Role, m *sessionpb.PodMessage) bool {
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_Ping, *sessionpb.PodMessage_Failure,
		*sessionpb.PodMessage_ProbeSucceeded, *sessionpb.PodMessage_ProbeFailed:
		return true
	case nil: // of a later version, unless there is nothing in it
		return len(m.ProtoReflect().GetUnknown()) > 0
	case *sessionpb.PodMessage_Ready, *sessionpb.PodMessage_StageEnded, *sessionpb.PodMessage_ScriptState,
		*sessionpb.PodMessage_ClientSample, *sessionpb.PodMessage_ClientTotals:
		return role == sessionpb.Role_ROLE_CLIENT
	case *sessionpb.PodMessage_ServerSample:
		return role == sessionpb.Role_ROLE_AGENT
	}
	return false
}

// nameOf is the name of a message's kind.
func nameOf(m *sessionpb.PodMessage) string {
	if m.GetMessage() == nil {
		return "a message without content"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m.GetMessage()), "*sessionpb.PodMessage_")
}

// clipped is a pod's text as it is kept: bounded and printable.
func clipped(text string) string { return printable.Clipped(text, textBytes) }

// addSecond adds a client's second to what is merged over the clients.
func (r *run) addSecond(n *numbered) {
	p := r.progress[n.stage]
	if p == nil {
		p = &progress{recent: map[int64]int64{}}
		r.progress[n.stage] = p
	}
	p.add(n.second, n.seconds)
	if n.stage == sessionpb.Stage_STAGE_MEASUREMENT {
		r.series.add(n.second, n.seconds)
	} else if r.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
		r.warmup.Add(n.second, n.seconds)
	}
}

// passed is the first second of a stage that some client at work has yet to
// send.
func (r *run) passed(stage sessionpb.Stage) int64 {
	var seconds []int64
	for _, p := range r.clients {
		if p.stream != nil && p.totals == nil {
			seconds = append(seconds, p.seconds[stage])
		}
	}
	if len(seconds) == 0 {
		return 1 << 62
	}
	return slices.Min(seconds)
}
