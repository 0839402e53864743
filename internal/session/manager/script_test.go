package manager

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	setup    = sessionpb.Stage_STAGE_SETUP
	teardown = sessionpb.Stage_STAGE_TEARDOWN
)

// TestSetupDataReachesEveryClient checks that every other client receives what
// setup() returned to client 0, once and not before, even from another manager.
func TestSetupDataReachesEveryClient(t *testing.T) {
	b := newBench(t)
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1)), b.join(clientOf("run", 2))}
	for _, c := range clients {
		c.Ready("0")
	}
	b.await("run", "ready", ready(3))
	b.Start("run", setup, 1000)
	for _, c := range clients {
		if got := order[pod.Start](t, c); got.Stage != setup {
			t.Errorf("started %v", got)
		}
	}
	const data = `{"token":"x"}`
	clients[0].ScriptState(session.ScriptState{SetupEnded: true, SetupData: []byte(data)})
	if got := order[pod.SetupData](t, clients[1]); string(got.Data) != data {
		t.Errorf("client 1 got %q", got.Data)
	}
	if got := order[pod.SetupData](t, clients[2]); string(got.Data) != data {
		t.Errorf("client 2 got %q", got.Data)
	}
	clients[1].ScriptState(session.ScriptState{SetupEnded: true})
	b.await("run", "setup of two", count(2, func(c session.ClientState) bool { return c.Script.SetupEnded }))

	b.restart()
	clients[2].ScriptState(session.ScriptState{SetupEnded: true})
	o := b.await("run", "setup of all, told again", count(3, func(c session.ClientState) bool { return c.Script.SetupEnded }))
	if o.Starts[setup] != 1000 || string(o.Clients[0].Script.SetupData) != data {
		t.Errorf("after a restart %+v", o)
	}
	b.Start("run", measurement, b.Now())
	for _, c := range clients { // and not the data again
		if got := order[pod.Start](t, c); got.Stage != measurement {
			t.Errorf("started %v", got)
		}
	}
	clients[2].ScriptState(session.ScriptState{SetupEnded: true, LoadEnded: true})
	b.await("run", "the end of a load", count(1, func(c session.ClientState) bool { return c.Script.LoadEnded }))
	b.Start("run", teardown, b.Now())
	if got := order[pod.Start](t, clients[0]); got.Stage != teardown {
		t.Errorf("started %v", got)
	}
	clients[1].FailAs(session.FailureScriptAborted, "enough")
	o = b.await("run", "a failure", count(1, func(c session.ClientState) bool { return c.Failure != "" }))
	if c := o.Clients[1]; c.Failure != "enough" || c.FailureKind != session.FailureScriptAborted {
		t.Errorf("%+v", c)
	}
}

// TestMalformedScriptStates: a client that reports a state that can't be fails its
// run.
func TestMalformedScriptStates(t *testing.T) {
	b := newBench(t)
	for name, tc := range map[string]struct {
		state *sessionpb.ScriptState
		want  string
	}{
		"setup out of turn": {&sessionpb.ScriptState{SetupEnded: true}, "end of a stage"},
		"load out of turn":  {&sessionpb.ScriptState{LoadEnded: true}, "end of a stage"},
		"data that is none": {&sessionpb.ScriptState{SetupData: []byte("{")}, "is not JSON"},
		"too much data":     {&sessionpb.ScriptState{SetupData: []byte(`"` + strings.Repeat("x", session.MaxSetupBytes) + `"`)}, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			run := "run " + name
			c := b.dial(token(clientOf(run, 0)))
			c.send(hello(&sessionpb.Hello{Role: client, ScriptState: tc.state}))
			if err := c.end(); status.Code(err) != codes.InvalidArgument {
				t.Errorf("the session ended with %v", err)
			}
			if got := b.Observe(run).Clients[0].Failure; !strings.Contains(got, tc.want) {
				t.Errorf("failure %q", got)
			}
		})
	}
}

