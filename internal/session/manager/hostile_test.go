package manager

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func welcome(m *sessionpb.ManagerMessage) *sessionpb.Welcome { return m.GetWelcome() }

func totalsMessage(number uint64, totals *result.Totals) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Number: number, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: mustEncode(totals)}}}
}

// scriptMessage returns the totals of a client of a script.
func scriptMessage(at int64, script *result.ScriptTotals) *sessionpb.PodMessage {
	return totalsMessage(1, &result.Totals{StartedAt: at, EndedAt: at, Script: script})
}

// renumbered returns a copy of a message with other numbers.
func renumbered(m *sessionpb.PodMessage, first, last uint64) *sessionpb.PodMessage {
	m = proto.CloneOf(m)
	m.FirstNumber, m.Number = first, last
	return m
}

func serverMessage(number uint64, u *result.ServerUsage) *sessionpb.PodMessage {
	return serversMessage(number, &result.ServerSample{Server: *u})
}

func serversMessage(number uint64, r *result.ServerSample) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Number: number, Message: &sessionpb.PodMessage_ServerSample{ServerSample: session.ServerSampleToWire(r)}}
}

// change returns a copy of a sample that was changed.
func change(m *sessionpb.PodMessage, how func(*sessionpb.ClientSample)) *sessionpb.PodMessage {
	m = proto.CloneOf(m)
	how(m.GetClientSample())
	return m
}

// unknown returns a message of a kind that nobody knows.
func unknown(t testing.TB, field protowire.Number) *sessionpb.PodMessage {
	t.Helper()
	m := &sessionpb.PodMessage{}
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), []byte{8, 1}))
	return m
}

// objects returns totals with n metrics of a script without any fields.
func objects(n int) *sessionpb.PodMessage {
	data := `{"script":{"metrics":[` + strings.Repeat("{},", n-1) + "{}]}}"
	return &sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: []byte(data)}}}
}

// TestDuplicatesAndGaps sends numbered messages twice and omits one.
func TestDuplicatesAndGaps(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 100_000_000
	c := b.dial(token(clientOf("run", 0)))
	sample := func(number uint64, s int64) *sessionpb.PodMessage {
		return sampleMessage(t, number, measurement, second(s, 1))
	}
	c.send(hello(&sessionpb.Hello{Role: client, Instance: 1, Starts: started(at)}))
	if got := until(t, c, welcome); got.GetNextNumber() != 1 {
		t.Errorf("next number %d, want 1", got.GetNextNumber())
	}
	c.send(sample(1, 0), sample(1, 0), sample(2, 1), sample(1, 0), sample(2, 1), sample(4, 3))
	if err := c.end(); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "received message 4, but the next is 3") {
		t.Errorf("the session ended with %v", err)
	}

	// A gap isn't malformed: the pod continues where the manager says.
	c = b.dial(token(clientOf("run", 0)))
	c.send(hello(&sessionpb.Hello{Role: client, Instance: 1, Starts: started(at)}))
	if got := until(t, c, welcome); got.GetNextNumber() != 3 {
		t.Errorf("next number %d, want 3", got.GetNextNumber())
	}
	joint := change(sample(5, 2), func(s *sessionpb.ClientSample) { s.Seconds = 3 })
	joint.FirstNumber = 3
	c.send(joint, joint, sample(6, 5))
	o := b.await("run", "sent", func(o session.Observation) bool { return o.Progress[measurement].Requests == 4 })
	if o.Clients[0].Failure != "" {
		t.Errorf("failure %q", o.Clients[0].Failure)
	}
	total := int64(0)
	for _, s := range b.Series("run") {
		total += s.Requests
	}
	if total != 4 {
		t.Errorf("%d requests in the series, want 4", total)
	}
}

