package manager

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestStatisticsOfSessions counts pods of two runs, and how sessions end.
func TestStatisticsOfSessions(t *testing.T) {
	b := newBench(t)
	first := b.join(clientOf("run", 0))
	b.join(clientOf("run", 1))
	b.join(agentOf("run"))
	b.join(clientOf("other", 0))
	b.await("run", "connected", connected(2))
	b.await("run", "agent", func(o session.Observation) bool { return o.Agent != nil && o.Agent.Connected })
	b.await("other", "connected", connected(1))
	if got := b.Statistics(); got.Clients != 3 || got.Agents != 1 || len(got.Ended) != 0 {
		t.Errorf("%+v", got)
	}
	// The session is counted after the pod has gone from the run.
	first.cancel()
	<-first.ended
	b.await("run", "disconnected", connected(1))
	if got := b.Statistics(); got.Clients != 2 || got.Agents != 1 {
		t.Errorf("without a client: %+v", got)
	}
	stranger := b.dial("stranger")
	stranger.send(hello(&sessionpb.Hello{Role: client}))
	for b.Statistics().Ended["Unauthenticated"] == 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("the session of a stranger wasn't counted")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestSessionEnded(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, "OK"},
		{status.Error(codes.FailedPrecondition, "another version"), "FailedPrecondition"},
		{fmt.Errorf("receive: %w", status.Error(codes.InvalidArgument, "malformed")), "InvalidArgument"},
		{context.Canceled, "Canceled"},
		{errors.New("broken"), "Unknown"},
		{status.Error(codes.Code(999), "a pod's"), "Unknown"},
	} {
		s := &Server{counters: &counters{}}
		s.counters.sessionEnded(test.err)
		if diff := cmp.Diff(map[string]uint64{test.want: 1}, s.Statistics().Ended); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.err, diff)
		}
	}
}

// TestDroppedSeconds sends seconds twice, and a sample that isn't newer than the last one.
func TestDroppedSeconds(t *testing.T) {
	r := newRun()
	st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
	if err := r.join(st, clientOf("run", 0), &sessionpb.Hello{Role: client, Instance: 1, Starts: started(fuzzStart)}); err != nil {
		t.Fatal(err)
	}
	joined := sampleMessage(t, 4, measurement, second(2, 1))
	joined.FirstNumber, joined.GetClientSample().Seconds = 3, 2
	for _, m := range []*sessionpb.PodMessage{
		sampleMessage(t, 1, measurement, second(0, 1)), sampleMessage(t, 2, measurement, second(1, 1)), joined, // arrive
		sampleMessage(t, 2, measurement, second(1, 1)), joined, // arrive again
	} {
		if _, err := r.receive(st, m, fuzzStart+60_000_000); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int64{1_000_000, 2_000_000, 2_000_000, 1_500_000, 3_000_000} {
		if _, err := r.addSample(&result.ServerSample{Server: result.ServerUsage{At: at}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.counters.duplicates.Load(); got != 3 {
		t.Errorf("%d duplicate seconds, want 3", got)
	}
	if got := r.counters.stale.Load(); got != 2 {
		t.Errorf("%d stale seconds, want 2", got)
	}
	if got := r.observe().Progress[measurement].Requests; got != 3 {
		t.Errorf("%d requests, want 3: dropped seconds count once", got)
	}
}
