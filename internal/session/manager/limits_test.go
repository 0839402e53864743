package manager

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestUnansweredPings sends pings and never reads an answer.
func TestUnansweredPings(t *testing.T) {
	r := newRun()
	st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
	if err := r.join(st, clientOf("run", 0), &sessionpb.Hello{Role: client}); err != nil {
		t.Fatal(err)
	}
	ping := &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 1}}}
	for range maxPings {
		if _, err := r.receive(st, ping, 1); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.receive(st, ping, 1)
	if bad := (*malformedError)(nil); !errors.As(err, &bad) || len(st.pings) != maxPings {
		t.Errorf("%v; %d pings are kept", err, len(st.pings))
	}
}

// TestLargeHeaders calls with headers that are larger than any token.
func TestLargeHeaders(t *testing.T) {
	b := newBench(t)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token(clientOf("run", 0)), "x", strings.Repeat("x", 2*maxHeaderBytes))
	rpc, err := sessionpb.NewSessionsClient(b.connection()).Join(ctx)
	if err == nil {
		_ = rpc.Send(hello(&sessionpb.Hello{Role: client}))
		_, err = rpc.Recv()
	}
	if code := status.Code(err); code == codes.OK || len(b.Observe("run").Clients) != 0 {
		t.Errorf("%v; clients %v", err, b.Observe("run").Clients)
	}
}
