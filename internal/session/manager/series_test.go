package manager

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager/limit"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// TestSeriesIsThatOfAllSamplesPooled sends many seconds of several clients, in
// the order of a resend, and compares each entry with the histogram of all its
// samples.
func TestSeriesIsThatOfAllSamplesPooled(t *testing.T) {
	for _, test := range []struct {
		clients, seconds, width int64
	}{{3, 1, 1}, {3, 150, 1}, {1, 600, 1}, {2, 601, 2}, {1, 1300, 4}} {
		random := rand.New(rand.NewPCG(1, 2))
		s := newSeries()
		pooled := map[int64]*result.Histogram{}
		for range test.clients {
			for second := range test.seconds {
				sample := &result.ClientSecond{Second: second, Usage: result.ClientUsage{
					UserCPU: 10, SystemCPU: 1, Throttled: 2, SchedulingLatencyP99: second + 5, GCPause: 3, GCPauseMax: 3 * second,
				}}
				for range 5 {
					took := int64(random.ExpFloat64() * 1000)
					sample.Latencies.Of(result.Total).Record(took)
					key := second / test.width
					if pooled[key] == nil {
						pooled[key] = result.NewHistogram()
					}
					pooled[key].Record(took)
				}
				sample.Requests, sample.BytesReceived = 6, 100
				sample.Errors[result.ErrorTimeout] = 1
				sample.Phases[result.Waiting] = result.PhaseTime{Count: 5, Sum: 50, Max: second + 1}
				s.add(sample, 1)
			}
		}
		var want []result.Second
		for key, h := range pooled {
			width := min(test.width, test.seconds-key*test.width)
			n, last := width*test.clients, key*test.width+width-1
			one := result.Second{
				Second: key * test.width, Seconds: test.width, ClientCPU: 11 * n,
				ClientThrottled: 2 * n, ClientSchedulingLatencyP99: last + 5, ClientGCPauseMax: 3 * last,
				P50: h.Percentile(50), P90: h.Percentile(90), P99: h.Percentile(99), Max: h.Max(), Sketch: h.Sketch(),
			}
			counts := result.Counts{Requests: 6 * n, BytesReceived: 100 * n, Errors: result.ErrorCounts{result.ErrorTimeout: n}}
			one.SetCounts(counts, result.PhaseTimes{result.Waiting: {Count: 5 * n, Sum: 50 * n, Max: last + 1}})
			want = append(want, one)
		}
		slices.SortFunc(want, func(a, b result.Second) int { return int(a.Second - b.Second) })
		if diff := cmp.Diff(want, s.seconds()); diff != "" {
			t.Errorf("%d seconds: %s", test.seconds, diff)
		}
		if len(s.open) > openEntries {
			t.Errorf("%d open entries", len(s.open))
		}
	}
}

// TestSeriesOfJoinedSeconds sends several seconds of a client as one.
// TestSeriesIsReadAgain checks that what a client sends after the series was read counts, also in entries that have
// been joined since.
func TestSeriesIsReadAgain(t *testing.T) {
	s := newSeries()
	want := func(p99, longest int64, seconds int) {
		t.Helper()
		if got := s.seconds(); len(got) != seconds || got[0].P99 != p99 || got[0].Max != longest {
			t.Errorf("%d entries, the first has %d µs and %d µs; want %d, %d and %d", len(got), got[0].P99, got[0].Max, seconds, p99, longest)
		}
	}
	s.add(second(0, 10), 1)
	want(10, 10, 1)
	s.add(second(0, 20), 1) // of another client
	want(20, 20, 1)
	s.add(second(1, 30), 1)
	want(20, 20, 2)
	s.add(second(seriesLength, 5), 1)
	want(30, 30, 2)
}

