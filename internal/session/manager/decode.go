package manager

import (
	"fmt"
	"maps"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// clockSlack is the time by which a time may lie in the future: clocks differ, most of all
	// after the manager has moved to another node.
	clockSlack = int64(time.Minute / time.Microsecond)
)

// numbered is a numbered message with its content checked. Of a message that has arrived before it has the numbers
// alone.
type numbered struct {
	first, last uint64
	second      *result.ClientSecond
	stage       sessionpb.Stage
	seconds     int64
	totals      *result.Totals
	size        int64 // of totals or a summary, encoded
	clockError  int64
	sample      *result.ServerSample
	requested   bool
	summary     *result.ScriptSummary
}

// decode returns the content of a numbered message, and nil for any other. It
// holds the run's mutex only for a moment, since decoding takes long.
func (r *run) decode(st *stream, m *sessionpb.PodMessage, now int64) (*numbered, error) {
	next, role, starts := r.expected(st)
	if !allowed(role, m) {
		return nil, nil
	}
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample, *sessionpb.PodMessage_ClientTotals, *sessionpb.PodMessage_ServerSample, *sessionpb.PodMessage_ScriptSummary:
	default:
		return nil, nil
	}
	n := &numbered{first: m.GetFirstNumber(), last: m.GetNumber()}
	if n.first == 0 {
		n.first = n.last
	}
	if n.last == 0 || n.first > n.last {
		return nil, malformed("numbers from %d to %d", n.first, n.last)
	}
	if n.last < next {
		r.counters.duplicate(m, n)
		return n, nil
	}
	var err error
	switch body := m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample:
		err = n.decodeSecond(body.ClientSample, starts, now)
	case *sessionpb.PodMessage_ClientTotals:
		err = n.decodeTotals(body.ClientTotals, starts, now)
	case *sessionpb.PodMessage_ScriptSummary:
		n.summary, err = session.DecodeScriptSummary(body.ScriptSummary)
		n.size = int64(len(body.ScriptSummary))
	case *sessionpb.PodMessage_ServerSample:
		err = n.decodeSample(body.ServerSample, now)
	}
	if err != nil {
		return nil, malformed("%s: %s", nameOf(m), err)
	}
	return n, nil
}

// expected returns what decode needs to know of a stream's pod, and a copy of the start times.
func (r *run) expected(st *stream) (next uint64, role sessionpb.Role, starts map[sessionpb.Stage]int64) {
	r.mu.Lock()
	defer r.mu.Unlock() // also if it panics: the run is locked once more to reject the pod
	return st.participant.next, st.participant.identity.Role, maps.Clone(r.starts)
}

func (n *numbered) decodeSecond(w *sessionpb.ClientSample, starts map[sessionpb.Stage]int64, now int64) error {
	n.stage = w.GetStage()
	start := starts[n.stage]
	if start == 0 {
		return fmt.Errorf("stage %s has not started", n.stage)
	}
	until, seconds := (now+clockSlack-start)/1_000_000, max(w.GetSeconds(), 1)
	if w.GetSecond() < 0 || w.GetSecond() > until || seconds > until-w.GetSecond() {
		return fmt.Errorf("seconds %d to %d are not over", w.GetSecond(), w.GetSecond()+seconds-1)
	}
	second, seconds, err := session.SecondFromWire(w)
	if err != nil {
		return err
	}
	n.second, n.seconds = second, seconds
	return nil
}

func (n *numbered) decodeTotals(w *sessionpb.ClientTotals, starts map[sessionpb.Stage]int64, now int64) error {
	start := starts[sessionpb.Stage_STAGE_MEASUREMENT]
	if start == 0 {
		return fmt.Errorf("the measurement has not started")
	}
	t, err := session.DecodeTotals(w.GetTotals())
	if err != nil {
		return err
	}
	if t.EndedAt < t.StartedAt || t.EndedAt > now+clockSlack || t.StartedAt < start-clockSlack && (t.StartedAt != 0 || t.Requests != 0) {
		return fmt.Errorf("from %d to %d, of a measurement that started at %d", t.StartedAt, t.EndedAt, start)
	}
	if t.Tool != nil {
		t.Tool.Name, t.Tool.Version = clipped(t.Tool.Name), clipped(t.Tool.Version)
	}
	n.totals, n.size, n.clockError = t, int64(len(w.GetTotals())), max(w.GetClockError(), 0)
	return nil
}

func (n *numbered) decodeSample(w *sessionpb.ServerSample, now int64) error {
	sample, err := session.ServerSampleFromWire(w)
	if err != nil {
		return err
	}
	if at := sample.Server.At; at <= 0 || at > now+clockSlack {
		return fmt.Errorf("time %d", at)
	}
	usages := []*result.ServerUsage{&sample.Server}
	for i := range sample.Backends {
		usages = append(usages, &sample.Backends[i].ServerUsage)
	}
	for _, u := range usages {
		u.CPUs, u.AgentCPUs, u.Cores = clipped(u.CPUs), clipped(u.AgentCPUs), clipped(u.Cores)
	}
	sample.Governor, sample.Machine.CPUModel = clipped(sample.Governor), clipped(sample.Machine.CPUModel)
	n.sample, n.requested = sample, w.GetRequested()
	return nil
}
