package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager/series"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/steady"
)

// TestManagerAway kills the manager for half an hour of a client's measurement. The
// client merges seconds meanwhile. The next manager receives all metrics.
func TestManagerAway(t *testing.T) {
	const length, requests = 1800, 200
	b := newBench(t)
	c := b.join(clientOf("run", 0))
	at := b.Now() - 3_600_000_000
	b.Start("run", measurement, at)
	order[pod.Start](t, c)
	c.SendSecond(measurement, second(0, 1))
	b.await("run", "the first second", func(o session.Observation) bool { return o.Progress[measurement].Requests == 1 })

	b.kill()
	want := result.NewHistogram()
	want.Record(1)
	for s := range int64(length) {
		took := make([]int64, requests)
		for i := range took {
			took[i] = 1 + s*7 + int64(i*i)*100
			want.Record(took[i])
		}
		c.SendSecond(measurement, second(1+s, took...))
	}
	totals := &result.Totals{StartedAt: at, EndedAt: at + (length+1)*1_000_000}
	totals.Requests = length*requests + 1
	totals.Latencies.Of(result.Total).Merge(want)
	c.SendTotals(totals)
	b.restart()

	o := b.await("run", "everything", collected(1))
	if got := o.Progress[measurement].Requests; got != length*requests+1 {
		t.Errorf("%d requests in the samples", got)
	}
	sum := int64(0)
	entries := b.Series("run")
	for i, s := range entries {
		sum += s.Requests
		if s.Seconds < 4 || i > 0 && s.Second != entries[i-1].Second+s.Seconds {
			t.Errorf("an entry of the seconds %d to %d", s.Second, s.Second+s.Seconds-1)
		}
	}
	if sum != length*requests+1 || len(entries) > series.MaxLength || len(entries) < series.MaxLength/4 {
		t.Errorf("%d requests in %d entries", sum, len(entries))
	}
	got, err := o.Clients[0].Totals.Latencies[result.Total].Encode()
	if err != nil {
		t.Fatal(err)
	}
	if encoded, err := want.Encode(); err != nil || !cmp.Equal(got, encoded) {
		t.Errorf("the totals' histogram isn't that of all requests (%v)", err)
	}
}

// TestWarmupUntilSteady checks that windows consist of seconds that all clients have
// sent, that a restarted manager has them, too, and that each client receives one
// End.
func TestWarmupUntilSteady(t *testing.T) {
	b := newBench(t)
	agent := b.join(agentOf("run"))
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1))}
	at := b.Now() - 60_000_000
	b.End("run") // has no effect before the warm-up
	b.Start("run", warmup, at)
	for _, c := range clients {
		order[pod.Start](t, c)
		order[pod.End](t, c)
	}
	order[pod.Start](t, agent)

	for s := range int64(10) {
		clients[0].SendSecond(warmup, second(s, 10, 20))
	}
	for s := range int64(7) {
		clients[1].SendSecond(warmup, second(s, 5000+s))
	}
	b.await("run", "the seconds", func(o session.Observation) bool { return o.Progress[warmup].Requests == 27 })
	for range 2 {
		if got := b.Windows("run", 2, steady.Defaults); len(got) != 1 || got[0].Succeeded != 15 || got[0].P99 < 5004 || got[0].P99 > 5008 {
			t.Errorf("windows %+v, want the first five seconds of both", got)
		}
		if got := b.Windows("run", 3, steady.Defaults); got != nil {
			t.Errorf("without the third client there are windows %+v", got)
		}
		b.restart()
		b.await("run", "the seconds again", func(o session.Observation) bool { return o.Progress[warmup].Requests == 27 })
	}
	if got := b.Windows("another", 1, steady.Defaults); got != nil {
		t.Errorf("windows of a run that isn't known: %+v", got)
	}
	// The restarted manager sends End again. The clients have received it before.
	b.End("run")
	for _, c := range clients {
		c.StageEnded(warmup)
	}
	b.await("run", "the end", count(2, func(c session.ClientState) bool { return c.WarmupEnded }))
	b.Start("run", measurement, b.Now())
	for _, c := range clients {
		order[pod.Start](t, c)
	}
	clients[0].SendSecond(warmup, second(10, 1))
	b.await("run", "the last second", func(o session.Observation) bool { return o.Progress[warmup].Requests == 28 })
	if got := b.Windows("run", 2, steady.Defaults); got != nil {
		t.Errorf("windows %+v are kept during the measurement", got)
	}
}
