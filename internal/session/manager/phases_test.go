package manager

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/series"
)

// drawn returns a second with requests whose waiting times are drawn at random, longer ones for each client, and
// without sketches.
func drawn(client uint64, requests int64) *result.ClientSecond {
	random := rand.New(rand.NewPCG(client, 2))
	s := &result.ClientSecond{}
	s.Requests = requests
	for range requests {
		took := int64(random.ExpFloat64() * float64(9900*client+100))
		s.Latencies.Of(result.Waiting).Record(took)
		s.Latencies.Of(result.Receiving).Record(0)
		s.Latencies.Of(result.Total).Record(took)
	}
	s.Phases = s.Latencies.Times()
	return s
}

// TestPercentilesOfSentPhases sends seconds as clients do.
func TestPercentilesOfSentPhases(t *testing.T) {
	b := newBench(t)
	at := b.Now() - 100_000_000
	want := series.NewClients()
	for i := range 2 {
		c := b.join(clientOf("run", i))
		b.Start("run", measurement, at)
		c.SendSecond(measurement, drawn(uint64(i), 1000))
		sketched := drawn(uint64(i), 1000)
		sketched.Sketches = sketched.Latencies.Sketches()
		want.Add(sketched, 1)
	}
	b.await("run", "sent", func(o session.Observation) bool { return o.Progress[measurement].Requests == 2000 })
	if diff := cmp.Diff(want.Seconds()[0].Phases, b.Series("run")[0].Phases); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
