package manager

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// maxTextBytes bounds the texts that are kept of a pod.
	maxTextBytes = 1024
	// maxStageRequests bounds the requests of all clients in a stage, so that counts can't overflow.
	maxStageRequests = 1 << 50
)

// malformedError describes a message that no pod should send.
type malformedError struct{ what string }

func malformed(format string, args ...any) error {
	return &malformedError{what: fmt.Sprintf(format, args...)}
}

// Error returns the description.
func (e *malformedError) Error() string { return "malformed message: " + e.what }

// reject makes a malformed message the pod's failure, for good.
func (p *participant) reject(err error) {
	p.fail(clipped(err.Error()))
	p.malformed = true
}

// reject rejects the pod of a stream, unless the pod has a newer one.
func (r *run) reject(st *stream, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st.participant != nil && st.participant.stream == st {
		st.participant.reject(err)
	}
}

// receive handles one message after Hello; now is the manager's clock when the
// message arrived. It reports whether there is news for the controllers. An error
// ends the stream, and a malformedError also ends the run.
func (r *run) receive(st *stream, m *sessionpb.PodMessage, now int64) (news bool, err error) {
	n, err := r.decode(st, m, now)
	if err != nil {
		return false, err
	}
	metrics, err := decodeScriptMetrics(m)
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
		return false, malformed("%s is not allowed for %s", nameOf(m), p.identity.Role)
	}
	switch body := m.GetMessage().(type) {
	case *sessionpb.PodMessage_Ping:
		if len(st.pings) >= maxPings {
			return false, malformed("more than %d pings without reading an answer", maxPings)
		}
		st.pings = append(st.pings, ping{sent: body.Ping.GetSent(), received: now})
		st.notify()
		return false, nil
	case *sessionpb.PodMessage_Ready:
		p.setReady(body.Ready)
	case *sessionpb.PodMessage_StageEnded:
		if body.StageEnded.GetStage() != sessionpb.Stage_STAGE_WARMUP || r.starts[sessionpb.Stage_STAGE_WARMUP] == 0 {
			return false, malformed("end of stage %s, which has not started", body.StageEnded.GetStage())
		}
		p.WarmupEnded = true
	case *sessionpb.PodMessage_ProbeSucceeded:
		err = p.setProbeResult(body.ProbeSucceeded)
	case *sessionpb.PodMessage_ScriptState:
		err = r.setScriptState(p, body.ScriptState)
	case *sessionpb.PodMessage_ScriptMetrics:
		return false, r.setScriptMetrics(p, metrics, int64(len(body.ScriptMetrics)))
	case *sessionpb.PodMessage_ProbeFailed:
		p.ProbeFailure = clipped(body.ProbeFailed.GetReason())
	case *sessionpb.PodMessage_Failure:
		if p.Failure == "" {
			p.FailureKind = body.Failure.GetKind()
		}
		p.fail(clipped(body.Failure.GetReason()))
	default:
		return r.receiveNumbered(p, n)
	}
	return err == nil, err
}

// receiveNumbered handles a numbered message if it is the next one. It drops one
// that has arrived before.
func (r *run) receiveNumbered(p *participant, n *numbered) (news bool, err error) {
	switch {
	case n == nil || n.last < p.next:
		return false, nil
	case n.first != p.next:
		return false, status.Errorf(codes.InvalidArgument, "received message %d, but the next is %d", n.first, p.next)
	}
	switch {
	case n.second != nil:
		if n.second.Second < p.seconds[n.stage] {
			return false, malformed("second %d after second %d", n.second.Second, p.seconds[n.stage]-1)
		}
		if err := r.holdSeries(p); err != nil {
			return false, err
		}
		p.seconds[n.stage] = n.second.Second + n.seconds
		if err := r.addSecond(n); err != nil {
			return false, err
		}
	case n.totals != nil:
		if p.Totals != nil {
			return false, malformed("second totals")
		}
		if err := r.hold(p, memory.Totals, r.held.totals+n.size); err != nil {
			return false, err
		}
		r.held.totals += n.size
		p.Totals, p.TotalsSince, p.ClockError, news = n.totals, time.Now(), n.clockError, true
	case n.summary != nil:
		if p.Summary != nil {
			return false, malformed("a second summary")
		}
		if news, err = r.setSummary(p, n); err != nil {
			return false, err
		}
	case n.sample != nil:
		if err := r.holdSeries(p); err != nil {
			return false, err
		}
		appeared, err := r.addSample(n.sample)
		if err != nil {
			return false, err
		}
		news = appeared || n.requested
		if n.requested && r.desired != nil {
			r.desired.samplePending = false
		}
	}
	behind := p.next <= p.had
	p.next, p.Waiting = n.last+1, ""
	return news || behind && p.next > p.had, nil
}

func allowed(role sessionpb.Role, m *sessionpb.PodMessage) bool {
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_Ping, *sessionpb.PodMessage_Failure,
		*sessionpb.PodMessage_ProbeSucceeded, *sessionpb.PodMessage_ProbeFailed:
		return true
	case *sessionpb.PodMessage_Ready, *sessionpb.PodMessage_StageEnded, *sessionpb.PodMessage_ScriptState,
		*sessionpb.PodMessage_ScriptMetrics, *sessionpb.PodMessage_ScriptSummary,
		*sessionpb.PodMessage_ClientSample, *sessionpb.PodMessage_ClientTotals:
		return role == sessionpb.Role_ROLE_CLIENT
	case *sessionpb.PodMessage_ServerSample:
		return role == sessionpb.Role_ROLE_AGENT
	}
	return false
}

func nameOf(m *sessionpb.PodMessage) string {
	if m.GetMessage() == nil {
		return "a message without content"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m.GetMessage()), "*sessionpb.PodMessage_")
}

// clipped returns a pod's text as it is kept: bounded and printable.
func clipped(text string) string { return printable.Clipped(text, maxTextBytes) }

func (r *run) addSecond(n *numbered) error {
	p := r.progress[n.stage]
	if p == nil {
		p = &progress{recent: map[int64]int64{}}
		r.progress[n.stage] = p
	}
	if p.Requests > maxStageRequests-n.second.Requests {
		return malformed("with this second, stage %s has more than %d requests", n.stage, int64(maxStageRequests))
	}
	p.add(n.second, n.seconds)
	if n.stage == sessionpb.Stage_STAGE_MEASUREMENT {
		r.series.Add(n.second, n.seconds)
	} else if r.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
		r.warmup.Add(n.second, n.seconds)
	}
	return nil
}

// addSample adds a usage sample of all containers. It reports whether one of them appeared for the first time.
func (r *run) addSample(sample *result.ServerSample) (appeared bool, err error) {
	appeared, stale, err := r.target.Add(sample)
	if err != nil {
		return false, malformed("%s", err)
	}
	if stale {
		r.counters.stale.Add(1)
	}
	return appeared, nil
}
