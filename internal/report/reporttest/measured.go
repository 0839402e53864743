package reporttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// Measured returns a result of clients for seconds, whose metrics vary from second to second: at a third of the time the
// server pauses, at two thirds some requests fail. The same arguments always give the same result.
func Measured(clients, seconds int) *result.Result { return measured(clients, seconds, false) }

// Full is like Measured, with the sketch of each second, as results in buckets have them.
func Full(clients, seconds int) *result.Result { return measured(clients, seconds, true) }

func measured(clients, seconds int, full bool) *result.Result {
	random := rand.New(rand.NewPCG(1, 2))
	r := Tomcat()
	r.Run.Name, r.Run.Connections = "measured", int64(50)
	r.Run.MeasurementTime = time.Date(2026, 11, 22, 13, 30, 0, 0, time.UTC)
	r.Environment.ClientCPULimit, r.Environment.TargetCPULimit = 2000, 4000
	r.Findings = []result.Finding{
		{Reason: "StartSkew", Severity: result.Warns, Message: "The clients started 12.3ms apart. Give them CPUs of their own.", Seconds: &result.Span{}},
		{Reason: "SharedNode", Severity: result.Warns, Message: "Clients and target share node-1. Use a second node."},
	}
	r.Server.Begin.At, r.Server.End.At = 0, int64(seconds)*1e6
	r.Server.End.UserCPU, r.Server.End.SystemCPU = r.Server.Begin.UserCPU, r.Server.Begin.SystemCPU
	all := make([]result.Client, clients)
	for i := range all {
		c := &all[i]
		*c = result.Client{Index: i, Node: fmt.Sprintf("node-%d", i%2+1), StartSkewMicroseconds: int64(i*900 - 2000), ClockErrorMicroseconds: 210}
		c.StartedAt, c.EndedAt = 1_000_000, 1_000_000+int64(seconds)*1e6
		c.Warmup, c.WarmupMicroseconds = &result.Counts{Requests: 9000, BytesReceived: 16_000_000}, 4_000_000
		c.Usage.MaxResident, c.Usage.Throttled = 60<<20, 0
	}
	var measure result.Measure // of a second
	for s := range seconds {
		second := result.Second{Second: int64(s), Seconds: 1}
		measure.Counts = result.Counts{}
		for _, h := range measure.Latencies {
			if h != nil {
				h.Reset()
			}
		}
		slow := 1.0
		if s == seconds/3 {
			slow = 20
		}
		rate := 430 + random.IntN(40)
		for i := range all {
			c := &all[i]
			record := func(p result.Phase, microseconds int64) {
				c.Latencies.Of(p).Record(microseconds)
				measure.Latencies.Of(p).Record(microseconds)
			}
			var one result.Counts
			for range 20 { // a sample of the second's requests stands for all of them
				wait := int64(math.Exp(8.4+0.5*random.NormFloat64()) * slow)
				if random.IntN(60) == 0 {
					wait *= 12
				}
				received := int64(200 + random.IntN(300))
				record(result.Waiting, wait)
				record(result.Receiving, received)
				record(result.Processing, wait+received+20)
				record(result.Total, wait+received+20)
			}
			one.Requests = 20
			if s == 2*seconds/3 {
				one.Errors[result.ErrorTimeout], one.Errors[result.ErrorReceive] = 3, 2
				one.Requests += 5
			}
			one.KeepAlive, one.BytesReceived = one.Requests, one.Requests*31_950
			one.BodyBytes, one.BytesSent = one.Requests*31_819, one.Requests*110
			c.Add(one)
			c.Usage.UserCPU += 700_000 + int64(random.IntN(100_000)) + int64(i)*20_000
			measure.Add(one)
		}
		second.SetCounts(measure.Counts, measure.Latencies.Times())
		second.SetLatency(measure.Latencies.Get(result.Total))
		if full {
			second.Sketch = measure.Latencies.Get(result.Total).Sketch()
		}
		second.ClientCPU = int64(clients) * int64(700_000+random.IntN(100_000))
		second.ClientSchedulingLatencyP99, second.ClientGCPauseMax = int64(80+random.IntN(60)), int64(random.IntN(900))
		used := &result.ServerUsage{UserCPU: int64(rate) * 4800, SystemCPU: int64(rate) * 1200, Resident: 300<<20 + int64(s)<<10, GCPauses: 0, GCPauseMax: 0, HeapUsed: -1, Descriptors: -1, Threads: 210, CompilerCPU: int64(s%8) * 10_000}
		if slow > 1 {
			used.GCPauses, used.GCPause, used.GCPauseMax = 1, 180_000, 180_000
		}
		r.Server.End.UserCPU += used.UserCPU
		r.Server.End.SystemCPU += used.SystemCPU
		second.SetServer(used, true)
		node := result.UnknownNode()
		node.CPUTime, node.Idle, node.OtherCPU, node.Steal = 4e6, int64(random.IntN(1e6)), int64(random.IntN(100_000)), 0
		node.SegmentsSent, node.SegmentsRetransmitted, node.ListenOverflows = 20_000, int64(random.IntN(3)), 0
		second.Node = node
		r.Series = append(r.Series, second)
	}
	r.AddClients(all)
	r.Warmup.Steady = &result.Steadiness{Reached: true, ThroughputPercent: 5, P99Percent: 25, Windows: []result.WarmupWindow{
		{Second: 1, Seconds: 1, Succeeded: int64(19 * clients), P99: 60_000}, {Second: 2, Seconds: 1, Succeeded: int64(20 * clients), P99: 50_000}, {Second: 3, Seconds: 1, Succeeded: int64(20 * clients), P99: 52_000},
	}}
	return r
}
