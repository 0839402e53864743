package manager

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// renumbered returns a copy of a message with other numbers.
func renumbered(m *sessionpb.PodMessage, first, last uint64) *sessionpb.PodMessage {
	m = proto.CloneOf(m)
	m.FirstNumber, m.Number = first, last
	return m
}

// scriptMessage returns the totals of a client of a script.
func scriptMessage(at int64, script *sessionpb.ScriptTotals) *sessionpb.PodMessage {
	w, err := session.MeasureToWire(&result.Measure{})
	if err != nil {
		panic(err)
	}
	return &sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{
		Measure: w, StartedAt: at, EndedAt: at, Script: script,
	}}}
}

// unknown returns a message of a kind that this version doesn't know.
func unknown(t testing.TB, field protowire.Number) *sessionpb.PodMessage {
	t.Helper()
	m := &sessionpb.PodMessage{}
	later(m, field)
	return m
}

// later adds a field that this version doesn't know to a message: a message with
// a text in it.
func later(m proto.Message, field protowire.Number) {
	inner := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "from a later version")
	r := m.ProtoReflect()
	r.SetUnknown(protowire.AppendBytes(protowire.AppendTag(r.GetUnknown(), field, protowire.BytesType), inner))
}

// TestProtocolMismatch checks for pairs of versions whether pod and manager work
// together, and the reason in the answer and in the run if they don't.
func TestProtocolMismatch(t *testing.T) {
	for name, test := range map[string]struct {
		pod, manager *sessionpb.Protocol
		want         string // empty if they can work together
	}{
		"before versions": {&sessionpb.Protocol{}, session.Protocol(), "the pod speaks version 0 and"},
		"equal":           {session.Protocol(), session.Protocol(), ""},
		"before a node":   {&sessionpb.Protocol{Version: 1, MinVersion: 1}, session.Protocol(), ""},
		"before scripts":  {&sessionpb.Protocol{Version: 2, MinVersion: 1}, session.Protocol(), ""},
		"next manager":    {session.Protocol(), &sessionpb.Protocol{Version: 4, MinVersion: 1}, ""},
		"next pod":        {&sessionpb.Protocol{Version: 4, MinVersion: 1}, session.Protocol(), ""},
		"manager too new": {&sessionpb.Protocol{Version: 1, MinVersion: 1}, &sessionpb.Protocol{Version: 3, MinVersion: 2}, "needs pods with at least version 2. The pod's image is from an older release"},
		"pod too new":     {&sessionpb.Protocol{Version: 5, MinVersion: 4}, session.Protocol(), "needs a manager with at least version 4, the manager speaks version 3"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.protocol = test.manager
			for _, i := range []Identity{clientOf("run", 0), agentOf("run")} {
				c := b.dial(token(i))
				c.send(hello(&sessionpb.Hello{Role: i.Role, Protocol: test.pod}))
				m, err := c.Recv()
				if test.want == "" {
					if err != nil || !proto.Equal(m.GetWelcome().GetProtocol(), test.manager) {
						t.Errorf("%v, %v", m, err)
					}
					continue
				}
				if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), test.want) {
					t.Errorf("the session ended with %v, want %q", err, test.want)
				}
			}
			o := b.Observe("run")
			for who, failure := range map[string]string{"client": o.Clients[0].Failure, "agent": o.Agent.Failure} {
				if !strings.Contains(failure, test.want) || (failure == "") != (test.want == "") {
					t.Errorf("failure of the %s: %q, want %q", who, failure, test.want)
				}
			}
		})
	}
}

// verbatim sends bytes as they are.
type verbatim struct{ encoding.CodecV2 }

