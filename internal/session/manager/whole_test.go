package manager

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/internal/result"
)

// clientSecond returns a sample second of a client in which requests took several phases. It is always the same.
func clientSecond(client, second int64) *result.ClientSecond {
	random := rand.New(rand.NewPCG(uint64(client), uint64(second)))
	s := &result.ClientSecond{Second: second, Node: &result.NodeUsage{ContextSwitches: 3}}
	for range 5 {
		took := int64(random.ExpFloat64() * 5000)
		s.Latencies.Of(result.Total).Record(took)
		s.Latencies.Of(result.Waiting).Record(took / 2)
	}
	s.Requests = 5
	s.Phases, s.Sketches = s.Latencies.Times(), s.Latencies.Sketches()
	s.Latencies = result.Latencies{result.Total: s.Latencies[result.Total]}
	return s
}

// measured adds seconds of several clients to a run, each client a second behind the one before.
func measured(r *run, clients, from, to int64) {
	for second := from; second < to+clients-1; second++ {
		for client := range clients {
			if s := second - client; s >= from && s < to {
				r.addMeasured(clientSecond(client, s), 1)
			}
		}
	}
}

// checkPooled checks that entries are those of all clients' seconds from 0 to to, without a gap, and returns how many
// have each width.
func checkPooled(t *testing.T, entries []result.Second, clients, to int64) map[int64]int {
	t.Helper()
	widths, next := map[int64]int{}, int64(0)
	for i := range entries {
		got := &entries[i]
		if got.Second != next || got.Second%got.Seconds != 0 {
			t.Fatalf("entry %d has %d s from second %d on, after second %d", i, got.Seconds, got.Second, next-1)
		}
		pooled := &entry{}
		for s := got.Second; s < min(got.Second+got.Seconds, to); s++ {
			for client := range clients {
				pooled.Merge(clientSecond(client, s))
			}
		}
		want := pooled.second()
		want.Second, want.Seconds = got.Second, got.Seconds
		want.SetServer(nil, false)
		if diff := cmp.Diff(want, *got, cmpopts.IgnoreFields(result.Second{}, "Latency")); diff != "" {
			t.Fatalf("entry %d (-want +got):\n%s", i, diff)
		}
		if h := got.Latency; h.Count() != want.Requests || h.Sum() != pooled.total().Sum() || h.Percentile(99) != want.P99 || h.Max() != want.Max {
			t.Fatalf("entry %d: its histogram has %d durations of %d µs", i, h.Count(), h.Sum())
		}
		widths[got.Seconds]++
		next = got.Second + got.Seconds
	}
	if next < to {
		t.Errorf("the entries end with second %d of %d", next, to)
	}
	return widths
}

// TestWholeSecondsAreThoseOfAllClients measures for longer than the series has entries. The whole series has each
// second, with all its requests and its exact percentiles; the other stays as it is without it.
func TestWholeSecondsAreThoseOfAllClients(t *testing.T) {
	const clients = 2
	for name, test := range map[string]struct {
		seconds int64
		late    int64 // the second at which somebody asks for the whole series
		want    map[int64]int
	}{
		"one second":               {1, 0, map[int64]int{1: 1}},
		"as many as the series":    {600, 0, map[int64]int{1: 600}},
		"one more":                 {601, 0, map[int64]int{1: 601}},
		"more":                     {1300, 0, map[int64]int{1: 1300}},
		"after some were joined":   {1000, 700, map[int64]int{2: 350, 1: 300}},
		"nobody asks for the rest": {700, 700, map[int64]int{2: 350}},
	} {
		t.Run(name, func(t *testing.T) {
			r, plain := newRun(), newRun()
			measured(r, clients, 0, test.late)
			r.whole.wanted = true
			measured(r, clients, test.late, test.seconds)
			measured(plain, clients, 0, test.seconds)
			if diff := cmp.Diff(plain.seconds(), r.seconds()); diff != "" {
				t.Errorf("the series of the ConfigMap changed (-without +with):\n%s", diff)
			}
			whole := r.wholeSeconds()
			if diff := cmp.Diff(test.want, checkPooled(t, whole, clients, test.seconds)); diff != "" {
				t.Errorf("entries by width (-want +got):\n%s", diff)
			}
			// What a client sends now doesn't change what was read.
			r.addMeasured(clientSecond(0, test.seconds-1), 1)
			checkPooled(t, whole, clients, test.seconds)
		})
	}
}

