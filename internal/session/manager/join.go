package manager

import (
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// join begins a pod's session. A pod has one at a time: a newer connection ends
// an older one.
//
// Whoever has taken part in a run can't be replaced: what a second client of
// the same index would send isn't the same measurement. Only before anything
// has begun may another pod take the place of one that is gone. An agent that
// was restarted in its pod goes on where the first one was.
func (r *run) join(st *stream, identity Identity, hello *sessionpb.Hello) error {
	if hello == nil {
		return status.Error(codes.InvalidArgument, "the first message must be Hello")
	}
	if hello.GetRole() != identity.Role {
		return status.Errorf(codes.FailedPrecondition, "pod %s is a %s and can't attend as a %s", identity.Pod, identity.Role, hello.GetRole())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forgotten {
		return status.Error(codes.Aborted, "the manager has let go of the run")
	}
	p := r.find(identity)
	mismatch := session.CheckProtocol(hello.GetProtocol(), st.protocol)
	switch {
	case mismatch != nil:
		if p == nil {
			p = r.add(identity, hello)
		}
		if p.identity.PodUID == identity.PodUID {
			p.fail(mismatch.Error())
		}
		return status.Error(codes.FailedPrecondition, mismatch.Error())
	case p == nil:
	case p.malformed:
		return status.Error(codes.FailedPrecondition, p.failure)
	case p.identity.PodUID == identity.PodUID && p.instance == hello.GetInstance():
	case p.identity.PodUID == identity.PodUID && identity.Role == sessionpb.Role_ROLE_AGENT:
		p.instance, p.next = hello.GetInstance(), 1
	case p.identity.PodUID == identity.PodUID && !p.begun():
		p.instance, p.next, p.ready = hello.GetInstance(), 1, false
		p.answered, p.silent = nil, ""
	case p.stream == nil && !p.begun():
		p = nil
	case p.identity.PodUID == identity.PodUID:
		p.fail("it was restarted during the run")
		return status.Errorf(codes.FailedPrecondition, "pod %s was restarted during the run", identity.Pod)
	default:
		return status.Errorf(codes.FailedPrecondition, "pod %s (%s) can't take the place of pod %s (%s)",
			identity.Pod, identity.PodUID, p.identity.Pod, p.identity.PodUID)
	}
	if p == nil {
		p = r.add(identity, hello)
	}
	if p.stream != nil {
		p.stream.end(status.Error(codes.Aborted, "the pod has connected again"))
	}
	p.stream, st.participant = st, p
	if err := r.hear(p, hello); err != nil {
		p.condemn(err)
		return status.Error(codes.InvalidArgument, err.Error())
	}
	st.notify()
	return nil
}

// hear takes what a pod repeats of itself.
func (r *run) hear(p *participant, hello *sessionpb.Hello) *malformedError {
	p.starts = map[sessionpb.Stage]int64{}
	for _, start := range hello.GetStarts() {
		stage, at := start.GetStage(), start.GetAt()
		if !slices.Contains(stages, stage) || at <= 0 {
			return malformed("the start instant %d of a stage %d", at, stage)
		}
		if r.starts[stage] == 0 {
			r.setStart(stage, at)
			r.wake()
		} else if r.starts[stage] != at {
			return malformed("another start instant than the run's: %d, not %d", at, r.starts[stage])
		}
		p.starts[stage] = at
	}
	if hello.GetProbeSucceeded() != nil {
		if err := p.hearAnswer(hello.GetProbeSucceeded()); err != nil {
			return err
		}
	}
	if p.identity.Role == sessionpb.Role_ROLE_AGENT {
		return nil
	}
	if hello.GetReady() != nil {
		p.setReady(hello.GetReady())
	}
	p.warmupEnded = p.warmupEnded || hello.GetWarmupEnded()
	if hello.GetScriptState() != nil {
		return r.hearScript(p, hello.GetScriptState())
	}
	return nil
}

// hearScript takes how far a client is with its k6 script.
func (r *run) hearScript(p *participant, w *sessionpb.ScriptState) *malformedError {
	state, err := session.ScriptStateFromWire(w)
	if err != nil {
		return malformed("a state of its script that can't be: %s", err)
	}
	if state.SetupEnded && r.starts[sessionpb.Stage_STAGE_SETUP] == 0 || state.LoadEnded && r.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
		return malformed("the end of a stage that it wasn't in")
	}
	p.script = state
	r.wake() // the others may wait for what setup() returned
	return nil
}

// hearAnswer takes what the target showed to a pod.
func (p *participant) hearAnswer(w *sessionpb.ProbeSucceeded) *malformedError {
	evidence, err := session.ProbeResultFromWire(w.GetResult())
	if err != nil {
		return malformed("what the target can't have shown: %s", err)
	}
	p.answered = evidence
	return nil
}

// begun is whether the pod has taken part in anything that can't be repeated.
func (p *participant) begun() bool {
	return len(p.starts) > 0 || p.totals != nil || p.failure != ""
}

func (r *run) find(identity Identity) *participant {
	if identity.Role == sessionpb.Role_ROLE_AGENT {
		return r.agent
	}
	return r.clients[identity.Index]
}

// add adds a pod that isn't known yet.
func (r *run) add(identity Identity, hello *sessionpb.Hello) *participant {
	p := &participant{
		identity: identity, instance: hello.GetInstance(), next: 1, seconds: map[sessionpb.Stage]int64{}, disconnectedSince: time.Now(),
	}
	if p.identity.Role == sessionpb.Role_ROLE_AGENT {
		r.agent = p
	} else {
		r.clients[p.identity.Index] = p
	}
	return p
}

// joined is whether a stream's pod has said Hello.
func (r *run) joined(st *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return st.participant != nil
}

// leave ends a stream. It returns whether the pod is without one now.
func (r *run) leave(st *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st {
		return false
	}
	p.stream, p.disconnectedSince = nil, time.Now()
	return !r.forgotten
}
