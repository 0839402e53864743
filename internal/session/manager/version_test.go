package manager

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestProtocolMismatch checks that a pod of another version is told so, and that its run says it.
func TestProtocolMismatch(t *testing.T) {
	const next = session.ProtocolVersion + 1
	for name, test := range map[string]struct {
		pod, manager uint32
		want         string // empty if they can work together
	}{
		"equal":         {session.ProtocolVersion, session.ProtocolVersion, ""},
		"newer manager": {session.ProtocolVersion, next, "session protocol mismatch: the pod speaks version 1, the manager version 2"},
		"newer pod":     {next, session.ProtocolVersion, "session protocol mismatch: the pod speaks version 2, the manager version 1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.protocol = test.manager
			for _, i := range []Identity{clientOf("run", 0), agentOf("run")} {
				c := b.dial(token(i))
				c.send(hello(&sessionpb.Hello{Role: i.Role, Protocol: test.pod}))
				m, err := c.Recv()
				if test.want == "" {
					if err != nil || m.GetWelcome().GetProtocol() != test.manager {
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
			if kind := o.Clients[0].FailureKind; (kind == session.FailureProtocolMismatch) != (test.want != "") {
				t.Errorf("failure of kind %s", kind)
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
	old.send(hello(&sessionpb.Hello{Role: client, Protocol: 77}))
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
	b.protocol = 5
	err := <-b.join(clientOf("run", 0)).ended
	if err == nil || !strings.Contains(err.Error(), "session protocol mismatch: the pod speaks version 1") {
		t.Errorf("Run: %v", err)
	}
}
