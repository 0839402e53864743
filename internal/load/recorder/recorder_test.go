package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

func outcome(ended, total time.Duration) *Outcome {
	return &Outcome{
		Ended: ended, Error: NoError, Status: 200, Reused: true,
		Processing: total, Waiting: total / 2, Receiving: total / 2, Total: total,
		Sent: 10, Received: 100, Body: 50,
	}
}

func TestOutcomesAreCounted(t *testing.T) {
	r := New(1)
	opened := outcome(0, 3*time.Millisecond)
	opened.Opened, opened.Reused, opened.Connect = true, false, 1499*time.Nanosecond
	r.Record(0, opened)
	resumed := outcome(0, 3*time.Millisecond)
	resumed.Opened, resumed.Reused, resumed.Secured, resumed.Resumed = true, false, true, true
	resumed.Connect, resumed.TLS = time.Microsecond, 2*time.Microsecond
	r.Record(0, resumed)
	moved := outcome(0, time.Millisecond)
	moved.Status = 302
	r.Record(0, moved)
	failed := outcome(0, time.Hour)
	failed.Status, failed.Error = 500, result.ErrorStatus
	r.Record(0, failed)
	broken := outcome(0, time.Hour)
	broken.Status, broken.Error, broken.Body = 0, result.ErrorReceive, 0
	r.Record(0, broken)

	// A handshake counts though its request failed; its time doesn't.
	lost := outcome(0, time.Hour)
	lost.Status, lost.Error, lost.Body, lost.Opened, lost.Reused, lost.Secured, lost.Resumed = 0, result.ErrorReceive, 0, true, false, true, true
	r.Record(0, lost)

	_, m := r.take()
	want := result.Counts{
		Requests: 6, Non2xx: 2, KeepAlive: 3, Connections: 3, BytesSent: 60, BytesReceived: 600, BodyBytes: 200, TLSResumed: 2,
	}
	want.Errors[result.ErrorStatus], want.Errors[result.ErrorReceive] = 1, 2
	if m.Counts != want {
		t.Errorf("counts\n%+v, want\n%+v", m.Counts, want)
	}
	for phase, want := range map[result.Phase][]int64{
		result.Connect: {1, 1}, result.TLS: {2}, result.Total: {1000, 3000, 3000}, result.Processing: {1000, 3000, 3000},
		result.Waiting: {500, 1500, 1500}, result.Receiving: {500, 1500, 1500},
	} {
		h := m.Latencies.Get(phase)
		if h.Count() != int64(len(want)) || len(want) > 0 && (h.Min() != want[0] || h.Max() != slices.Max(want)) {
			t.Errorf("%s: %d durations from %d to %d, want %v", phase, h.Count(), h.Min(), h.Max(), want)
		}
	}
}

// name is a request with a name.
type name string

func (n name) String() string { return string(n) }

// TestCausesAreCounted checks that causes are counted over all shards with the earliest example, and that neither a request that
// succeeds nor one that fails for a known cause takes memory.
func TestCausesAreCounted(t *testing.T) {
	r := New(3)
	for i := range 30 {
		o := outcome(time.Duration(30-i)*time.Millisecond, time.Hour)
		o.Error, o.Cause, o.Detail, o.Request = result.ErrorConnect, "ECONNREFUSED", "detail", name("GET /"+string(rune('a'+i%26)))
		r.Record(i, o)
	}
	unexplained := outcome(0, time.Hour)
	unexplained.Error = result.ErrorException
	r.Record(0, unexplained)
	// Each shard has the first outcome that it got as an example. That of the last shard ended first.
	want := result.Causes{
		result.ErrorConnect:   {{Text: "ECONNREFUSED", Count: 30, Example: &result.FailedRequest{Request: "GET /c", AtMicroseconds: 28_000, Detail: "detail"}}},
		result.ErrorException: {{Text: "unknown", Count: 1}},
	}
	if diff := cmp.Diff(want, r.Causes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	failed := outcome(0, time.Hour)
	failed.Error, failed.Cause, failed.Request = result.ErrorConnect, "ECONNREFUSED", name("GET /")
	for _, o := range []*Outcome{outcome(0, time.Millisecond), failed} {
		r.Record(0, o)
		if n := testing.AllocsPerRun(100, func() { r.Record(0, o) }); n > 0 {
			t.Errorf("an outcome with the error %d takes %g allocations", o.Error, n)
		}
	}
}

func TestAnOutcomeBelongsToTheSecondItEndedIn(t *testing.T) {
	r := New(2)
	seconds := func() []int64 {
		second, m := r.take()
		return []int64{second, m.Requests}
	}
	r.Record(0, outcome(999*time.Millisecond, 1))
	r.Record(1, outcome(1000*time.Millisecond, 1)) // before its second is the current one
	r.Record(1, outcome(1999*time.Millisecond, 1))
	if got := seconds(); !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("the first second is %v", got)
	}
	r.Record(0, outcome(500*time.Millisecond, 1)) // too late for its second
	r.Record(0, outcome(9*time.Second, 1))        // far ahead, as if the taker had slept
	if got := seconds(); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("the second second is %v", got)
	}
	if got := seconds(); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("the third second is %v", got)
	}
	if got := r.Total().Requests; got != 5 {
		t.Errorf("%d requests in total", got)
	}
}