// TestEndOfAScript checks the way of a script's metrics and of its handleSummary(), each of which a
// restarted manager must know again.
func TestEndOfAScript(t *testing.T) {
	b := newBench(t)
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1))}
	at := b.Now()
	b.Start("run", measurement, at)
	bought := k6metric.New("bought", k6metric.Counter, k6metric.None)
	for i, c := range clients {
		if got := order[pod.Start](t, c); got.Stage != measurement {
			t.Errorf("started %v", got)
		}
		bought.Add(float64(i+1), 1)
		c.ScriptMetrics(&session.ScriptMetrics{Elapsed: 5, Metrics: []k6metric.Metric{*bought}}, session.MaxScriptMetricsBytes)
	}
	known := func(o session.Observation) bool {
		return o.Clients[0].Metrics != nil && o.Clients[1].Metrics != nil && o.Clients[1].Metrics.Metrics[0].Sum == 3
	}
	b.await("run", "metrics", known)
	b.restart()
	b.await("run", "metrics, told again", known)

	b.Start("run", teardown, b.Now())
	for _, c := range clients {
		if got := order[pod.Start](t, c); got.Stage != teardown {
			t.Errorf("started %v", got)
		}
	}
	clients[0].SendTotals(&result.Totals{StartedAt: at, EndedAt: at, Script: &result.ScriptTotals{Summarizes: true, Checks: []k6metric.Check{{Name: "is 200", Passes: 3}}}})

	b.Summarize("run", 0, []byte("{}"))
	if got := order[pod.Summarize](t, clients[0]); string(got.Data) != "{}" {
		t.Errorf("data %q", got.Data)
	}
	clients[0].SendSummary(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "a.txt", Content: []byte("\xff"), Size: 1}}})
	returned := func(o session.Observation) bool {
		s := o.Clients[0].Summary
		return s != nil && len(s.Files) == 1 && string(s.Files[0].Content) == "\xff" && o.Clients[0].Totals.Script.Checks[0].Passes == 3
	}
	b.await("run", "the summary", returned)
	b.restart()
	b.await("run", "the summary, told again", returned)
	b.Summarize("run", 0, []byte("{}"))
	b.Release("run")
	order[pod.Release](t, clients[0]) // and not the order to summarize again
}

// TestMalformedScriptMessages: a client that sends metrics or files that can't be fails its run.
func TestMalformedScriptMessages(t *testing.T) {
	b := newBench(t)
	for name, tc := range map[string]struct {
		message *sessionpb.PodMessage
		started bool
		want    string
	}{
		"metrics out of turn": {metricsMessage(&session.ScriptMetrics{}), false, "has not started"},
		"metrics that aren't": {metricsMessage(&session.ScriptMetrics{Metrics: []k6metric.Metric{{Name: "m", Kind: "x"}}}), true, "kind"},
		"too much":            {metricsMessage(&session.ScriptMetrics{Metrics: []k6metric.Metric{{Name: strings.Repeat("x", session.MaxScriptMetricsBytes), Kind: "rate"}}}), true, "bytes"},
		"a path that escapes": {summaryMessage(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "../a"}}}), true, "../a"},
		"a name twice":        {summaryMessage(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "a"}, {Name: "a"}}}), true, "file"},
		"too large files":     {summaryMessage(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "a", Content: make([]byte, result.MaxSummaryBytes+1), Size: 1 << 20}}}), true, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			run := "run " + name
			c := b.dial(token(clientOf(run, 0)))
			c.send(hello(&sessionpb.Hello{Role: client}))
			b.await(run, "connected", connected(1))
			if tc.started {
				b.Start(run, measurement, b.Now())
			}
			c.send(tc.message)
			if err := c.end(); status.Code(err) != codes.InvalidArgument {
				t.Errorf("the session ended with %v", err)
			}
			if got := b.Observe(run).Clients[0].Failure; !strings.Contains(got, tc.want) {
				t.Errorf("failure %q", got)
			}
		})
	}
}

func metricsMessage(m *session.ScriptMetrics) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptMetrics{ScriptMetrics: mustEncode(m)}}
}

func summaryMessage(m *result.ScriptSummary) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ScriptSummary{ScriptSummary: mustEncode(m)}}
}
