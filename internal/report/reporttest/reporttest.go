// Package reporttest has results for tests of reports.
package reporttest

import (
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// Tomcat returns a result of two clients with keep-alive: 1,000 requests each with
// total times of 1 to 1,000 times 100 µs, of which 990 reused a connection.
func Tomcat() *result.Result {
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run: result.Run{
			Namespace: "default", Name: "tomcat-nio", UID: "5a0b", Image: "tomcat:9.0", Server: "Tomcat NIO", Load: "closed", Connections: 25,
			Requests:  []result.Request{{Path: "/js/bootstrap.min.js", Weight: 1, Length: 31819}},
			KeepAlive: true, MeasurementTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		Environment: result.Environment{
			TargetNode: "node-1", TargetAddress: "10.0.0.5:8080", TargetImageID: "sha256:0123", ServerSoftware: "Apache-Coyote/1.1",
			DocumentLength: 31819, TargetCPULimit: 1000, ClientCPULimit: 500, TargetCPUs: "1", CPUExclusivity: "Exclusive",
			Kernel: "6.1.0", ContainerRuntime: "containerd://1.6.20", Kubelet: "v1.36.3", Assay: "v0.1.0",
		},
		Server: &result.Server{
			Begin: result.ServerUsage{At: 0, UserCPU: 1e6, SystemCPU: 2e6, MinorFaults: 100, BytesReceived: 5, Throttled: 0, GCPauses: 3, GCPause: 9000, HeapUsed: -1, CompilerCPU: 2_100_000},
			End: result.ServerUsage{At: 2e6, UserCPU: 2e6, SystemCPU: 2_500_000, Resident: 200 << 20, MaxResident: 300 << 20,
				MinorFaults: 142, MajorFaults: 1, VoluntarySwitches: 5000, InvoluntarySwitches: 60, Threads: 230, Descriptors: -1,
				BytesReceived: 300_005, BytesSent: 64_000_000, Throttled: 0, GCPauses: 15, GCPause: 49_500, GCPauseMax: 8100, HeapUsed: 41 << 20, DescriptorLimit: 1_048_576, CompilerCPU: 2_250_000},
			PeakCPUPercent: 98.25, PeakResident: 210 << 20,
		},
		Findings: []result.Finding{},
		Thresholds: []result.ThresholdOutcome{
			{Metric: "LatencyP99", Bound: "below 50ms", Actual: "99.007ms", Limit: 50, Measured: new(99.007), Unit: "ms"},
			{Metric: "ErrorRate", Bound: "below 1%", Actual: "0.0000%", Met: true, Limit: 1, Measured: new(0.0), Unit: "%"},
		},
	}
	var clients []result.Client
	for i := range 2 {
		c := result.Client{Index: i, Node: "node-1", StartSkewMicroseconds: int64(100 + 1500*i), ClockErrorMicroseconds: 210}
		c.StartedAt, c.EndedAt = int64(1_000_000+1500*i), int64(3_000_000+1500*i)
		c.Usage = result.ClientUsage{UserCPU: 200_000, SystemCPU: 300_000, Throttled: -1, MaxResident: 50 << 20}
		c.Usage.SchedulingLatencyP99, c.Usage.GCPause, c.Usage.GCPauseMax = 96, 1234, 410
		c.Warmup, c.WarmupMicroseconds = &result.Counts{Requests: 500, BytesReceived: 16_000_000}, int64(5_000_000+i)
		c.Counts = result.Counts{Requests: 1000, KeepAlive: 990, Connections: 10, BytesSent: 100_000, BytesReceived: 32_000_000, BodyBytes: 31_819_000}
		for n := range int64(1000) {
			total := 100 * (n + 1)
			if n >= 990 {
				c.Latencies.Of(result.Connect).Record(50)
				c.Latencies.Of(result.Processing).Record(total - 50)
			} else {
				c.Latencies.Of(result.Processing).Record(total)
			}
			c.Latencies.Of(result.Waiting).Record(total / 2)
			c.Latencies.Of(result.Receiving).Record(total / 2)
			c.Latencies.Of(result.Total).Record(total)
		}
		clients = append(clients, c)
	}
	r.AddClients(clients)
	return r
}

// Failing returns an invalid result of two kinds of requests over TLS, without
// keep-alive, many of which failed. The histograms of its clients were dropped.
func Failing() *result.Result {
	r := Tomcat()
	r.Run.KeepAlive = false
	r.Run.Requests = []result.Request{{Path: "/a", Weight: 3, Length: -1}, {Path: "/b?c=d", Weight: 1, Length: -1}}
	r.Environment.CPUExclusivity, r.Environment.TargetCPUs = "Shared", "0-1"
	r.Environment.TLS = &result.Handshake{
		Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES256-GCM-SHA384", KeyAlgorithm: "RSA", KeySize: 4096,
		Subject: "CN=tomcat-nio-target.default.svc", Issuer: "CN=bench-ca", Fingerprint: strings.Repeat("0f", 32),
		NotAfter: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC).UnixMicro(), CertificateRequested: true,
	}
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Requests, c.KeepAlive, c.Non2xx, c.Connections, c.TLSResumed = 1066, 0, 7, 1065, 1040
		c.Errors = result.ErrorCounts{result.ErrorConnect: 1, result.ErrorTLS: 2, result.ErrorTimeout: 3, result.ErrorReceive: 4,
			result.ErrorLength: 44, result.ErrorStatus: 5, result.ErrorException: 7}
		for kind, n := range c.Errors.Occurred() {
			cause := result.Cause{Text: "a <b>cause</b> of " + kind.String(), Count: n, Example: &result.FailedRequest{Request: "POST /a", AtMicroseconds: int64(2000 - 1000*i)}}
			c.Causes.Count(kind, cause)
		}
		for range 1000 {
			c.Latencies.Of(result.TLS).Record(1500)
		}
	}
	r.AddClients(r.Clients)
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Summaries, c.Latencies = c.Latencies.Summarize(), result.Latencies{}
	}
	r.Warmup, r.Thresholds = nil, nil
	r.Findings = []result.Finding{
		{Reason: "ClientSaturated", Severity: result.Invalidates, Message: "client 1 used 97 % of its CPU limit; raise it"},
		{Reason: "NoWarmup", Severity: result.Warns, Message: "the target was measured cold; set warmup", Seconds: &result.Span{}},
	}
	return r
}