func (verbatim) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// TestRecordedPods sends the Hello messages of pods of commit 58229df, the last
// before the protocol had a version, to the method that they called. The bytes were
// recorded when its agent and its client first connected, and when they reconnected
// during the measurement. At this answer, these pods exit with the text in their
// log.
func TestRecordedPods(t *testing.T) {
	for file, identity := range map[string]Identity{
		"client-hello": clientOf("first", 0), "agent-hello": agentOf("first"),
		"client-hello-again": clientOf("again", 0), "agent-hello-again": agentOf("again"),
	} {
		t.Run(file, func(t *testing.T) {
			recorded, err := os.ReadFile("testdata/58229df/" + file + ".bin")
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t)
			stream, err := b.connection().NewStream(
				metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token(identity)),
				&grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/assay.session.v1.Sessions/Attend",
				grpc.ForceCodecV2(verbatim{encoding.GetCodecV2(encodingproto.Name)}))
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.SendMsg(recorded); err != nil {
				t.Fatal(err)
			}
			const want = "session protocol mismatch: the pod speaks version 0 and needs a manager with at least version 0, " +
				"the manager speaks version 3 and needs pods with at least version 1. The pod's image is from an older release of Assay. " +
				"Create the run again; if that fails too, install the manager, the agent and assay-load from one release"
			err = stream.RecvMsg(&sessionpb.ManagerMessage{})
			if s := status.Convert(err); s.Code() != codes.FailedPrecondition || s.Message() != want {
				t.Errorf("the session ended with %v", err)
			}
			o := b.Observe(identity.Run)
			failure, kind := o.Clients[0].Failure, o.Clients[0].FailureKind
			if identity.Role == agent {
				failure, kind = o.Agent.Failure, o.Agent.FailureKind
			}
			if failure != want || kind != session.FailureProtocolMismatch {
				t.Errorf("failure %q of kind %s", failure, kind)
			}
		})
	}
}

// TestProtocolMismatchLeavesOthersAlone checks that a pod of another version isn't a
// failure of the pod that has joined the run.
func TestProtocolMismatchLeavesOthersAlone(t *testing.T) {
	b := newBench(t)
	c := b.join(clientOf("run", 0))
	b.await("run", "connected", connected(1))
	other := clientOf("run", 0)
	other.Pod, other.PodUID = "other", "uid-other"
	old := b.dial(token(other))
	old.send(hello(&sessionpb.Hello{Role: client, Protocol: &sessionpb.Protocol{}}))
	if err := old.end(); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("the session ended with %v", err)
	}
	if o := b.Observe("run"); !o.Clients[0].Connected || o.Clients[0].Failure != "" {
		t.Errorf("%+v", o.Clients[0])
	}
	c.cancel()
}

// TestRejectedPodEnds checks that Run returns the reason at once.
func TestRejectedPodEnds(t *testing.T) {
	b := newBench(t)
	b.protocol = &sessionpb.Protocol{Version: 5, MinVersion: 4}
	err := <-b.join(clientOf("run", 0)).ended
	if err == nil || !strings.Contains(err.Error(), "session protocol mismatch: the pod speaks version 3") {
		t.Errorf("Run: %v", err)
	}
}

// TestLaterPod runs a pod of a later version, which sends fields, figures, kinds of
// messages and values that this version doesn't know. The run's figures are exact.
func TestLaterPod(t *testing.T) {
	b := newBench(t)
	at := b.now() - 10_000_000
	protocol := &sessionpb.Protocol{Version: 9, MinVersion: 1}
	later(protocol, 50)
	greeting := &sessionpb.Hello{Role: client, Instance: 1, Protocol: protocol, Starts: started(at)}
	later(greeting, 51)
	later(greeting.Starts[0], 52)
	b.Prepare("run", plans(1), "target")
	c := b.dial(token(clientOf("run", 0)))
	c.send(hello(greeting))
	until(t, c, welcome)

	sample := sampleMessage(t, 2, measurement, second(0, 1000, 2000))
	later(sample.GetClientSample(), 53)
	later(sample.GetClientSample().GetMeasure(), 54)
	counts := sample.GetClientSample().GetMeasure().GetCounts()
	later(counts, 55)
	sample.GetClientSample().Usage = append(sample.GetClientSample().Usage, 7, -7)
	counts.Values, counts.Errors = append(counts.Values, 7), append(counts.Errors, 0)
	ready := &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0"}}}
	later(ready, 56)
	probed := probedMessage(&sessionpb.ProbeResult{Software: "nginx", DocumentLength: 7})
	later(probed.GetProbeSucceeded(), 57)
	later(probed.GetProbeSucceeded().GetResult(), 58)
	script := scriptMessage(at, &sessionpb.ScriptTotals{VirtualUsers: 3})
	later(script.GetClientTotals().GetScript(), 59)
	totals := totalsMessage(t, 0, &result.Totals{StartedAt: at, EndedAt: at + 2_000_000, Measure: *measure(1, 2, 3)})
	totals.GetClientTotals().Script = script.GetClientTotals().GetScript()
	c.send(
		unknown(t, 99), ready, probed,
		renumbered(unknown(t, 98), 0, 1), sample,
		renumbered(unknown(t, 98), 3, 5), // stands for several
		renumbered(sampleMessage(t, 0, measurement, second(1, 3000)), 0, 6),
		renumbered(totals, 0, 7),
	)
	o := b.await("run", "collected", collected(1))
	if c := o.Clients[0]; !c.Ready || c.CPUs != "0" || c.ProbeResult.Software != "nginx" || c.Totals.Requests != 3 || c.Totals.Script.VirtualUsers != 3 || c.Failure != "" {
		t.Errorf("%+v", c)
	}
	if o.Progress[measurement].Requests != 3 {
		t.Errorf("progress %+v", o.Progress[measurement])
	}
	c.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Failure{Failure: &sessionpb.Failure{Reason: "later", Kind: 77}}})
	if o := b.await("run", "failed", func(o session.Observation) bool { return o.Clients[0].Failure != "" }); o.Clients[0].FailureKind != 77 {
		t.Errorf("%+v", o.Clients[0])
	}
	b.Release("run")
	until(t, c, func(m *sessionpb.ManagerMessage) *sessionpb.Release { return m.GetRelease() })
}