// TestNothingIsLost checks that the seconds taken while many connections record add up
// to what they recorded.
func TestNothingIsLost(t *testing.T) {
	const connections, each, requests = 8, 20_000, 4
	r := New(3)
	r.KeepRequests(requests)
	separate := make([][requests]result.Measure, connections)
	pooled := make([]result.Measure, connections)
	var group sync.WaitGroup
	for c := range connections {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range each {
				o := outcome(time.Duration(i)*500*time.Microsecond, time.Duration(random.Int64N(int64(2*time.Second))))
				o.Opened, o.Connect = i%10 == 0, o.Total/3
				if o.Named = i % requests; i%100 == 99 {
					o.Status, o.Error = 100+i%900, result.ErrorStatus
				}
				r.Record(c, o)
				o.addTo(&separate[c][o.Named])
				o.addTo(&pooled[c])
			}
		})
	}
	recorded := make(chan struct{})
	go func() {
		group.Wait()
		close(recorded)
	}()
	var sum result.Measure
	add := func() {
		_, m := r.take()
		sum.Merge(m)
	}
	for running := true; running; {
		select {
		case <-recorded:
			running = false
		default:
			add()
		}
	}
	add()
	add()

	var want result.Measure
	for i := range pooled {
		want.Merge(&pooled[i])
	}
	if got := text(t, &sum); got != text(t, &want) {
		t.Errorf("the seconds add up to\n%s, want\n%s", got, text(t, &want))
	}
	if got := text(t, r.Total()); got != text(t, &want) {
		t.Errorf("the total is\n%s, want\n%s", got, text(t, &want))
	}
	statuses, parts := r.Parts()
	if err := errors.Join(statuses.Check(&want.Counts), result.CheckRequests(parts, &want)); err != nil {
		t.Error(err)
	}
	if len(parts) != requests || len(statuses) != 10 || statuses[200] != want.Succeeded() || statuses[999] == 0 {
		t.Errorf("%d requests, statuses %v", len(parts), statuses)
	}
	for i := range parts {
		want, got := result.Measure{}, result.Measure{Counts: result.Counts{
			Requests: parts[i].Requests, Errors: parts[i].Errors, BytesSent: parts[i].BytesSent, BytesReceived: parts[i].BytesReceived, BodyBytes: parts[i].BodyBytes,
		}}
		got.Latencies[result.Total] = parts[i].Latency
		for c := range separate {
			want.Merge(&separate[c][i])
		}
		want.Counts = result.Counts{Requests: want.Requests, Errors: want.Errors, BytesSent: want.BytesSent, BytesReceived: want.BytesReceived, BodyBytes: want.BodyBytes}
		want.Latencies = result.Latencies{result.Total: want.Latencies[result.Total]}
		if text(t, &got) != text(t, &want) {
			t.Errorf("request %d has\n%s, want\n%s", i, text(t, &got), text(t, &want))
		}
	}
}

// TestOneRequestIsNotKeptApart: its metrics are those of all.
func TestOneRequestIsNotKeptApart(t *testing.T) {
	r := New(2)
	r.KeepRequests(1)
	r.Record(0, outcome(0, time.Millisecond))
	if statuses, requests := r.Parts(); requests != nil || statuses[200] != 1 || len(statuses) != 1 {
		t.Errorf("statuses %v, requests %v", statuses, requests)
	}
}

// BenchmarkRecord has the cost of recording an outcome, of a load of one request and of many.
func BenchmarkRecord(b *testing.B) {
	for _, requests := range []int{1, 8, 128} {
		b.Run(fmt.Sprint(requests), func(b *testing.B) {
			r := New(1)
			r.KeepRequests(requests)
			o := outcome(0, time.Millisecond)
			b.ReportAllocs()
			for i := range b.N {
				o.Named, o.Total = i%requests, time.Duration(i%4096)*time.Microsecond
				r.Record(0, o)
			}
		})
	}
}

