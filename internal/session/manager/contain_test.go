package manager

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// TestPanics damages the state of a run, so that a message of its pod panics. The session ends and
// the run fails with the reason. The process, and another run, continue.
func TestPanics(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 10_000_000
	other := b.dial(token(clientOf("other", 0)))
	other.send(hello(&sessionpb.Hello{Role: client, Starts: started(at)}))
	until(t, other, welcome)

	for name, test := range map[string]struct {
		plant func(*run)
		send  *sessionpb.PodMessage
		want  string
	}{
		"when it is decoded": {func(r *run) { r.clients[0].stream.participant = nil }, sampleMessage(t, 1, measurement, second(0, 1)), "nil pointer"},
		"when it is handled": {func(r *run) { r.series = nil }, sampleMessage(t, 1, measurement, second(0, 1)), "nil pointer"},
		"when an answer is due": {func(r *run) {
			r.starts[warmup], r.clients[0].Starts = at, nil
		}, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{}}}, "nil map"},
	} {
		t.Run(name, func(t *testing.T) {
			identity := clientOf(name, 0)
			greeting := hello(&sessionpb.Hello{Role: client, Instance: 1, Starts: started(at)})
			c := b.dial(token(identity))
			c.send(greeting)
			until(t, c, welcome)
			r := b.of(name)
			r.mu.Lock()
			test.plant(r)
			r.mu.Unlock()
			c.send(test.send)
			if err := c.end(); status.Code(err) != codes.Internal {
				t.Errorf("the session ended with %v", err)
			}
			o := b.await(name, "gone", func(o session.Observation) bool { return o.Clients[0].Failure != "" })
			if failure := o.Clients[0].Failure; !strings.HasPrefix(failure, "the manager panicked") || !strings.Contains(failure, test.want) {
				t.Errorf("failure %q, want %q", failure, test.want)
			}
			c = b.dial(token(identity))
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

// brokenStream panics when it receives, as gRPC would if it couldn't decode the first message.
type brokenStream struct {
	grpc.BidiStreamingServer[sessionpb.PodMessage, sessionpb.ManagerMessage]
	ctx context.Context
}

func (b brokenStream) Context() context.Context             { return b.ctx }
func (b brokenStream) Recv() (*sessionpb.PodMessage, error) { panic("planted") }

// TestPanicBeforeHello panics before the pod has a session. Its run fails all the same.
func TestPanicBeforeHello(t *testing.T) {
	s := New(identify, func(string) {}, logr.Discard())
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("authorization", "Bearer "+token(clientOf("run", 3))))
	if err := s.Join(brokenStream{ctx: ctx}); status.Code(err) != codes.Internal {
		t.Errorf("the session ended with %v", err)
	}
	if c := s.Observe("run").Clients[3]; !strings.Contains(c.Failure, "planted") || c.Connected || c.PodUID != "uid-run-3" {
		t.Errorf("%+v", c)
	}

	// What identifies pods may panic before the run is known.
	s = New(func(context.Context, string) (Identity, error) { panic("planted") }, func(string) {}, logr.Discard())
	if err := s.Join(brokenStream{ctx: ctx}); status.Code(err) != codes.Internal {
		t.Errorf("the session ended with %v", err)
	}
}

// TestRunsWithoutState checks that whatever is asked of a run that has no state, as one that was dropped meanwhile, has an answer.
func TestRunsWithoutState(t *testing.T) {
	var logged []string
	s := New(nil, nil, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	if series, passed := s.Series("gone"), s.Passed("gone", 1); len(series) > 0 || len(passed) > 0 {
		t.Errorf("Series() = %v, Passed() = %v, want none", series, passed)
	}
	if used := s.TargetUsage("gone", 0, 1); used.Server != nil {
		t.Errorf("TargetUsage() = %+v, want none", used)
	}
	if window := s.Window("gone", 1, 0); window.Seconds != 0 {
		t.Errorf("Window() = %+v, want none", window)
	}
	if windows := s.Windows("gone", 1, steady.Criterion{}); len(windows) > 0 {
		t.Errorf("Windows() = %v, want none", windows)
	}
	if observed := s.Observe("gone"); len(observed.Clients) > 0 {
		t.Errorf("Observe() = %+v, want no clients", observed)
	}
	if len(logged) > 0 {
		t.Errorf("logged %q, want nothing", logged)
	}
}
