package manager

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	b.Start("run", measurement, b.now())
	for _, c := range clients { // and not the data again
		if got := order[pod.Start](t, c); got.Stage != measurement {
			t.Errorf("started %v", got)
		}
	}
	clients[2].ScriptState(session.ScriptState{SetupEnded: true, LoadEnded: true})
	b.await("run", "the end of a load", count(1, func(c session.ClientState) bool { return c.Script.LoadEnded }))
	b.Start("run", teardown, b.now())
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
