package reporttest

import (
	"github.com/assay-dev/assay/internal/result"
)

// Opened returns the result Tomcat as one of an open load in which each request started
// 20 µs late, and ten were dropped.
func Opened() *result.Result {
	r := Tomcat()
	r.Run.Load, r.Run.Connections, r.Run.AllConnections = result.LoadOpen, 25, 49
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Dropped = 5
		c.Arrivals = &result.Arrivals{Due: 1005, PlannedMicroseconds: 2_000_000, StartedMicroseconds: 2_000_015}
		for _, bar := range c.Latencies.Get(result.Total).Bars() {
			c.Latencies.Of(result.Delay).Record(20)
			c.Latencies.Of(result.Service).Record(bar.From - 20)
		}
	}
	r.AddClients(r.Clients)
	r.Warmup.Steady = &result.Steadiness{ThroughputPercent: 5, P99Percent: 25, Windows: []result.WarmupWindow{
		{Second: 50, Seconds: 5, Succeeded: 9_000, P99: 9100}, {Second: 55, Seconds: 5, Succeeded: 10_400, P99: 5000}, {Second: 60, Seconds: 5, Succeeded: 0},
	}}
	return r
}

// Staged returns a result of levels like R5's, ended at the third, at which the application behind the server is
// saturated. The server's limit is 2 CPUs, the application's 1, that of both together 2.5.
func Staged() *result.Result {
	r := Tomcat()
	r.Run.Connections, r.Run.AllConnections = 300, 600
	r.Environment.TargetCPULimit, r.Environment.SharedCPULimit = 2000, 2500
	r.Environment.Backends = []result.BackendEnvironment{{Name: "app", Image: "tomcat:9.0", CPULimit: 1000}}
	level := func(of, start, end int64) result.Level {
		l := result.Level{TargetConnections: of, Start: start, End: end, ClientCPU: (end - start) * 100_000}
		l.Requests = (end - start) * 195 * of / 100
		l.BytesReceived = l.Requests * 2048
		for n := range int64(1000) {
			l.Latencies.Of(result.Total).Record((n + 1) * of / 20)
		}
		used := func(percent, resident int64) *result.Used {
			return &result.Used{UserCPU: (end - start) * percent * 8_000, SystemCPU: (end - start) * percent * 2_000, Resident: resident << 20}
		}
		node := result.UnknownNode()
		node.CPUTime, node.Idle = (end-start)*4_000_000, (end-start)*40_000*(100-of/10)
		l.SetTarget(&result.TargetUsage{
			Server: used(of/8, 40), Backends: map[string]*result.Used{"app": used(min(of/6, 99), 200+of/2)}, Node: node,
		})
		return l
	}
	levels := []result.Level{level(200, 30, 630), level(400, 660, 1260), level(600, 1290, 1350)}
	levels[2].Errors[result.ErrorConnect], levels[2].Errors[result.ErrorTimeout] = 4000, 100
	steps := []result.Step{{From: 0, Level: level(200, 0, 30)}, {From: 200, Level: level(400, 630, 660)}, {From: 400, Level: level(600, 1260, 1290)}}
	steps[2].Backends = nil // unknown
	r.AddLevels(levels, steps)
	r.BreakingPoints = []result.BreakingPoint{
		{Kind: result.BreakingCPU, Container: "server", Bound: "above 90%"},
		{Kind: result.BreakingCPU, Container: "app", Bound: "above 90%", Reached: true, Second: 1281, Seconds: 1, Connections: 543, Step: true, Actual: "90.6%"},
		{Kind: result.BreakingPodCPU, Bound: "above 90%"},
		{Kind: result.BreakingFailedRequests, Bound: "at least 1", Reached: true, Second: 1300, Seconds: 1, Connections: 600, Actual: "3"},
		{Kind: result.BreakingErrorRate, Bound: "at least 5%", Reached: true, Second: 1340, Seconds: 1, Connections: 600, Actual: "5.7%"},
		{Kind: result.BreakingThroughput, Bound: "less than 5% more with 20% more load"},
	}
	r.Stop = &result.Stop{BreakingPoint: r.BreakingPoints[4], End: 1350}
	return r
}