// TestMalformedMessages sends what no pod should send. The pod's run fails with the
// reason. Another run isn't affected.
func TestMalformedMessages(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 10_000_000
	other := b.dial(token(clientOf("other", 0)))
	other.send(hello(&sessionpb.Hello{Role: client, Starts: started(at)}))
	until(t, other, welcome)

	good := sampleMessage(t, 1, measurement, second(0, 1, 2))
	usage := &result.ServerUsage{At: at, UserCPU: 1}
	tests := map[string]struct {
		role    sessionpb.Role
		send    *sessionpb.PodMessage
		failure string
	}{
		"nothing":               {client, &sessionpb.PodMessage{}, "a message without content"},
		"Hello twice":           {client, hello(&sessionpb.Hello{Role: client}), "Hello is not allowed"},
		"an agent's message":    {client, serverMessage(1, usage), "ServerSample is not allowed for ROLE_CLIENT"},
		"a client's message":    {agent, good, "ClientSample is not allowed for ROLE_AGENT"},
		"a client's totals":     {agent, totalsMessage(1, &result.Totals{}), "ClientTotals is not allowed"},
		"number 0":              {client, renumbered(good, 0, 0), "numbers from 0 to 0"},
		"numbers backwards":     {client, renumbered(good, 2, 1), "numbers from 2 to 1"},
		"no metrics":            {client, change(good, func(s *sessionpb.ClientSample) { s.Counts = nil }), "ClientSample: no counts"},
		"a stage without start": {client, change(good, func(s *sessionpb.ClientSample) { s.Stage = warmup }), "has not started"},
		"no stage":              {client, change(good, func(s *sessionpb.ClientSample) { s.Stage = 77 }), "has not started"},
		"a second before":       {client, change(good, func(s *sessionpb.ClientSample) { s.Second = -1 }), "are not over"},
		"a second to come":      {client, change(good, func(s *sessionpb.ClientSample) { s.Second = 1000 }), "are not over"},
		"seconds to come":       {client, change(good, func(s *sessionpb.ClientSample) { s.Seconds = math.MaxInt64 }), "are not over"},
		"requests untimed":      {client, change(good, func(s *sessionpb.ClientSample) { s.Counts[0] = 5 }), "5 requests succeeded, 2 were timed"},
		"negative bytes":        {client, change(good, func(s *sessionpb.ClientSample) { s.Counts[4] = -5 }), "bytesSent must be"},
		"requests without end": {client, change(good, func(s *sessionpb.ClientSample) {
			s.Counts[0], s.Errors[0] = 1<<50+2, 1<<50
		}), "requests"},
		"a broken histogram": {client, change(good, func(s *sessionpb.ClientSample) {
			s.Total.Hdr = []byte("HISTFAAAAA")
		}), "histogram"},
		"a sketch of others":         {client, change(good, func(s *sessionpb.ClientSample) { s.Sketches[result.Connect] = []byte{2} }), "sketches: connect: 1 durations"},
		"many sketches":              {client, change(good, func(s *sessionpb.ClientSample) { s.Sketches = make([][]byte, 1000) }), "sketches of 1000 phases"},
		"many kinds of errors":       {client, change(good, func(s *sessionpb.ClientSample) { s.Errors = make([]int64, 1000) }), "kinds of errors"},
		"many metrics":               {client, change(good, func(s *sessionpb.ClientSample) { s.Counts = make([]int64, 1000) }), "1000 metrics"},
		"negative usage":             {client, change(good, func(s *sessionpb.ClientSample) { s.Usage[0] = -1 }), "userCPUMicroseconds must be"},
		"much usage":                 {client, change(good, func(s *sessionpb.ClientSample) { s.Usage = make([]int64, 1000) }), "1000 metrics"},
		"a warm-up's end":            {client, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_StageEnded{StageEnded: &sessionpb.StageEnded{Stage: warmup}}}, "end of stage STAGE_WARMUP, which has not started"},
		"totals backwards":           {client, totalsMessage(1, &result.Totals{StartedAt: at + 5, EndedAt: at}), "ClientTotals: from"},
		"totals to come":             {client, totalsMessage(1, &result.Totals{StartedAt: at, EndedAt: at + 3600_000_000}), "ClientTotals: from"},
		"totals from before":         {client, totalsMessage(1, &result.Totals{StartedAt: at - 3600_000_000, EndedAt: at}), "ClientTotals: from"},
		"a sample to come":           {agent, serverMessage(1, &result.ServerUsage{At: at + 3600_000_000}), "ServerSample: time"},
		"a sample at no time":        {agent, serverMessage(1, &result.ServerUsage{}), "ServerSample: time 0"},
		"negative CPU time":          {agent, serverMessage(1, &result.ServerUsage{At: at, UserCPU: -1}), "ServerSample: server sample: userCPUMicroseconds must be"},
		"no probe result":            {agent, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeSucceeded{}}, "no probe result"},
		"a large probe result":       {client, probedMessage(&session.ProbeResult{Software: strings.Repeat("x", 1<<20)}), "probe result of 10486"},
		"a result in color":          {client, probedMessage(&session.ProbeResult{HTTP: "\u001b[31m"}), "HTTP version"},
		"a large script":             {client, scriptMessage(at, &result.ScriptTotals{TeardownError: strings.Repeat("x", 7<<19)}), "totals: a script of 0 virtual users"},
		"metrics without names":      {client, objects(500_000), "ClientTotals: totals: more than 10000 parts"},
		"a thousand and one metrics": {client, objects(1001), "1001 metrics and 0 thresholds"},
		"containers without end":     {agent, &sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ServerSample{ServerSample: &sessionpb.ServerSample{Backends: make([]*sessionpb.BackendUsage, 2_000_000)}}}, "more than 10000 parts"},
		"an unknown kind":            {client, unknown(t, 99), "a message without content is not allowed"},
		"a container without a name": {agent, serversMessage(1, backends(at, "")), "with the name"},
		"nine containers":            {agent, serversMessage(1, backends(at, "a", "b", "c", "d", "e", "f", "g", "h", "i")), "9 containers"},
		"too large": {client, change(good, func(s *sessionpb.ClientSample) {
			s.Total.Hdr = make([]byte, session.MaxMessageBytes)
		}), "larger than max"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			identity := Identity{Run: name, Role: test.role, Pod: "pod", PodUID: "uid"}
			greeting := hello(&sessionpb.Hello{Role: test.role, Instance: 1, Starts: started(at)})
			c := b.dial(token(identity))
			c.send(greeting)
			until(t, c, welcome)
			c.send(test.send)
			want := codes.InvalidArgument
			switch test.failure { // gRPC itself rejects what is too large
			case "larger than max":
				want = codes.ResourceExhausted
			case "more than 10000 parts":
				want = codes.Internal
			}
			if err := c.end(); status.Code(err) != want {
				t.Errorf("the session ended with %v", err)
			}
			o := b.await(name, "gone", func(o session.Observation) bool {
				return !o.Clients[0].Connected && (o.Agent == nil || !o.Agent.Connected)
			})
			failure := o.Clients[0].Failure
			if test.role == agent {
				failure = o.Agent.Failure
			}
			if failure != printable.Text(failure) {
				t.Errorf("failure %q isn't printable", failure)
			}
			if !strings.HasPrefix(failure, "malformed message: ") || !strings.Contains(failure, test.failure) || len(failure) > 2*maxTextBytes {
				t.Errorf("failure %q, want %q", failure, test.failure)
			}
			// The pod must not connect again.
			c.close()
			c = b.dial(token(identity))
			defer c.close()
			c.send(greeting)
			if err := c.end(); status.Code(err) != codes.FailedPrecondition {
				t.Errorf("the second session ended with %v", err)
			}
		})
	}

	other.send(sampleMessage(t, 1, measurement, second(0, 1)))
	o := b.await("other", "sent", func(o session.Observation) bool { return o.Progress[measurement].Requests == 1 })
	if !o.Clients[0].Connected || o.Clients[0].Failure != "" {
		t.Errorf("the other run: %+v", o.Clients[0])
	}
}

