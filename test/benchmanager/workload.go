package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// perSecond is the number of requests of a client in a second.
	perSecond = 2000
	// variants is the number of different seconds and totals. The clients share them.
	variants = 50
)

// workload holds the load of all clients of a case and the times of their sessions.
type workload struct {
	seconds int // of each client's measurement
	sent    []*result.ClientSecond
	sums    []*result.Totals

	mu        sync.Mutex
	delays    []time.Duration
	started   bool // the first measurement
	retries   int
	lastRetry error
}

// newWorkload returns the load of clients that each send the given number of seconds. Latencies are
// log-normal around 5 ms, with a tail to half a second.
func newWorkload(seconds int) *workload {
	f := &workload{seconds: seconds}
	random := rand.New(rand.NewPCG(1, 2))
	record := func(m *result.Measure, phase result.Phase, requests int, mean float64) {
		h := m.Latencies.Of(phase)
		for range requests {
			h.Record(int64(mean * (0.5 + random.ExpFloat64())))
		}
		h.Pack() // so that it is encoded once
	}
	usage := result.ClientUsage{UserCPU: 200_000, SystemCPU: 300_000, MaxResident: 50 << 20}
	for range variants {
		second := &result.ClientSecond{Usage: usage}
		second.Requests, second.KeepAlive, second.BytesReceived = perSecond, perSecond, perSecond*1200
		for _, phase := range []result.Phase{result.Processing, result.Waiting, result.Receiving, result.Total} {
			record(&second.Measure, phase, perSecond, 5000)
		}
		second.Phases, second.Sketches = second.Latencies.Times(), second.Latencies.Sketches()
		second.Latencies = result.Latencies{result.Total: second.Latencies[result.Total]} // as a client sends it
		f.sent = append(f.sent, second)
		totals := &result.Totals{Usage: usage}
		totals.Requests, totals.KeepAlive, totals.BytesReceived = 50_000, 50_000, 50_000*1200
		for _, phase := range []result.Phase{result.Processing, result.Waiting, result.Receiving, result.Total} {
			record(&totals.Measure, phase, 50_000, 5000)
		}
		record(&totals.Measure, result.Connect, 25, 300)
		f.sums = append(f.sums, totals)
	}
	return f
}

// second returns what a client sends of a second.
func (f *workload) second(client, number int) *result.ClientSecond {
	second := *f.sent[(client+number)%variants]
	second.Second = int64(number)
	return &second
}

func (f *workload) totals(client int) *result.Totals { return f.sums[client%variants] }

// start notes that a measurement starts.
func (f *workload) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = true
}

func (f *workload) hasStarted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started
}

func (f *workload) merged(delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delays = append(f.delays, delay)
}

func (f *workload) retried(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retries++
	f.lastRetry = err
}
