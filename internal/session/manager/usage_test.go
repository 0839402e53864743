package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// TestContainersOfTheTarget sends samples of a server and two containers behind it,
// one of which appears during the measurement.
func TestContainersOfTheTarget(t *testing.T) {
	b := newBench(t)
	watcher, c := b.join(agentOf("run")), b.join(clientOf("run", 0))
	reading := func(at, server int64, backends ...result.BackendUsage) *result.ServerSample {
		r := &result.ServerSample{Server: result.ServerUsage{At: at, UserCPU: server, BytesSent: 9, AgentCPUs: "0"}, Backends: backends}
		for i := range r.Backends {
			r.Backends[i].At, r.Backends[i].AgentCPUs = at, "0"
		}
		return r
	}
	used := func(name string, cpu, resident int64) result.BackendUsage {
		return result.BackendUsage{Name: name, ServerUsage: result.ServerUsage{SystemCPU: cpu, Resident: resident, CPUs: "2"}}
	}
	b.await("run", "connected", func(o session.Observation) bool { return o.Agent != nil && o.Agent.Connected })
	if server, backends := b.Observe("run").Agent.Measured(); server != nil || backends != nil {
		t.Errorf("measured %v, %v before there was a reading", server, backends)
	}

	at := b.Now() - 3_000_000
	watcher.SendServerSample(reading(at-1_000_000, 1, used("tomcat", 50_000, 900)))
	o := b.await("run", "read", func(o session.Observation) bool { return o.Agent.Latest != nil })
	if len(o.Agent.Backends) != 1 || o.Agent.Backends[0].Latest.CPUs != "2" || o.Agent.Backends[0].Begin != nil {
		t.Errorf("before the measurement: %+v", o.Agent)
	}
	b.Start("run", measurement, at)
	order[pod.Start](t, watcher)
	order[pod.Start](t, c)
	for i := range int64(3) {
		c.SendSecond(measurement, second(i, 5))
		all := []result.BackendUsage{used("tomcat", 100_000+i*i*200_000, 100+i)}
		if i > 0 {
			all = append(all, used("cache", i*300_000, 7))
		}
		watcher.SendServerSample(reading(at+i*1_000_000, i*400_000, all...))
	}
	o = b.await("run", "measured", func(o session.Observation) bool {
		return o.Progress[measurement].Requests == 3 && o.Agent.Latest.At == at+2_000_000
	})
	server, backends := o.Agent.Measured()
	if server.Begin.At != at || server.End.BytesSent != 9 || server.PeakCPUPercent != 40 {
		t.Errorf("server %+v", server)
	}
	metric := func(at, cpu, resident int64) result.ServerUsage {
		return result.ServerUsage{At: at, SystemCPU: cpu, Resident: resident, CPUs: "2", AgentCPUs: "0"}
	}
	if diff := cmp.Diff([]result.Backend{
		{Name: "cache", Server: result.Server{
			Begin: metric(at+1_000_000, 300_000, 7), End: metric(at+2_000_000, 600_000, 7), PeakCPUPercent: 30, PeakResident: 7,
		}},
		{Name: "tomcat", Server: result.Server{
			Begin: metric(at, 100_000, 100), End: metric(at+2_000_000, 900_000, 102), PeakCPUPercent: 60, PeakResident: 102,
		}},
	}, backends); diff != "" {
		t.Errorf("backends (-want +got):\n%s", diff)
	}
	var cpu []map[string]int64
	for _, s := range b.Series("run") {
		cpu = append(cpu, s.BackendCPU)
	}
	if diff := cmp.Diff([]map[string]int64{
		{"tomcat": 200_000, "cache": -1}, {"tomcat": 600_000, "cache": 300_000}, {"tomcat": -1, "cache": -1},
	}, cpu); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}

	var none *session.AgentState
	if server, backends := none.Measured(); server != nil || backends != nil {
		t.Error("measured without an agent")
	}
}

// TestNodeOfTheTarget sends what happened around the target and two clients, for a measurement that
// begins between two samples.
func TestNodeOfTheTarget(t *testing.T) {
	b := newBench(t)
	watcher := b.join(agentOf("run"))
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1))}
	at := b.Now() - 4_000_000
	send := func(at, other, queue int64) {
		node := result.UnknownNode()
		node.OtherCPU, node.RunQueue = other, queue
		watcher.SendServerSample(&result.ServerSample{Server: result.ServerUsage{At: at}, Node: node, Governor: "performance", Machine: result.Machine{CPUs: 8}})
	}
	send(at-500_000, 1_000_000, 90)
	b.Start("run", measurement, at)
	order[pod.Start](t, watcher)
	for i, c := range clients {
		order[pod.Start](t, c)
		for second := range int64(2) {
			s := &result.ClientSecond{Second: second, Measure: *measure(1), Node: &result.NodeUsage{Steal: 10 + second, RunQueue: int64(i)}}
			c.SendSecond(measurement, s)
		}
	}
	for i, sample := range [][2]int64{{1_100_000, 3}, {1_200_000, 9}, {1_800_000, 5}} {
		send(at+500_000+int64(i)*1_000_000, sample[0], sample[1])
	}
	o := b.await("run", "sampled", func(o session.Observation) bool {
		return o.Progress[measurement].Requests == 4 && o.Agent.Latest != nil && o.Agent.Latest.At == at+2_500_000
	})
	// Half of the second before the first sample, and the two after it.
	if n := o.Agent.NodeUsage; n == nil || n.OtherCPU != 750_000 || n.RunQueue != 9 || n.Steal != result.Unknown || o.Agent.Governor != "performance" || o.Agent.Machine.CPUs != 8 {
		t.Errorf("%+v, governor %q", n, o.Agent.Governor)
	}
	type metrics struct{ Other, Queue, Steal, ClientSteal, ClientQueue int64 }
	var got []metrics
	for _, s := range b.Series("run") {
		got = append(got, metrics{s.Node.OtherCPU, s.Node.RunQueue, s.Node.Steal, s.ClientNode.Steal, s.ClientNode.RunQueue})
	}
	if diff := cmp.Diff([]metrics{{100_000, 3, -1, 20, 1}, {350_000, 9, -1, 22, 1}}, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}
