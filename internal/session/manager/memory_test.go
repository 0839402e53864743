package manager

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// memoryBench is a server whose account is asked for after each message.
type memoryBench struct {
	t *testing.T
	*Server
	limit   int64
	next    map[string]uint64 // by pod
	streams map[string]*stream
	now     int64
}

func newMemoryBench(t *testing.T, limit int64) *memoryBench {
	b := &memoryBench{t: t, Server: New(nil, func(string) {}, logr.Discard()), limit: limit, next: map[string]uint64{}, streams: map[string]*stream{}, now: fuzzStart + 3600_000_000}
	b.Memory = memory.New(limit)
	return b
}

// send hands a message of a client to its session, which it begins if there is none.
func (b *memoryBench) send(namespace, run string, index int, m *sessionpb.PodMessage) error {
	b.t.Helper()
	r, identity := b.of(run), clientOf(run, index)
	identity.Namespace = namespace
	if st := b.streams[identity.Pod]; st == nil {
		st = &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
		if err := r.join(st, identity, &sessionpb.Hello{Role: client, Instance: 1, Starts: started(fuzzStart)}); err != nil {
			b.t.Fatal(err)
		}
		b.streams[identity.Pod], b.next[identity.Pod] = st, 1
	}
	switch m.GetMessage().(type) {
	case *sessionpb.PodMessage_ScriptMetrics, *sessionpb.PodMessage_ScriptState:
	default:
		m = renumbered(m, b.next[identity.Pod], b.next[identity.Pod])
	}
	_, err := r.receive(b.streams[identity.Pod], m, b.now)
	if err == nil && m.GetNumber() > 0 {
		b.next[identity.Pod]++
	}
	if used := b.Memory.Used(); used > b.limit || used < 0 {
		b.t.Fatalf("%d bytes are held of %d", used, b.limit)
	}
	return err
}

// largest returns messages as large as each kind may be.
func largest(_ *testing.T) map[string]*sessionpb.PodMessage {
	thresholds := make([]k6metric.Threshold, 100)
	for i := range thresholds {
		thresholds[i] = k6metric.Threshold{Metric: strings.Repeat("m", 512), Source: "p(95)<200"}
	}
	metrics := &session.ScriptMetrics{}
	for i := range 50 {
		metrics.Metrics = append(metrics.Metrics, k6metric.Metric{Name: fmt.Sprint(i, strings.Repeat("m", 400)), Kind: "rate"})
	}
	setup := `"` + strings.Repeat("x", session.MaxSetupBytes-2) + `"`
	return map[string]*sessionpb.PodMessage{
		"totals":  scriptMessage(fuzzStart, &result.ScriptTotals{Thresholds: thresholds}),
		"metrics": metricsMessage(metrics),
		"setup":   {Message: &sessionpb.PodMessage_ScriptState{ScriptState: session.ScriptStateToWire(session.ScriptState{SetupData: []byte(setup)})}},
		"summary": summaryMessage(&result.ScriptSummary{Files: []result.SummaryFile{{Name: "a", Content: make([]byte, result.MaxSummaryBytes), Size: result.MaxSummaryBytes}}}),
	}
}

// TestMemoryOfManyRuns has many runs of several namespaces send as much as each client may. What all hold is never above
// the limit, the next namespace is served nevertheless, and everything is given back.
func TestMemoryOfManyRuns(t *testing.T) {
	const namespaces, runs, clients, seconds = 4, 3, 8, 40
	b := newMemoryBench(t, 24<<20)
	messages, random := largest(t), rand.New(rand.NewPCG(1, 2))
	samples := make([]*sessionpb.PodMessage, seconds)
	for s := range samples {
		one := &result.ClientSecond{Second: int64(s)}
		for range 2000 { // of any length, so that its histogram is as large as can be
			took := random.Int64N(1 << (10 + random.Int64N(23)))
			one.Latencies.Of(result.Total).Record(took)
			one.Latencies.Of(result.Waiting).Record(took)
		}
		one.Requests = 2000
		one.Phases, one.Sketches = one.Latencies.Times(), one.Latencies.Sketches()
		samples[s] = sampleMessage(t, 1, measurement, one)
	}
	refused := map[string]int{}
	for ns := range namespaces {
		for run := range runs {
			uid := fmt.Sprint("run-", ns, "-", run)
			for c := range clients {
				all := append([]*sessionpb.PodMessage{messages["metrics"]}, samples...)
				all = append(all, messages["totals"])
				if c == session.ScriptLeader {
					all = append([]*sessionpb.PodMessage{messages["setup"]}, all...)
				}
				for _, m := range all {
					err := b.send(fmt.Sprint("ns-", ns), uid, c, m)
					if errors.Is(err, memory.ErrFull) {
						refused[nameOf(m)]++
						p := b.Observe(uid).Clients[c]
						if !strings.HasPrefix(p.Failure, memory.ErrFull.Error()) && p.Waiting != err.Error() || !strings.Contains(err.Error(), "the namespace holds ") {
							t.Fatalf("the run says %q, %q of %v", p.Failure, p.Waiting, err)
						}
					} else if err != nil {
						t.Fatal(err)
					}
				}
			}
			b.Summarize(uid, 0, make([]byte, session.MaxSummaryDataBytes))
			if used := b.Memory.Used(); used > b.limit {
				t.Fatalf("%d bytes are held of %d", used, b.limit)
			}
		}
	}
	t.Logf("%d bytes are held; refused: %v", b.Memory.Used(), refused)
	if b.Memory.Used() < b.limit/2 || refused["ClientTotals"] == 0 {
		t.Error("the runs did not try the bound")
	}
	// A run of another namespace, of a usual size.
	totals := totalsMessage(1, &result.Totals{StartedAt: fuzzStart, EndedAt: fuzzStart + 1_000_000, Measure: *measure(1, 2, 3)})
	for _, m := range []*sessionpb.PodMessage{sampleMessage(t, 1, measurement, second(0, 1, 2, 3)), totals} {
		if err := b.send("other", "run-other", 0, m); err != nil {
			t.Errorf("another namespace: %v", err)
		}
	}
	for uid := range b.runs {
		b.Forget(uid)
	}
	if b.Memory.Used() != 0 {
		t.Errorf("%d bytes are held at the end", b.Memory.Used())
	}
}

