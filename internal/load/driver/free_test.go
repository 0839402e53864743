package driver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkFreeStreams measures how fast the free streams of an open load over HTTP/2 are put and
// picked, with as many streams as a load may have. A number of them are busy.
func BenchmarkFreeStreams(b *testing.B) {
	const streams = 20_000
	all := make([]*connection, streams)
	for i := range all {
		all[i] = &connection{number: i, shared: &sharedConnection{}}
	}
	for _, order := range []string{"ascending", "random"} {
		b.Run("start/"+order, func(b *testing.B) {
			numbers := rand.New(rand.NewPCG(1, 2)).Perm(streams)
			if order == "ascending" {
				slices.Sort(numbers)
			}
			for b.Loop() {
				a := &arrivals{stage: &Stage{connections: all}}
				a.makeFreeStreams(streams)
				for _, i := range numbers {
					a.put(all[i])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*streams), "ns/put")
		})
	}
	for _, busy := range []int{100, 10_000, 19_800} {
		b.Run(fmt.Sprintf("busy/%d", busy), func(b *testing.B) {
			a := &arrivals{stage: &Stage{connections: all}}
			a.makeFreeStreams(streams)
			for i := range all {
				a.put(all[streams-1-i])
			}
			random := rand.New(rand.NewPCG(1, 2))
			var used []*connection
			for range busy {
				used = append(used, a.pick())
			}
			for b.Loop() {
				i := random.IntN(busy)
				a.put(used[i])
				used[i] = a.pick()
			}
		})
	}
}