// TestWholeSecondsAreBounded measures for longer than whole seconds are kept. The oldest are joined, and stay exact.
func TestWholeSecondsAreBounded(t *testing.T) {
	r := newRun()
	r.counters = &counters{}
	r.whole.counters, r.whole.wanted, r.whole.length = r.counters, true, 650
	for _, test := range []struct {
		to     int64
		widest int64
	}{{650, 1}, {700, 2}, {1400, 4}, {1800, 4}} {
		from := int64(0)
		if whole := r.wholeSeconds(); len(whole) > 0 {
			last := &whole[len(whole)-1]
			from = last.Second + last.Seconds
		}
		measured(r, 1, from, test.to)
		whole := r.wholeSeconds()
		widths := checkPooled(t, whole, 1, test.to)
		if len(whole) > 650 || len(whole) < 325 || r.whole.widest != test.widest || widths[1] == 0 {
			t.Errorf("%d s: %d entries, by width %v", test.to, len(whole), widths)
		}
		if n := len(r.whole.open); n > openWholeEntries {
			t.Errorf("%d histograms aren't packed", n)
		}
	}
}

// TestWholeSecondsShareTheirMemory measures while other runs take all there is.
func TestWholeSecondsShareTheirMemory(t *testing.T) {
	all := &counters{}
	all.whole.Add(maxWholeBytes)
	r := newRun()
	r.whole.counters, r.whole.wanted = all, true
	measured(r, 1, 0, 1300)
	if widths := checkPooled(t, r.wholeSeconds(), 1, 1300); widths[1] == 0 || len(r.whole.entries) > seriesLength+1 {
		t.Errorf("%d entries, by width %v", len(r.whole.entries), widths)
	}
	if n := all.wholeBytes() - maxWholeBytes; n < seriesLength*entryBytes || n > 4*seriesLength*entryBytes {
		t.Errorf("the run counts as %d bytes", n)
	}
	for name, end := range map[string]func(){"forgotten": r.forget, "dropped": func() { r.drop(nil) }} {
		measured(r, 1, 0, 601)
		if end(); all.wholeBytes() != maxWholeBytes || r.whole.entries != nil {
			t.Errorf("%s: %d bytes are left", name, all.wholeBytes()-maxWholeBytes)
		}
	}
}

// TestWholeSecondsOfJoinedSeconds has clients that send several seconds as one, as after a restart of the manager. Only
// those are joined.
func TestWholeSecondsOfJoinedSeconds(t *testing.T) {
	r := newRun()
	r.whole.wanted = true
	sent := func(from, seconds int64) { // as mergeSamples makes them
		joined := clientSecond(0, from)
		for s := from + 1; s < from+seconds; s++ {
			joined.Merge(clientSecond(0, s))
		}
		r.addMeasured(joined, seconds)
	}
	for from, seconds := range []int64{4, 0, 0, 0, 2, 0, 1, 1} {
		if seconds > 0 {
			sent(int64(from), seconds)
		}
	}
	if diff := cmp.Diff(map[int64]int{4: 1, 2: 1, 1: 2}, checkPooled(t, r.wholeSeconds(), 1, 8)); diff != "" {
		t.Error(diff)
	}
	if got := r.seconds(); len(got) != 2 || got[0].Seconds != 4 {
		t.Errorf("the series has %d entries", len(got))
	}
}

// TestWholeSecondsTakeNothing checks that no whole series is kept that nobody wants, or before there is a difference.
func TestWholeSecondsTakeNothing(t *testing.T) {
	for name, test := range map[string]struct {
		wanted  bool
		seconds int64
	}{"not wanted": {false, 700}, "short": {true, 600}} {
		r := newRun()
		r.whole.wanted = test.wanted
		measured(r, 1, 0, test.seconds)
		if r.whole.entries != nil {
			t.Errorf("%s: %d entries", name, len(r.whole.entries))
		}
	}
}

// BenchmarkWholeSeconds reads the whole series of 1,300 s, and says what a second takes in memory. Its requests are
// as many as a server answers in a second.
func BenchmarkWholeSeconds(b *testing.B) {
	const seconds = 1300
	r := newRun()
	r.counters = &counters{}
	r.whole.counters, r.whole.wanted = r.counters, true
	random := rand.New(rand.NewPCG(1, 2))
	for second := range int64(seconds) {
		s := &result.ClientSecond{Second: second, Node: &result.NodeUsage{}}
		for range 10_000 {
			took := int64(5000 * (0.3 + random.ExpFloat64()))
			s.Latencies.Of(result.Total).Record(took)
			s.Latencies.Of(result.Processing).Record(took * 9 / 10)
			s.Latencies.Of(result.Waiting).Record(took * 8 / 10)
			s.Latencies.Of(result.Receiving).Record(took / 10)
		}
		s.Phases, s.Sketches = s.Latencies.Times(), s.Latencies.Sketches()
		s.Latencies = result.Latencies{result.Total: s.Latencies[result.Total]}
		r.addMeasured(s, 1)
	}
	r.wholeSeconds()
	r.whole.count()
	b.ReportMetric(float64(r.counters.wholeBytes())/seconds, "bytes/second")
	b.ReportAllocs()
	for b.Loop() {
		r.wholeSeconds()
	}
}