// TestMalformedHello repeats in Hello a result that no probe can have.
func TestMalformedHello(t *testing.T) {
	b := newBench(t)
	for name, i := range map[string]Identity{"client": clientOf("run", 0), "agent": agentOf("run")} {
		c := b.dial(token(i))
		c.send(hello(&sessionpb.Hello{Role: i.Role, ProbeSucceeded: probedMessage(&session.ProbeResult{DocumentLength: -5}).GetProbeSucceeded()}))
		if err := c.end(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: the session ended with %v", name, err)
		}
	}
	o := b.Observe("run")
	const want = "malformed message: probe result: document of -5 bytes"
	if o.Clients[0].Failure != want || o.Agent.Failure != want || o.Clients[0].ProbeResult != nil || o.Agent.ProbeResult != nil {
		t.Errorf("%+v and %+v", o.Clients[0], o.Agent)
	}
}

// TestInvalidOrders sends a plan and a watch that are invalid. The pods report it.
func TestInvalidOrders(t *testing.T) {
	b := newBench(t)
	b.join(clientOf("run", 0))
	b.join(agentOf("run"))
	b.Watch("run", session.Watch{Address: "10.0.0.1:80"})
	b.Prepare("run", []*session.Plan{{}}, "10.0.0.1:80")
	o := b.await("run", "refused", func(o session.Observation) bool {
		return o.Clients[0].Failure != "" && o.Agent != nil && o.Agent.Failure != ""
	})
	if !strings.Contains(o.Clients[0].Failure, "0 connections") || !strings.Contains(o.Agent.Failure, "0 probes") {
		t.Errorf("%q and %q", o.Clients[0].Failure, o.Agent.Failure)
	}
}

