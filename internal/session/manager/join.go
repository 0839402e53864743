package manager

import (
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// join begins a pod's session. A pod has one at a time: a newer connection ends an older one.
//
// A pod that has taken part in a run can't be replaced: what a second client of
// the same index would send isn't the same measurement. Only before anything has
// started may another pod replace one that is disconnected. An agent that was
// restarted in its pod continues where the first process was.
func (r *run) join(st *stream, identity Identity, hello *sessionpb.Hello) error {
	if hello == nil {
		return status.Error(codes.InvalidArgument, "the first message must be Hello")
	}
	if hello.GetRole() != identity.Role {
		return status.Errorf(codes.FailedPrecondition, "pod %s is a %s and must not join as a %s", identity.Pod, identity.Role, hello.GetRole())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forgotten {
		return errForgotten
	}
	r.owner = memory.Owner{Namespace: identity.Namespace, UID: identity.Run}
	p := r.find(identity)
	mismatch := session.CheckProtocol(hello.GetProtocol(), st.protocol)
	switch {
	case mismatch != nil:
		if p == nil {
			p = r.add(identity, hello)
		}
		if p.PodUID == identity.PodUID {
			p.fail(mismatch.Error())
			p.FailureKind = session.FailureProtocolMismatch
		}
		return status.Error(codes.FailedPrecondition, mismatch.Error())
	case p == nil:
	case p.malformed:
		return status.Error(codes.FailedPrecondition, p.Failure)
	case p.PodUID == identity.PodUID && p.instance == hello.GetInstance():
	case p.PodUID == identity.PodUID && identity.Role == sessionpb.Role_ROLE_AGENT:
		p.instance, p.next = hello.GetInstance(), 1
	case p.PodUID == identity.PodUID && !p.hasStarted():
		p.instance, p.next, p.Ready = hello.GetInstance(), 1, false
		p.ProbeResult, p.ProbeFailure = nil, ""
	case p.stream == nil && !p.hasStarted():
		p = nil
	case p.PodUID == identity.PodUID:
		p.fail("restarted during the run")
		return status.Errorf(codes.FailedPrecondition, "pod %s was restarted during the run", identity.Pod)
	default:
		return status.Errorf(codes.FailedPrecondition, "pod %s (%s) must not replace pod %s (%s)",
			identity.Pod, identity.PodUID, p.Pod, p.PodUID)
	}
	if p == nil {
		p = r.add(identity, hello)
	}
	if p.stream != nil {
		p.stream.end(status.Error(codes.Aborted, "the pod has connected again"))
	}
	p.stream, st.participant = st, p
	p.had = hello.GetLastNumber()
	if err := r.resume(p, hello); errors.Is(err, memory.ErrFull) {
		return err
	} else if err != nil {
		p.reject(err)
		return status.Error(codes.InvalidArgument, err.Error())
	}
	st.notify()
	return nil
}

// resume takes over the state that a pod repeats in Hello. A stage has started if a client was sent its
// start time: an agent may have one that an earlier manager sent to nobody else before it was killed,
// and that has passed. Its usage samples count from then on, unless the stage starts at another time.
func (r *run) resume(p *participant, hello *sessionpb.Hello) error {
	p.Starts = map[sessionpb.Stage]int64{}
	for _, start := range hello.GetStarts() {
		stage, at := start.GetStage(), start.GetAt()
		if !slices.Contains(stages, stage) || at <= 0 {
			return malformed("start time %d of stage %d", at, stage)
		}
		p.Starts[stage] = at
		switch {
		case p.identity.Role == sessionpb.Role_ROLE_AGENT:
			if stage == sessionpb.Stage_STAGE_MEASUREMENT && r.starts[stage] == 0 {
				r.target.SetStart(at)
			}
		case r.starts[stage] == 0:
			r.setStart(stage, at)
			r.wake()
		case r.starts[stage] != at:
			return malformed("start time %d, but the run's is %d", at, r.starts[stage])
		}
	}
	if len(hello.GetProbeSucceeded()) > 0 {
		if err := p.setProbeResult(hello.GetProbeSucceeded()); err != nil {
			return err
		}
	}
	if p.identity.Role == sessionpb.Role_ROLE_AGENT {
		return nil
	}
	if hello.GetReady() != nil {
		p.setReady(hello.GetReady())
	}
	p.WarmupEnded = p.WarmupEnded || hello.GetWarmupEnded()
	if hello.GetScriptState() != nil {
		return r.setScriptState(p, hello.GetScriptState())
	}
	return nil
}

func (p *participant) setReady(ready *sessionpb.Ready) {
	p.Ready, p.CPUs = true, clipped(ready.GetCpus())
}

func (p *participant) setProbeResult(data []byte) error {
	probed, err := session.DecodeProbeResult(data)
	if err != nil {
		return malformed("%s", err)
	}
	p.ProbeResult = probed
	return nil
}

// hasStarted reports whether the pod has taken part in anything that can't be repeated.
func (p *participant) hasStarted() bool {
	return len(p.Starts) > 0 || p.Totals != nil || p.Failure != ""
}

func (r *run) find(identity Identity) *participant {
	if identity.Role == sessionpb.Role_ROLE_AGENT {
		return r.agent
	}
	return r.clients[identity.Index]
}

// add adds a pod, in place of one with the same role and index if there is one.
func (r *run) add(identity Identity, hello *sessionpb.Hello) *participant {
	p := &participant{
		ClientState: session.ClientState{PodState: session.PodState{Pod: identity.Pod, PodUID: identity.PodUID, Node: identity.Node, DisconnectedSince: time.Now()}},
		identity:    identity, instance: hello.GetInstance(), next: 1, seconds: map[sessionpb.Stage]int64{},
	}
	if p.identity.Role == sessionpb.Role_ROLE_AGENT {
		r.agent = p
	} else {
		r.clients[p.identity.Index] = p
	}
	return p
}

// joined reports whether a stream's pod has sent a valid Hello.
func (r *run) joined(st *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return st.participant != nil
}

// leave removes a stream that has ended. It reports whether the pod has none now.
func (r *run) leave(st *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st {
		return false
	}
	p.stream, p.DisconnectedSince = nil, time.Now()
	return !r.forgotten
}