func TestSeriesOfJoinedSeconds(t *testing.T) {
	s := newSeries()
	s.add(second(0, 1), 1)
	s.add(second(1, 2), 1)
	s.add(second(4, 3, 4, 5), 3) // 4 to 6
	var got []int64
	for _, e := range s.seconds() {
		got = append(got, e.Second, e.Seconds, e.Requests)
	}
	if diff := cmp.Diff([]int64{0, 4, 2, 4, 4, 3}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUsage(t *testing.T) {
	const s = 1_000_000
	reading := func(at, cpu, resident int64) *result.ServerUsage {
		return &result.ServerUsage{At: at, UserCPU: cpu, Resident: resident}
	}
	tests := map[string]struct {
		start    int64
		readings []*result.ServerUsage
		begin    int64 // time of the sample
		cpu      []int64
		resident []int64
		peak     float64
		rss      int64
	}{
		"on time": {
			10 * s, []*result.ServerUsage{reading(10*s, 100, 5), reading(11*s, 500_100, 7), reading(12*s, 1_400_100, 6)},
			10 * s, []int64{500_000, 900_000, -1}, []int64{7, 6, -1}, 90, 7,
		},
		"late by some milliseconds": {
			10 * s, []*result.ServerUsage{reading(10*s+4000, 0, 5), reading(11*s+4000, s/2, 7), reading(12*s+4000, s, 6)},
			10*s + 4000, []int64{498_000, 500_000, 2000}, []int64{7, 6, 6}, 50, 7,
		},
		"read before": {
			10 * s, []*result.ServerUsage{reading(5*s, 0, 900), reading(9*s, 100, 900), reading(10*s+1000, 200, 5), reading(11*s+1000, 1200, 6)},
			10*s + 1000, []int64{1000, 1, -1}, []int64{6, 6, -1}, 0.1, 6,
		},
		"ended within a second": {
			10 * s, []*result.ServerUsage{reading(10*s, 0, 5), reading(10*s+400_000, 300_000, 8)},
			10 * s, []int64{300_000, -1, -1}, []int64{8, -1, -1}, 75, 8,
		},
		"too late": {
			10 * s, []*result.ServerUsage{reading(11*s, 5, 5), reading(12*s, 6, 5)},
			11 * s, []int64{-1, 1, -1}, []int64{-1, 5, -1}, 0.0001, 5,
		},
		"backwards": {
			10 * s, []*result.ServerUsage{reading(10*s, 5, 5), reading(9*s, 900, 900), reading(11*s, 7, 5)},
			10 * s, []int64{2, -1, -1}, []int64{5, -1, -1}, 0.0002, 5,
		},
		"none": {10 * s, nil, 0, []int64{-1, -1, -1}, []int64{-1, -1, -1}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, startFirst := range []bool{true, false} {
				u := newUsage(0)
				if startFirst {
					u.setStart(test.start)
				}
				for i, r := range test.readings {
					if !startFirst && i == 1 {
						u.setStart(test.start)
					}
					u.add(r)
				}
				var begin int64
				if u.Begin != nil {
					begin = u.Begin.At
				}
				var cpu, resident []int64
				for i := range int64(3) {
					var second result.Second
					used, ok := u.samples.between(test.start+i*s, test.start+(i+1)*s)
					second.SetServer(&used, ok)
					cpu, resident = append(cpu, second.ServerCPU), append(resident, second.ServerResident)
				}
				if diff := cmp.Diff([]any{test.begin, test.cpu, test.resident, test.peak, test.rss}, []any{begin, cpu, resident, u.peak(), u.PeakResident}); diff != "" {
					t.Errorf("start first %t: %s", startFirst, diff)
				}
			}
		})
	}
}

func TestUsageIsBounded(t *testing.T) {
	u := newUsage(0)
	u.setStart(1_000_000)
	const n = 3 * maxPoints
	for i := range int64(n) {
		u.add(&result.ServerUsage{At: (i + 1) * 1_000_000, UserCPU: i * 1000})
	}
	if len(u.samples.points) > maxPoints {
		t.Errorf("%d readings are kept", len(u.samples.points))
	}
	if used, _ := u.samples.between(1_000_000, 24_001_000_000); used.UserCPU != 24_000_000 {
		t.Errorf("CPU time %d", used.UserCPU)
	}
}

// BenchmarkReceiveSecond receives a sample second of one client, encoded. With a thousand
// clients there are a thousand of them each second. The sketches of the phases of open load
// over TLS are the most that there are.
func BenchmarkReceiveSecond(b *testing.B) {
	for _, test := range []struct {
		name     string
		requests int
		phases   []result.Phase
	}{
		{"total", 2000, nil},
		{"closed", 2000, []result.Phase{result.Processing, result.Waiting, result.Receiving}},
		{"open over TLS", 2000, []result.Phase{result.Connect, result.TLS, result.Processing, result.Waiting, result.Receiving, result.Delay, result.Service}},
	} {
		b.Run(test.name, func(b *testing.B) {
			encoded := make([][]byte, 50) // of different clients
			random := rand.New(rand.NewPCG(1, 2))
			for i := range encoded {
				s := &result.ClientSecond{}
				s.Requests = int64(test.requests)
				for _, p := range append(test.phases, result.Total) {
					for range test.requests {
						s.Latencies.Of(p).Record(int64(5000 * (0.5 + random.ExpFloat64()) / float64(p+1)))
					}
				}
				s.Phases, s.Sketches = s.Latencies.Times(), s.Latencies.Sketches()
				s.Latencies = result.Latencies{result.Total: s.Latencies[result.Total]}
				var err error
				if encoded[i], err = proto.Marshal(sampleMessage(b, 1, measurement, s)); err != nil {
					b.Fatal(err)
				}
			}
			start := int64(1_700_000_000_000_000)
			r := newRun()
			st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
			if err := r.join(st, clientOf("run", 0), &sessionpb.Hello{Role: client, Starts: started(start)}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var i int64
			for b.Loop() {
				m := &sessionpb.PodMessage{}
				if err := limit.Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(encoded[i%int64(len(encoded))])}, m); err != nil {
					b.Fatal(err)
				}
				m.Number, m.GetClientSample().Second = uint64(i+1), i/1000
				r.clients[0].seconds[measurement] = 0
				if _, err := r.receive(st, m, start+3600_000_000); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(len(encoded[0])), "bytes/message")
		})
	}
}