// TestStartsThatDiffer has two clients with different start times.
func TestStartsThatDiffer(t *testing.T) {
	b := newBench(t)
	at := b.Now()
	first, late := b.dial(token(clientOf("run", 0))), b.dial(token(clientOf("run", 1)))
	first.send(hello(&sessionpb.Hello{Role: client, Starts: started(at)}))
	until(t, first, welcome)
	late.send(hello(&sessionpb.Hello{Role: client, Starts: started(at + 1)}))
	if err := late.end(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("the session ended with %v", err)
	}
	if o := b.Observe("run"); o.Starts[measurement] != at || !strings.Contains(o.Clients[1].Failure, "start time") || o.Clients[0].Failure != "" {
		t.Errorf("%+v", o)
	}
}

// TestWhoMayJoin checks which pods get a session, and which they may replace.
func TestWhoMayJoin(t *testing.T) {
	b := newBench(t)
	at := b.Now()
	replaced := func(i Identity) Identity { i.Pod, i.PodUID = "second", "uid-second"; return i }
	plain, begun := &sessionpb.Hello{Role: client, Instance: 1}, &sessionpb.Hello{Role: client, Instance: 1, Starts: started(at)}
	restarted := &sessionpb.Hello{Role: client, Instance: 2}
	sampling, resampling := &sessionpb.Hello{Role: agent, Instance: 1, Starts: started(at)}, &sessionpb.Hello{Role: agent, Instance: 2}
	tests := []struct {
		name   string
		first  string // token of one that has joined, or empty
		hello  *sessionpb.Hello
		gone   bool
		token  string
		second *sessionpb.Hello
		code   codes.Code // OK for a welcome
		text   string
	}{
		{"no pod's token", "", nil, false, "x", plain, codes.Unauthenticated, "unauthenticated"},
		{"no token", "", nil, false, "", plain, codes.Unauthenticated, "no token"},
		{"of no run", "", nil, false, token(clientOf("", 0)), plain, codes.PermissionDenied, "forbidden"},
		{"can't be known", "", nil, false, token(clientOf("unknown", 0)), plain, codes.Unavailable, "failed to authenticate"},
		{"another role", "", nil, false, token(clientOf("role", 0)), sampling, codes.FailedPrecondition, "must not join as a ROLE_AGENT"},
		{"again", token(clientOf("again", 0)), begun, false, token(clientOf("again", 0)), begun, codes.OK, ""},
		{"restarted before anything began", token(clientOf("early", 0)), plain, false, token(clientOf("early", 0)), restarted, codes.OK, ""},
		{"restarted after the start", token(clientOf("late", 0)), begun, true, token(clientOf("late", 0)), restarted, codes.FailedPrecondition, "was restarted"},
		{"in place of one that is connected", token(clientOf("here", 0)), plain, false, token(replaced(clientOf("here", 0))), plain, codes.FailedPrecondition, "pod second (uid-second) must not replace pod here-0 (uid-here-0)"},
		{"in place of one that is gone", token(clientOf("gone", 0)), plain, true, token(replaced(clientOf("gone", 0))), plain, codes.OK, ""},
		{"in place of one that had begun", token(clientOf("begun", 0)), begun, true, token(replaced(clientOf("begun", 0))), plain, codes.FailedPrecondition, "must not replace"},
		{"an agent restarted", token(agentOf("agent")), sampling, false, token(agentOf("agent")), resampling, codes.OK, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.first != "" {
				first := b.dial(test.first)
				first.send(hello(test.hello))
				until(t, first, welcome)
				if test.gone {
					first.close()
					identity, _ := identify(t.Context(), test.first)
					b.await(identity.Run, "gone", func(o session.Observation) bool {
						return !o.Clients[0].Connected && time.Since(o.Clients[0].DisconnectedSince) < time.Minute
					})
				}
			}
			second := b.dial(test.token)
			second.send(hello(test.second))
			m, err := second.Recv()
			if status.Code(err) != test.code {
				t.Fatalf("%v, want %s", err, test.code)
			}
			if err == nil && m.GetWelcome().GetNextNumber() != 1 {
				t.Errorf("%v, want a welcome", m)
			}
			if err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, want %q", err, test.text)
			}
		})
	}
}

