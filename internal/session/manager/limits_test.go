package manager

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
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

// receiveAll hands messages to the sessions of new clients of a run, one each, and returns the first
// error with the number of messages before it.
func receiveAll(t *testing.T, r *run, clients int, message func(index int) *sessionpb.PodMessage) (int, error) {
	t.Helper()
	for i := range clients {
		st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
		if err := r.join(st, clientOf("run", i), &sessionpb.Hello{Role: client, Instance: 1, Starts: started(fuzzStart)}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.receive(st, message(i), fuzzStart+3600_000_000); err != nil {
			return i, err
		}
	}
	return clients, nil
}

// TestTotalsTakeBoundedMemory has the clients of a run send totals of 3 MB each.
func TestTotalsTakeBoundedMemory(t *testing.T) {
	thresholds := make([]k6metric.Threshold, 100)
	for i := range thresholds {
		thresholds[i] = k6metric.Threshold{Metric: strings.Repeat("m", 512), Source: "p(95)<200"}
	}
	large := scriptMessage(fuzzStart, &result.ScriptTotals{Thresholds: thresholds})
	size := len(large.GetClientTotals().GetTotals())
	r := newRun()
	r.memory = memory.New(64 << 20)
	n, err := receiveAll(t, r, 10_000, func(int) *sessionpb.PodMessage { return large })
	if !errors.Is(err, memory.ErrFull) || r.clients[n].Failure != err.Error() {
		t.Errorf("error %v, failure %q", err, r.clients[n].Failure)
	}
	if n != (32<<20)/size {
		t.Errorf("the totals of %d clients with %d bytes each are kept", n, size)
	}
}

// TestStagesHaveBoundedRequests has each client of a run send as many requests as a message may have.
func TestStagesHaveBoundedRequests(t *testing.T) {
	failed := sampleMessage(t, 1, measurement, second(0))
	failed.GetClientSample().Counts[0], failed.GetClientSample().Errors[0] = 1<<40, 1<<40
	r := newRun()
	n, err := receiveAll(t, r, 2000, func(int) *sessionpb.PodMessage { return failed })
	if bad := (*malformedError)(nil); !errors.As(err, &bad) || !strings.Contains(bad.what, "has more than") || n != 1<<10 {
		t.Errorf("after %d messages: %v", n, err)
	}
	if p := r.observe().Progress[measurement]; p.Requests != maxStageRequests || p.Errors != maxStageRequests {
		t.Errorf("%+v", p)
	}
}

// TestSetupDataOfOthers sends data of setup() from a client that doesn't lead. A thousand clients
// with a megabyte each would take a gigabyte.
func TestSetupDataOfOthers(t *testing.T) {
	state := &sessionpb.ScriptState{SetupData: []byte("{}")}
	n, err := receiveAll(t, newRun(), 2, func(int) *sessionpb.PodMessage {
		return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptState{ScriptState: state}}
	})
	if bad := (*malformedError)(nil); !errors.As(err, &bad) || n != 1 {
		t.Errorf("client %d: %v", n, err)
	}
	nested := bytes.Repeat([]byte("["), session.MaxSetupBytes)
	for _, data := range [][]byte{nested, append(nested[:session.MaxSetupBytes/2], bytes.Repeat([]byte("]"), session.MaxSetupBytes/2)...)} {
		if _, err := session.ScriptStateFromWire(&sessionpb.ScriptState{SetupData: data}); err == nil {
			t.Error("JSON that is nested 500,000 times is accepted")
		}
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
