package pod

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// busy returns a second of a client that sends 5,000 requests per second.
func busy(t testing.TB, random *rand.Rand, total *result.Histogram, second int64) *sessionpb.PodMessage {
	t.Helper()
	m := &result.ClientSecond{Second: second, Usage: result.ClientUsage{UserCPU: 1}}
	m.Requests = 5_000
	for range m.Requests {
		m.Latencies.Of(result.Total).Record(200 + int64(random.ExpFloat64()*300))
	}
	total.Merge(m.Latencies[result.Total])
	w, err := session.SecondToWire(measurement, m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: w}}
}

// TestManagerAwayForHalfAnHour checks what a busy client keeps without a manager: it
// is bounded, in spans of the manager's series, and its sums are exact.
func TestManagerAwayForHalfAnHour(t *testing.T) {
	const length = 1800
	random, total := rand.New(rand.NewPCG(1, 2)), result.NewHistogram()
	total.Record(1) // its buckets are the test's own, and not among what is kept
	total.Reset()
	k := kept{limit: keptBytes}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // pools, which keep a compressor of a megabyte, are empty after the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	fill := func(k *kept) {
		for second := range int64(length) {
			if err := k.add(busy(t, random, total, second)); err != nil {
				t.Fatal(err)
			}
			if k.size > keptBytes {
				t.Fatalf("%d bytes after %d s", k.size, second+1)
			}
		}
	}
	// What the first client allocates for all, such as tables of codes, isn't kept for it.
	fill(&kept{limit: keptBytes})
	total.Reset()
	before := heap()
	fill(&k)
	// In addition to the messages there are their slices, with room to grow.
	if grown := int64(heap()) - int64(before); grown > keptBytes*3/2 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	t.Logf("%d messages, %d bytes", len(k.messages), k.size)
	if n := len(k.messages); n < 100 || n > length/2 {
		t.Errorf("%d seconds are kept as %d messages", length, n)
	}
	var second, requests, cpu int64
	all := result.NewHistogram()
	for i := range k.messages {
		body, err := k.messages[i].body()
		if err != nil {
			t.Fatal(err)
		}
		s := body.GetClientSample()
		width := max(s.GetSeconds(), 1)
		if s.GetSecond() != second || width&(width-1) != 0 || s.GetSecond()%width != 0 {
			t.Errorf("a message of the seconds %d to %d after second %d", s.GetSecond(), s.GetSecond()+width-1, second-1)
		}
		second += width
		measure, _, err := session.SecondFromWire(s)
		if err != nil {
			t.Fatal(err)
		}
		requests += measure.Requests
		cpu += s.GetUsage()[0]
		all.Merge(measure.Latencies.Get(result.Total))
	}
	if second != length || requests != 5_000*length || cpu != length {
		t.Errorf("%d seconds, %d requests, %d µs", second, requests, cpu)
	}
	want, err := total.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := all.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(got, want) {
		t.Error("the merged histogram isn't that of all requests")
	}
}
