package manager

import (
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager/limit"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

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
