package manager

import (
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// due returns the next message to send on a stream, or nil if there is none.
func (r *run) due(st *stream) *sessionpb.ManagerMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := st.participant
	if p == nil || p.stream != st {
		return nil
	}
	if !st.welcomed {
		st.welcomed = true
		welcome := &sessionpb.Welcome{NextNumber: p.next, Protocol: st.protocol}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Welcome{Welcome: welcome}}
	}
	if len(st.pings) > 0 {
		ping := st.pings[0]
		st.pings = st.pings[1:]
		pong := &sessionpb.Pong{Sent: ping.sent, Received: ping.received, NextNumber: p.next}
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Pong{Pong: pong}}
	}
	d := r.desired
	if d == nil {
		d = &desired{}
	}
	if d.release {
		if st.released {
			return nil
		}
		st.released = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Release{Release: &sessionpb.Release{}}}
	}
	if m := d.dueByRole(st, p); m != nil {
		return m
	}
	if m := r.dueSetupData(st, p); m != nil {
		return m
	}
	if m := d.dueSummarize(st, p); m != nil {
		return m
	}
	for _, stage := range stages {
		if at := r.starts[stage]; at != 0 && p.Starts[stage] == 0 {
			p.Starts[stage] = at
			return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Start{Start: &sessionpb.Start{Stage: stage, At: at}}}
		}
	}
	if d.end && !st.ended && p.Starts[sessionpb.Stage_STAGE_WARMUP] != 0 && !p.WarmupEnded && p.identity.Role == sessionpb.Role_ROLE_CLIENT {
		st.ended = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_End{End: &sessionpb.End{}}}
	}
	return d.dueEndMeasurement(st, p)
}

// dueByRole returns the next message that only an agent, or only a client, is sent.
func (d *desired) dueByRole(st *stream, p *participant) *sessionpb.ManagerMessage {
	switch {
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && st.watches != d.watches:
		st.watches = d.watches
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Watch{Watch: mustEncode(d.watch)}}
	case p.identity.Role == sessionpb.Role_ROLE_AGENT && d.samplePending && st.sampleRequests != d.sampleRequests:
		st.sampleRequests = d.sampleRequests
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Sample{Sample: &sessionpb.Sample{}}}
	case p.identity.Role == sessionpb.Role_ROLE_CLIENT && !p.Ready && !st.prepared && p.identity.Index < len(d.plans):
		st.prepared = true
		return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Prepare{
			Prepare: &sessionpb.Prepare{Plan: mustEncode(d.plans[p.identity.Index]), Address: d.address},
		}}
	}
	return nil
}

// dueEndMeasurement returns the order to end the measurement early, for a client that is in it.
func (d *desired) dueEndMeasurement(st *stream, p *participant) *sessionpb.ManagerMessage {
	start := p.Starts[sessionpb.Stage_STAGE_MEASUREMENT]
	if d.endMeasurement == 0 || st.endedMeasurement || start == 0 || p.Totals != nil || p.identity.Role != sessionpb.Role_ROLE_CLIENT {
		return nil
	}
	st.endedMeasurement = true
	end := &sessionpb.End{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: start + d.endMeasurement*1_000_000}
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_End{End: end}}
}

// mustEncode returns what a controller has set as it is sent. It panics if that can't be encoded; see contain.
func mustEncode(v any) []byte {
	data, err := session.Encode(v)
	if err != nil {
		panic(err)
	}
	return data
}