// laterManager is a manager of a later version.
type laterManager struct {
	sessionpb.UnimplementedSessionsServer
	plan   *session.Plan
	totals chan *sessionpb.ClientTotals
}

// Join runs a measurement of a client, with things that a client of this version
// doesn't know before, between and within the messages.
func (m *laterManager) Join(rpc grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage]) error {
	plan := session.PlanToWire(m.plan)
	welcome := &sessionpb.Welcome{NextNumber: 1, Protocol: &sessionpb.Protocol{Version: 9, MinVersion: 1}}
	prepare := &sessionpb.Prepare{Plan: plan, Address: "target"}
	for i, known := range []proto.Message{welcome, prepare, plan, plan.GetRequests()[0]} {
		later(known, protowire.Number(50+i))
	}
	unknown := &sessionpb.ManagerMessage{}
	later(unknown, 99)
	for _, message := range []*sessionpb.ManagerMessage{
		{Message: &sessionpb.ManagerMessage_Welcome{Welcome: welcome}}, unknown,
		{Message: &sessionpb.ManagerMessage_Prepare{Prepare: prepare}}, unknown,
		{Message: &sessionpb.ManagerMessage_Start{Start: &sessionpb.Start{Stage: measurement, At: 5}}}, unknown,
	} {
		if err := rpc.Send(message); err != nil {
			return err
		}
	}
	for {
		message, err := rpc.Recv()
		if err != nil {
			return err
		}
		if totals := message.GetClientTotals(); totals != nil {
			m.totals <- totals
			return rpc.Send(&sessionpb.ManagerMessage{Message: &sessionpb.ManagerMessage_Release{Release: &sessionpb.Release{}}})
		}
	}
}

// TestLaterManager runs a client of this version with a manager of a later one.
func TestLaterManager(t *testing.T) {
	b := newBench(t)
	b.kill()
	listener, err := net.Listen("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	m := &laterManager{plan: plans(1)[0], totals: make(chan *sessionpb.ClientTotals, 1)}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(b.config)))
	sessionpb.RegisterSessionsServer(server, m)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	c := b.join(clientOf("run", 0))
	if diff := cmp.Diff(pod.Prepare{Plan: m.plan, Address: "target"}, order[pod.Prepare](t, c)); diff != "" {
		t.Error(diff)
	}
	if got := order[pod.Start](t, c); got.Stage != measurement || got.At != 5 {
		t.Errorf("%+v", got)
	}
	c.SendSecond(measurement, second(0, 1, 2))
	c.SendTotals(&result.Totals{StartedAt: 5, EndedAt: 9, Measure: *measure(1, 2, 3)})
	order[pod.Release](t, c)
	if err := <-c.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	got, err := session.MeasureFromWire((<-m.totals).GetMeasure())
	if err != nil || got.Requests != 3 || got.Latencies.Get(result.Total).Sum() != 6 {
		t.Errorf("%+v, %v", got, err)
	}
}
