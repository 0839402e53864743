package manager

import (
	"encoding/json"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/limit"
	"github.com/assay-dev/assay/internal/session/manager/series"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

func FuzzReceive(f *testing.F) {
	seeds := []*sessionpb.PodMessage{
		hello(&sessionpb.Hello{Role: client, Starts: started(1)}),
		{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 5}}},
		{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0"}}},
		{Message: &sessionpb.PodMessage_Failure{Failure: &sessionpb.Failure{Reason: "x"}}},
		{Message: &sessionpb.PodMessage_Ready{}}, {Message: &sessionpb.PodMessage_ClientSample{}}, {Message: &sessionpb.PodMessage_Ping{}},
		sampleMessage(f, 1, measurement, second(3, 1, 2, 3)),
		sampleMessage(f, 1, measurement, drawn(1, 5)),
		renumbered(change(sampleMessage(f, 4, measurement, second(3, 1, 2, 3)), func(s *sessionpb.ClientSample) { s.Seconds = 5 }), 1, 4),
		totalsMessage(1, &result.Totals{StartedAt: fuzzStart, EndedAt: fuzzStart + 1, Measure: *measure(1, 2)}),
		serverMessage(1, &result.ServerUsage{At: fuzzStart, UserCPU: 7}),
		serversMessage(1, backends(fuzzStart, "a", "b")),
	}
	trend := k6metric.New("trend", k6metric.Trend, k6metric.Milliseconds)
	trend.Add(3, fuzzStart)
	all := &result.Totals{
		StartedAt: fuzzStart, EndedAt: fuzzStart + 1, Measure: *measure(1, 2), Levels: []result.LevelTotals{{Measure: *measure(1, 2), CPU: 3}},
		Warmup: &result.Counts{Requests: 1}, Arrivals: &result.Arrivals{Due: 5},
		Script: &result.ScriptTotals{Metrics: []k6metric.Metric{*trend}, Thresholds: []k6metric.Threshold{{Metric: "trend", Source: "p(95)<5"}}},
	}
	seeds = append(seeds, totalsMessage(1, all),
		&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptState{ScriptState: &sessionpb.ScriptState{SetupEnded: true, SetupData: []byte("[1]")}}},
		metricsMessage(&session.ScriptMetrics{Metrics: []k6metric.Metric{*trend}}),
		summaryMessage(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "a", Content: []byte("x"), Size: 1}}}),
		probedMessage(&session.ProbeResult{Software: "a", TLS: &result.Handshake{Protocol: "TLSv1.3"}}))
	for _, m := range seeds {
		wire, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, wire, true)
		f.Add(wire, wire, false)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, isClient bool) {
		identity := clientOf("run", 0)
		if !isClient {
			identity = agentOf("run")
		}
		r := newRun()
		for i, wire := range [][]byte{first, second} {
			m := &sessionpb.PodMessage{}
			if limit.Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(wire)}, m) != nil {
				return
			}
			st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
			h := &sessionpb.Hello{Role: identity.Role, Instance: 1, Starts: started(fuzzStart)}
			if i == 0 && m.GetHello() != nil {
				h = m.GetHello()
			}
			if r.join(st, identity, h) != nil {
				return
			}
			_, _ = r.receive(st, m, fuzzStart+3600_000_000)
			for r.due(st) != nil {
			}
			finish(t, r)
			if n := r.series.Len(); n > series.MaxLength {
				t.Errorf("%d entries", n)
			}
			if agent := r.observe().Agent; agent != nil && len(agent.Backends) > session.MaxBackends {
				t.Errorf("%d containers", len(agent.Backends))
			}
			r.leave(st)
		}
	})
}

// finish does with the state of a run what a controller does. FuzzDecode of histograms encodes them.
func finish(t *testing.T, r *run) {
	o := r.observe()
	series := r.seconds()
	_, _, _ = r.targetUsage(0, 1), r.passedSeconds(1), r.windows(1, steady.Defaults)
	server, backends := o.Agent.Measured()
	res := &result.Result{}
	if c := o.Clients[0]; c.Totals != nil {
		res.Clients = []result.Client{{Totals: *c.Totals}}
		res.AddScript()
	}
	if _, err := json.Marshal([]any{series, server, backends, res.Script, o.Clients[0].ProbeResult}); err != nil {
		t.Errorf("what a pod sent can't be stored: %v", err)
	}
}

const fuzzStart = 1_700_000_000_000_000