// TestSmallerRunsWait has two runs of a namespace that is full. The larger one fails, the other one goes on when that is gone.
func TestSmallerRunsWait(t *testing.T) {
	totals := largest(t)["totals"]
	size := int64(len(totals.GetClientTotals().GetTotals()))
	b := newMemoryBench(t, 8*size+size/2)
	for _, step := range []struct {
		run           string
		client        int
		full, waiting bool
	}{
		{"large", 0, false, false}, {"small", 0, false, false}, {"large", 1, false, false}, {"large", 2, false, false},
		{"small", 1, true, true}, {"large", 3, true, false},
	} {
		err := b.send("ns", step.run, step.client, totals)
		c := b.Observe(step.run).Clients[step.client]
		if errors.Is(err, memory.ErrFull) != step.full || (c.Waiting != "") != step.waiting || (c.Failure != "") != (step.full && !step.waiting) {
			t.Errorf("%+v: %v, waiting %q, failure %q", step, err, c.Waiting, c.Failure)
		}
	}
	b.Forget("large")
	if err := b.send("ns", "small", 1, totals); err != nil || b.Observe("small").Clients[1].Waiting != "" {
		t.Errorf("%v, waiting %q", err, b.Observe("small").Clients[1].Waiting)
	}
}

// TestSummariesWaitForMemory asks for a summary while there is no memory for its data, and again when there is.
func TestSummariesWaitForMemory(t *testing.T) {
	messages := largest(t)
	size := int64(len(messages["totals"].GetClientTotals().GetTotals()))
	b := newMemoryBench(t, 4*size)
	if err := errors.Join(b.send("ns", "run", 0, messages["totals"]), b.send("ns", "large", 0, messages["totals"])); err != nil {
		t.Fatal(err)
	}
	for _, waits := range []bool{true, false} {
		b.Summarize("run", 0, []byte("{}"))
		if got := b.Observe("run").Clients[0].Waiting; (got != "") != waits {
			t.Errorf("waiting %q", got)
		}
		b.Forget("large")
	}
}

// TestSummariesAreAskedFor has clients send summaries that nobody asked for, and a client whose summary an earlier
// manager had.
func TestSummariesAreAskedFor(t *testing.T) {
	summary := largest(t)["summary"]
	b := newMemoryBench(t, 64<<20)
	if err := b.send("ns", "run", 0, summary); err == nil || !strings.Contains(err.Error(), "a summary that nobody asked for") || b.Memory.Used() != 0 {
		t.Errorf("%v, %d bytes are held", err, b.Memory.Used())
	}
	b.Summarize("run", 0, []byte("{}"))
	if err := b.send("ns", "run", 0, summary); err != nil || b.Observe("run").Clients[0].Summary == nil {
		t.Error(err)
	}
	held := b.Memory.Used()
	for i, had := range []uint64{1, 1} {
		r, st := b.of("again"), &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
		if err := r.join(st, clientOf("again", i), &sessionpb.Hello{Role: client, Instance: 1, Starts: started(fuzzStart), LastNumber: had}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.receive(st, summary, b.now); err != nil || (r.clients[i].Summary != nil) != (i == 0) {
			t.Errorf("client %d: %v, kept %t", i, err, r.clients[i].Summary != nil)
		}
	}
	if got := b.Memory.Used() - held; got != int64(len(summary.GetScriptSummary())) {
		t.Errorf("%d bytes more are held", got)
	}
}