// TestRestartedAgent has an agent's second process continue where its first one
// was.
func TestRestartedAgent(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 10_000_000
	for instance := range uint64(2) {
		c := b.dial(token(agentOf("run")))
		c.send(hello(&sessionpb.Hello{Role: agent, Instance: instance + 1, Starts: started(at)}))
		until(t, c, welcome)
		for i := range uint64(3) {
			c.send(serverMessage(i+1, &result.ServerUsage{At: at + int64(3*instance+i)*1_000_000, UserCPU: int64(3*instance + i)}))
		}
		b.await("run", "read", func(o session.Observation) bool {
			return o.Agent.Latest != nil && o.Agent.Latest.UserCPU == int64(3*instance+2)
		})
	}
	if o := b.Observe("run"); o.Agent.Begin.At != at {
		t.Errorf("begin %+v", o.Agent.Begin)
	}
}

// backends returns a usage sample of a server and containers behind it.
func backends(at int64, names ...string) *result.ServerSample {
	r := &result.ServerSample{Server: result.ServerUsage{At: at, UserCPU: 1}}
	for i, name := range names {
		r.Backends = append(r.Backends, result.BackendUsage{Name: name, ServerUsage: result.ServerUsage{At: at, UserCPU: int64(i)}})
	}
	return r
}

// TestContainersAreBoundedOverAllSamples has an agent send other names in each
// sample, each of which alone would be valid.
func TestContainersAreBoundedOverAllSamples(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 10_000_000
	c := b.dial(token(agentOf("run")))
	c.send(hello(&sessionpb.Hello{Role: agent, Instance: 1, Starts: started(at)}))
	until(t, c, welcome)
	for i := range session.MaxBackends {
		c.send(serversMessage(uint64(i+1), backends(at+int64(i), fmt.Sprint("a-", i))))
	}
	b.await("run", "read", func(o session.Observation) bool {
		return o.Agent != nil && len(o.Agent.Backends) == session.MaxBackends
	})
	c.send(serversMessage(session.MaxBackends+1, backends(at+100, "one-more")))
	if err := c.end(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("the session ended with %v", err)
	}
	o := b.await("run", "failed", func(o session.Observation) bool { return o.Agent.Failure != "" })
	if !strings.Contains(o.Agent.Failure, "more than 8 containers") || len(o.Agent.Backends) != session.MaxBackends || o.Agent.Latest.At != at+7 {
		t.Errorf("%+v", o.Agent)
	}
}