func TestMemoryIsConstant(t *testing.T) {
	r := New(2)
	r.KeepRequests(2)
	second := time.Duration(0)
	pass := func() {
		for c := range 4 {
			o := outcome(second, 5*time.Millisecond)
			o.Opened, o.Named = true, c/2
			r.Record(c, o)
		}
		r.take()
		second += time.Second
	}
	for range 4 {
		pass()
	}
	// The outcomes of the test itself, and what hdrhistogram needs to merge.
	if allocations := testing.AllocsPerRun(100, pass); allocations > 100 {
		t.Errorf("%v allocations a second", allocations)
	}
}

func TestSamplerSendsEachSecond(t *testing.T) {
	r := New(1)
	done := make(chan struct{})
	var got []result.ClientSecond
	// The stage began 2.1 s ago, so that the third second is the one that ends.
	start := time.Now().Add(-2100 * time.Millisecond)
	s := NewSampler(r, start, nil, func(second *result.ClientSecond) {
		got = append(got, *second)
		if len(got) == 1 {
			r.Record(0, outcome(time.Since(start), time.Millisecond))
			close(done)
		}
	})
	r.Record(0, outcome(time.Since(start), time.Millisecond))
	s.Run(done)
	if len(got) != 2 || got[0].Second != 2 || got[1].Second != 3 || got[0].Requests != 1 || got[1].Requests != 1 {
		t.Fatalf("got %+v", got)
	}
	if elapsed := time.Since(start); elapsed < 3*time.Second {
		t.Errorf("the third second was sent after %v", elapsed)
	}
	var user, system int64
	var around *result.NodeUsage
	for _, second := range got {
		user += second.Usage.UserCPU
		system += second.Usage.SystemCPU
		around = around.Add(second.Node)
		if p := second.Phases[result.Total]; p != (result.PhaseTime{Count: 1, Sum: 1000, Max: 1000}) {
			t.Errorf("second %d: times %+v of a request that took 1 ms", second.Second, p)
		}
	}
	if all := s.NodeUsage(); around.ContextSwitches != all.ContextSwitches || around.CPUTime != all.CPUTime || around.CPUTime <= 0 {
		t.Errorf("around the seconds %+v, around all %+v", around, all)
	}
	if used := s.Usage(); used.UserCPU != user || used.SystemCPU != system || used.MaxResident < 1<<20 {
		t.Errorf("used %+v, the seconds add up to %d and %d", used, user, system)
	}
}

// TestSlicesAreSeconds has a process that uses the CPU only while others are loaded: that doesn't count. What ends meanwhile belongs to
// the slice before.
func TestSlicesAreSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start, done := New(1), time.Now(), make(chan struct{})
		slices := &profile.Slices{Variant: 1, Variants: 3} // its slices begin after 1, 4, 7 and 10 s
		var burned, counted int64
		s := NewSampler(r, start, slices, func(second *result.ClientSecond) {
			counted += second.Usage.CPU()
			if second.Requests != 2 {
				t.Errorf("second %d has %d requests", second.Second, second.Requests)
			}
			if end := time.Duration(3*second.Second+4) * time.Second; second.Second < 2 && time.Since(start) != end {
				t.Errorf("second %d was taken after %v", second.Second, time.Since(start))
			}
		})
		go func() {
			for _, at := range []time.Duration{500, 1500, 2500, 4500, 5500, 7500} {
				time.Sleep(time.Until(start.Add(at * time.Millisecond)))
				if now := time.Since(start); slices.Next(now) == now {
					r.Record(0, outcome(slices.Virtual(now), time.Millisecond))
					r.Record(0, outcome(slices.Virtual(now+time.Second), time.Millisecond))
					continue
				}
				before := usage.Read()
				for used := int64(0); used < 100_000; {
					now := usage.Read().Since(before)
					used = now.CPU()
				}
				burned += 100_000
			}
			close(done)
		}()
		s.Run(done)
		used := s.Usage()
		if used.CPU() != counted || 2*used.CPU() > burned || burned == 0 {
			t.Errorf("used %d µs, in the seconds %d µs, between them %d µs", used.CPU(), counted, burned)
		}
		if r.Total().Requests != 6 {
			t.Errorf("%d requests", r.Total().Requests)
		}
	})
}

