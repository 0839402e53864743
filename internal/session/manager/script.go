package manager

import (
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// setScriptState sets the progress of a client's k6 script.
func (r *run) setScriptState(p *participant, w *sessionpb.ScriptState) error {
	state, err := session.ScriptStateFromWire(w)
	if err != nil {
		return malformed("%s", err)
	}
	if state.SetupEnded && r.starts[sessionpb.Stage_STAGE_SETUP] == 0 || state.LoadEnded && r.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
		return malformed("end of a stage of the script that has not started")
	}
	if len(state.SetupData) > 0 && p.identity.Index != session.ScriptLeader {
		return malformed("data of setup() from a client that doesn't lead")
	}
	if err := r.hold(p, memory.SetupData, int64(len(state.SetupData))); err != nil && len(state.SetupData) > 0 {
		return err
	}
	p.Script = state
	r.wake() // the others may wait for what setup() returned
	return nil
}

// dueSetupData returns what setup() of the k6 script returned, for a client that doesn't have it.
func (r *run) dueSetupData(st *stream, p *participant) *sessionpb.ManagerMessage {
	leader := r.clients[session.ScriptLeader]
	if p.identity.Role != sessionpb.Role_ROLE_CLIENT || p == leader || leader == nil || !leader.Script.SetupEnded ||
		p.Script.SetupEnded || st.setup {
		return nil
	}
	st.setup = true
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_SetupData{SetupData: leader.Script.SetupData}}
}

// decodeScriptMetrics returns the metrics in a message, and nil for any other. It needs no lock, since decoding takes long.
func decodeScriptMetrics(m *sessionpb.PodMessage) (*session.ScriptMetrics, error) {
	body, ok := m.GetMessage().(*sessionpb.PodMessage_ScriptMetrics)
	if !ok {
		return nil, nil
	}
	metrics, err := session.DecodeScriptMetrics(body.ScriptMetrics)
	if err != nil {
		return nil, malformed("%s", err)
	}
	return metrics, nil
}

// setScriptMetrics replaces a client's metrics. size is that of the message.
func (r *run) setScriptMetrics(p *participant, metrics *session.ScriptMetrics, size int64) error {
	if r.starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
		return malformed("metrics of a script that has not started")
	}
	if err := r.hold(p, memory.ScriptMetrics, r.held.metrics+size-p.metricsBytes); err != nil {
		return err
	}
	r.held.metrics += size - p.metricsBytes
	p.Metrics, p.metricsBytes = metrics, size
	return nil
}

// setSummary sets what handleSummary() of a client returned, if it had the order to run it from this manager or from an
// earlier one, to which it has sent the summary before. Of those, one is enough.
func (r *run) setSummary(p *participant, n *numbered) (news bool, err error) {
	if r.desired == nil || r.desired.summarize[p.identity.Index] == nil {
		if n.last > p.had {
			return false, malformed("a summary that nobody asked for")
		}
		if r.held.summaries > 0 {
			return false, nil
		}
	} else {
		r.held.summaries -= int64(len(r.desired.summarize[p.identity.Index]))
		r.desired.summarize[p.identity.Index] = []byte{} // nobody needs it any more
	}
	if err := r.hold(p, memory.Summary, r.held.summaries+n.size); err != nil {
		return false, err
	}
	r.held.summaries += n.size
	p.Summary = n.summary
	return true, nil
}

// Summarize makes a client run handleSummary() of its k6 script with the given data, which is JSON. Only the first
// order to a client counts. There is none while there is no memory for the data.
func (s *Server) Summarize(run string, client int, data []byte) {
	r := s.of(run)
	r.update(func(d *desired) {
		p := r.clients[client]
		if p == nil || d.summarize[client] != nil {
			return
		}
		if err := r.memory.Hold(r.owner, memory.Summary, r.held.summaries+int64(len(data))); err != nil {
			p.Waiting = err.Error()
			return
		}
		if d.summarize == nil {
			d.summarize = map[int][]byte{}
		}
		r.held.summaries += int64(len(data))
		d.summarize[client], p.Waiting = data, ""
	})
}

// dueSummarize returns the order to run handleSummary(), for a client that doesn't have it.
func (d *desired) dueSummarize(st *stream, p *participant) *sessionpb.ManagerMessage {
	data := d.summarize[p.identity.Index]
	if p.identity.Role != sessionpb.Role_ROLE_CLIENT || data == nil || st.summarized || p.Summary != nil {
		return nil
	}
	st.summarized = true
	return &sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Summarize{Summarize: data}}
}