// Nothing returns a result without a request and without usage of the server.
func Nothing() *result.Result {
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           result.Run{Namespace: "default", Name: "nothing", Load: "closed", Connections: 1, Requests: []result.Request{{Path: "/", Weight: 1, Length: -1}}},
		Environment:   result.Environment{DocumentLength: -1},
		Findings:      []result.Finding{{Reason: "NothingSucceeded", Severity: result.Invalidates, Message: "of 0 requests none succeeded"}},
	}
	r.AddClients([]result.Client{{Index: 0}})
	return r
}

// Standalone returns a result of one client without a cluster.
func Standalone() *result.Result {
	r := Tomcat()
	r.Run = result.Run{
		Standalone: true, Name: "laptop", Server: "http://127.0.0.1:8080", Load: "closed", Connections: 25, KeepAlive: true,
		Requests: r.Run.Requests, MeasurementTime: r.Run.MeasurementTime,
	}
	r.Environment = result.Environment{TargetAddress: "127.0.0.1:8080", ServerSoftware: "Apache-Coyote/1.1", DocumentLength: 31819, ClientCPULimit: 2000, Assay: "v0.1.0"}
	r.Server, r.Thresholds = nil, nil
	r.AddClients(r.Clients[:1])
	r.Warmup.Steady = &result.Steadiness{Reached: true, ThroughputPercent: 5, P99Percent: 25, Windows: []result.WarmupWindow{
		{Second: 5, Seconds: 5, Succeeded: 20_000, P99: 5100}, {Second: 10, Seconds: 5, Succeeded: 20_400, P99: 5000}, {Second: 15, Seconds: 5, Succeeded: 20_500, P99: 4800},
	}}
	return r
}