// TestLevelsAreTheirSeconds checks that a level has the requests that completed or were
// dropped in its seconds, and that the others are only in the total.
func TestLevelsAreTheirSeconds(t *testing.T) {
	r := New(1)
	done := make(chan struct{})
	close(done)
	var taken result.Counts
	s := NewSampler(r, time.Now(), nil, func(second *result.ClientSecond) { taken.Add(second.Counts) })
	s.Levels(profile.Profile{
		{From: 1, To: 1, DurationMicroseconds: 1_000_000, Level: true}, {From: 2, To: 2, DurationMicroseconds: 1_000_000, Level: true},
	})
	r.Record(0, outcome(500*time.Millisecond, time.Millisecond))
	r.Record(0, outcome(1500*time.Millisecond, 2*time.Millisecond))
	r.Record(0, outcome(1600*time.Millisecond, 2*time.Millisecond))
	r.Drop(1700*time.Millisecond, 4)
	s.Run(done)
	levels, steps := s.LevelTotals()
	if len(steps) != 0 || levels[0].Seconds != 1 || levels[1].Seconds != 1 {
		t.Errorf("steps %+v, levels of %d s and %d s", steps, levels[0].Seconds, levels[1].Seconds)
	}
	if levels[0].Requests != 1 || levels[1].Requests != 2 || levels[1].Dropped != 4 || taken.Dropped != 4 || taken.Requests != 3 {
		t.Errorf("levels %+v and %+v of %+v", levels[0].Counts, levels[1].Counts, taken)
	}
	if h := levels[1].Latencies.Get(result.Total); h.Count() != 2 || h.Min() != 2000 || levels[1].Latencies[result.Waiting] != nil {
		t.Errorf("latencies of %d requests from %d µs", h.Count(), h.Min())
	}
}

// TestFailuresBelongToTheLevelThatSentThem checks that requests and pages that fail in a later level are of the level, or the step, in
// which they began.
func TestFailuresBelongToTheLevelThatSentThem(t *testing.T) {
	for _, begins := range []profile.Segment{{From: 1, To: 1, DurationMicroseconds: 1_000_000, Level: true}, {To: 1, DurationMicroseconds: 1_000_000}} {
		r := New(2)
		done := make(chan struct{})
		close(done)
		var taken result.Counts
		s := NewSampler(r, time.Now(), nil, func(second *result.ClientSecond) { taken.Add(second.Counts) })
		s.Levels(profile.Profile{begins, {From: 2, To: 2, DurationMicroseconds: 1_000_000, Level: true}})
		failed := func(ended, total time.Duration) *Outcome {
			o := outcome(ended*time.Millisecond, total*time.Millisecond)
			o.Error, o.Status = result.ErrorTimeout, 0
			return o
		}
		late := failed(1900, 200)
		late.Schedule(time.Second) // it waited since second 0, and was sent in second 1
		for i, o := range []*Outcome{failed(1100, 900), failed(1200, 100), failed(1500, 9000), outcome(1500*time.Millisecond, time.Second), late} {
			r.Record(i, o)
		}
		r.Page(0, &Page{Ended: 1600 * time.Millisecond, Took: time.Second, Failed: true, EndsRound: true, RoundFailed: true})
		s.Run(done)
		levels, steps := s.LevelTotals()
		if !begins.Level {
			levels = append(steps, levels...)
		}
		first, last := levels[0].Counts, levels[1].Counts
		if taken.Requests != 5 || taken.Errors.Total() != 4 || taken.FailedPages != 1 {
			t.Errorf("the seconds have %+v", taken)
		}
		if first.Requests != 2 || first.Errors[result.ErrorTimeout] != 2 || first.Pages != 1 || first.FailedPages != 1 || first.FailedRounds != 1 {
			t.Errorf("the first has %+v", first)
		}
		if last.Requests != 3 || last.Errors[result.ErrorTimeout] != 2 || last.Pages != 0 || last.FailedPages != 0 || last.FailedRounds != 0 {
			t.Errorf("the last has %+v", last)
		}
	}
}

// TestLevelsEndWithTheLoad checks that steps between levels have metrics of their own, and that none has
// what completes after a load was ended early.
func TestLevelsEndWithTheLoad(t *testing.T) {
	r := New(1)
	done := make(chan struct{})
	close(done)
	s := NewSampler(r, time.Now(), nil, func(*result.ClientSecond) {})
	s.Levels(profile.Profile{
		{To: 5, DurationMicroseconds: 1_000_000}, {From: 5, To: 5, DurationMicroseconds: 1_000_000, Level: true},
		{From: 5, To: 9, DurationMicroseconds: 3_000_000}, {From: 9, To: 9, DurationMicroseconds: 1_000_000, Level: true},
	})
	for _, at := range []time.Duration{100, 1100, 1200} {
		r.Record(0, outcome(at*time.Millisecond, time.Millisecond))
	}
	s.EndLevels(1)
	s.Run(done)
	levels, steps := s.LevelTotals()
	if len(steps) != 2 || steps[0].Requests != 1 || steps[0].Seconds != 1 || steps[1].Seconds != 0 {
		t.Errorf("steps %+v", steps)
	}
	if len(levels) != 2 || levels[0].Requests != 0 || levels[0].Seconds != 0 || r.Total().Requests != 3 {
		t.Errorf("levels %+v of %d requests", levels, r.Total().Requests)
	}
}

func text(t *testing.T, m *result.Measure) string {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
