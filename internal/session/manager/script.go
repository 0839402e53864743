package manager

import (
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
	if r.metricsBytes += size - p.metricsBytes; r.metricsBytes > session.MaxAllScriptMetricsBytes {
		return malformed("with these metrics, those of all clients have more than %d bytes", int64(session.MaxAllScriptMetricsBytes))
	}
	p.Metrics, p.metricsBytes = metrics, size
	return nil
}

// Summarize makes a client run handleSummary() of its k6 script with the given data, which is JSON. Only the first
// order to a client counts.
func (s *Server) Summarize(run string, client int, data []byte) {
	s.of(run).update(func(d *desired) {
		if d.summarize == nil {
			d.summarize = map[int][]byte{}
		}
		if d.summarize[client] == nil {
			d.summarize[client] = data
		}
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