// Forwarding returns a result of an httpd that forwards to a Tomcat, with a cache of
// unknown usage.
func Forwarding() *result.Result {
	r := Tomcat()
	r.Run.Name, r.Run.Image, r.Run.Server = "httpd-tomcat", "httpd:2.4", "HTTPD event"
	r.Environment.TargetImageID, r.Environment.ServerSoftware = "sha256:4567", "Apache/2.4.66"
	r.Environment.Backends = []result.BackendEnvironment{
		{Name: "tomcat", Image: "tomcat:9.0", ImageID: "sha256:0123", CPULimit: 1500, CPUs: "2-3", CPUExclusivity: "Shared"},
		{Name: "cache", Image: "memcached:1.6", CPULimit: 100},
	}
	r.Backends = []result.Backend{{Name: "tomcat", Server: result.Server{
		Begin: result.ServerUsage{At: 0, UserCPU: 4e6, SystemCPU: 1e6, MinorFaults: 1000, VoluntarySwitches: 7, Throttled: 50_000, CompilerCPU: 4_800_000},
		End: result.ServerUsage{At: 2e6, UserCPU: 6e6, SystemCPU: 1_400_000, Resident: 500 << 20, MaxResident: 600 << 20,
			MinorFaults: 1500, MajorFaults: 2, VoluntarySwitches: 9007, InvoluntarySwitches: 800, Threads: 45, Descriptors: 120, Throttled: 250_000,
			GCPauses: 4, GCPause: 20_000, GCPauseMax: 9000, HeapUsed: 300 << 20, DescriptorLimit: 65_536, CompilerCPU: 5_400_000},
		PeakCPUPercent: 144, PeakResident: 520 << 20,
	}}}
	r.Server.Begin.GCPauses, r.Server.End.GCPauses = -1, -1
	r.Server.Begin.CompilerCPU, r.Server.End.CompilerCPU = -1, -1
	r.Series = []result.Second{
		{Second: 0, Seconds: 1, Requests: 1000, P50: 50_015, P90: 90_047, P99: 99_007, Max: 100_000, BytesReceived: 32_000_000,
			ClientCPU: 500_000, ServerCPU: 750_000, ServerResident: 200 << 20, BackendCPU: map[string]int64{"tomcat": 1_200_000}},
		{Second: 1, Seconds: 1, Requests: 1000, P50: 50_015, P90: 90_047, P99: 99_007, Max: 100_000, BytesReceived: 32_000_000,
			ClientCPU: 500_000, ServerCPU: 750_000, ServerResident: 210 << 20, BackendCPU: map[string]int64{"tomcat": -1}},
	}
	node := result.UnknownNode() // of a kernel without pressure, schedstat and cpufreq
	node.CPUTime, node.Idle, node.OtherCPU, node.Steal, node.IOWait, node.HardIRQ, node.SoftIRQ = 6e6, 1e6, 1_100_000, 60_000, 0, 0, 300_000
	node.RunQueue, node.ContextSwitches, node.PacketsProcessed, node.PacketsDropped = 7, 120_000, 90_000, 0
	node.PacketsReceived, node.PacketsSent, node.ReceiveDrops, node.SendDrops, node.SegmentsSent, node.SegmentsRetransmitted = 40_000, 50_000, 0, 0, 50_000, 12
	node.ListenOverflows, node.ListenDrops, node.AcceptQueue, node.AcceptQueueLimit = 3, 3, 101, 100
	node.Sockets, node.Established, node.TimeWait, node.SpuriousRetransmits = 60, 50, 4, 2
	r.NodeUsage, r.Environment.Governor = node, "performance"
	r.Environment.Machine = &result.Machine{CPUModel: "AMD EPYC 7763 64-Core Processor", CPUs: 8, MemoryBytes: 33_659_060_224, MaxFrequency: 3_529_052}
	r.Clients[1].NodeUsage = &result.NodeUsage{CPUTime: 4e6, Idle: 2e6, OtherCPU: 1e6, Steal: 40_000, SoftIRQ: 100_000, RunQueue: 5}
	r.Series[0].Node, r.Series[0].ClientNode = node, r.Clients[1].NodeUsage
	used := r.Backends[0].Spent()
	r.Series[0].SetBackend("tomcat", &used, true)
	return r
}

// Paged returns the result Staged as one of users with six connections each, who loaded pages of five requests and
// made rounds of four pages. Every tenth page failed at the last level.
func Paged() *result.Result {
	r := Staged()
	r.Run.UserConnections, r.Run.Sequential = 6, true
	r.Run.Requests = []result.Request{{Path: "/a.html", Weight: 3, Length: 1024, Elements: 4}, {Name: "checkout", Method: "POST", Path: "/order", Weight: 1, Length: -1, Elements: 4}}
	page := func(m *result.Measure, failed int64) {
		m.Pages = m.Requests / 5
		m.FailedPages = m.Pages * failed / 10
		m.Rounds, m.FailedRounds = m.Pages/4-m.FailedPages/2, m.FailedPages/2
		for n := range m.SucceededPages() {
			m.Latencies.Of(result.Page).Record(2000 + 1000*(n%100))
		}
	}
	for i := range r.Levels {
		page(&r.Levels[i].Measure, int64(i/2))
	}
	for i := range r.Steps {
		page(&r.Steps[i].Measure, 0)
	}
	for i := range r.Clients {
		page(&r.Clients[i].Measure, 1)
	}
	names := []string{"GET /a.html", "checkout", "GET /style.css"}
	for i := range r.Clients {
		split(&r.Clients[i], len(names))
	}
	levels, steps := r.Levels, r.Steps
	r.AddClients(r.Clients)
	r.AddRequests(names)
	r.Levels, r.Steps = levels, steps
	return r
}

// split distributes a client's requests over a number of them: the failed ones are of the second, the others of all in turn.
func split(c *result.Client, number int) {
	c.Statuses = result.Statuses{200: c.Succeeded() - 50, 302: 50}
	c.ContentEncodings = result.Encodings{"gzip": 40, "br": 2}
	c.ByRequest = make([]result.RequestMetrics, number)
	for i := range c.ByRequest {
		m := &c.ByRequest[i]
		m.BytesSent, m.BytesReceived, m.BodyBytes = c.BytesSent/int64(number), c.BytesReceived/int64(number), c.BodyBytes/int64(number)
		m.Latency = result.NewHistogram()
	}
	for i, bar := range c.Latencies.Get(result.Total).Bars() {
		m := &c.ByRequest[i%number]
		for range bar.Count {
			m.Requests++
			m.Latency.Record(bar.From)
		}
	}
	c.ByRequest[1].Errors = c.Errors
	c.ByRequest[1].Requests += c.Errors.Total()
}
