package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// forwarding returns a result of an httpd that forwards to a Tomcat, with a cache of
// unknown usage.
func forwarding() *result.Result {
	r := tomcat()
	r.Run.Name, r.Run.Image, r.Run.Server = "httpd-tomcat", "httpd:2.4", "HTTPD event"
	r.Environment.TargetImageID, r.Environment.ServerSoftware = "sha256:4567", "Apache/2.4.66"
	r.Environment.Backends = []result.BackendEnvironment{
		{Name: "tomcat", Image: "tomcat:9.0", ImageID: "sha256:0123", CPULimit: 1500, CPUs: "2-3", CPUExclusivity: "Shared"},
		{Name: "cache", Image: "memcached:1.6", CPULimit: 100},
	}
	r.Backends = []result.Backend{{Name: "tomcat", Server: result.Server{
		Begin: result.ServerUsage{At: 0, UserCPU: 4e6, SystemCPU: 1e6, MinorFaults: 1000, VoluntarySwitches: 7, Throttled: 50_000},
		End: result.ServerUsage{At: 2e6, UserCPU: 6e6, SystemCPU: 1_400_000, Resident: 500 << 20, MaxResident: 600 << 20,
			MinorFaults: 1500, MajorFaults: 2, VoluntarySwitches: 9007, InvoluntarySwitches: 800, Threads: 45, Descriptors: 120, Throttled: 250_000,
			GCPauses: 4, GCPause: 20_000, GCPauseMax: 9000, HeapUsed: 300 << 20, DescriptorLimit: 65_536},
		PeakCPUPercent: 144, PeakResident: 520 << 20,
	}}}
	r.Server.Begin.GCPauses, r.Server.End.GCPauses = -1, -1
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
	r.Clients[1].NodeUsage = &result.NodeUsage{CPUTime: 4e6, Idle: 2e6, OtherCPU: 1e6, Steal: 40_000, SoftIRQ: 100_000, RunQueue: 5}
	r.Series[0].Node, r.Series[0].ClientNode = node, r.Clients[1].NodeUsage
	used := r.Backends[0].Spent()
	r.Series[0].SetBackend("tomcat", &used, true)
	return r
}

// TestContainersStandOnTheirOwn checks that each of the target's containers has its
// figures, and that those of the network occur once.
func TestContainersStandOnTheirOwn(t *testing.T) {
	var text bytes.Buffer
	if err := report.Write(&text, "text", forwarding()); err != nil {
		t.Fatal(err)
	}
	_, target, _ := strings.Cut(text.String(), "\nTarget\n------\n")
	target, _, _ = strings.Cut(target, "\nAround the target\n")
	containers := strings.Split(strings.TrimSpace(target), "\n\n")
	if len(containers) != 3 {
		t.Fatalf("%d containers in:\n%s", len(containers), target)
	}
	for i, want := range [][]string{
		{"server, clients talk to it", "75.0% of the limit on average, 98.2% in the peak", "1.000s user, 0.500s system", "Pod network:"},
		{"tomcat, behind it", "2-3, shared; limit 1.5", "80.0% of the limit on average, 96.0% in the peak", "2.000s user, 0.400s system",
			"200.000 ms\n", "520.0 MiB", "500 minor, 2 major", "9000 voluntary, 800 involuntary", "45", "4, 20.000 ms total (1.00% of the time), 9.000 ms longest", "300.0 MiB"},
		{"cache, behind it", "limit 0.1", "not available"},
	} {
		for _, part := range want {
			if !strings.Contains(containers[i], part) {
				t.Errorf("no %q in:\n%s", part, containers[i])
			}
		}
	}
	if n := strings.Count(target, "network"); n != 1 {
		t.Errorf("the network stands %d times in:\n%s", n, target)
	}
}

// TestCores checks that the text report says of each container whether it had whole cores.
func TestCores(t *testing.T) {
	for cores, want := range map[string]string{"": " 1, exclusive;", "1": " 1 (whole cores), exclusive;", "1,5": " 1 (of the cores with CPUs 1,5), exclusive;"} {
		r := tomcat()
		r.Environment.TargetCores = cores
		var text bytes.Buffer
		if err := report.Write(&text, "text", r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("cores %q: no %q in:\n%s", cores, want, text.String())
		}
	}
}
