package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func metrics(r *Result) map[string]float64 {
	values := map[string]float64{}
	for name, of := range Metrics {
		if value, exists := of(r); exists {
			values[name] = value
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	r := &Result{
		DurationMicroseconds: 2_000_000,
		Merged:               Measure{Counts: Counts{Requests: 100, BytesReceived: 5000}},
		Clients:              []Client{{}, {}},
		Server:               &Server{Begin: ServerUsage{UserCPU: 1000, SystemCPU: 500}, End: ServerUsage{UserCPU: 3000, SystemCPU: 1500}, PeakResident: 70},
	}
	r.Merged.Errors[ErrorStatus] = 10
	for i := range int64(90) {
		r.Merged.Latencies.Of(Total).Record(i + 1)
	}
	r.Clients[0].Usage = ClientUsage{UserCPU: 100, SystemCPU: 50}
	r.Clients[1].Usage = ClientUsage{UserCPU: 200, SystemCPU: 50}

	want := map[string]float64{
		"LatencyMean": 45.5, "LatencyP50": 45, "LatencyP90": 81, "LatencyP95": 86, "LatencyP99": 90, "LatencyP999": 90,
		"LatencyP9999": 90, "LatencyMax": 90, "ErrorRate": 10, "RequestsPerSecond": 45, "BytesPerSecond": 2500,
		"TargetCPUPerRequest": 30, "TargetPeakMemory": 70, "ClientCPUPerRequest": 4,
	}
	if diff := cmp.Diff(want, metrics(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// The first of the CPU's breaking points counts, whichever container's it is.
	r.BreakingPoints = []BreakingPoint{
		{Kind: BreakingCPU, Container: "server", Reached: true, Second: 40, Connections: 312},
		{Kind: BreakingPodCPU, Reached: true, Second: 30, Connections: 266},
		{Kind: BreakingFailedRequests, Reached: true, Second: 50, RatePerSecond: 400},
		{Kind: BreakingErrorRate}, // not reached: none
	}
	want["BreakingPointCPU"], want["BreakingPointFailedRequests"] = 266, 400
	if diff := cmp.Diff(want, metrics(r)); diff != "" {
		t.Errorf("with breaking points: (-want +got)\n%s", diff)
	}

	// A container behind the server counts as well.
	r.Environment.Backends = []BackendEnvironment{{Name: "tomcat"}}
	r.Backends = []Backend{{Name: "tomcat", Server: Server{End: ServerUsage{UserCPU: 1000}, PeakResident: 30}}}
	want["TargetCPUPerRequest"], want["TargetPeakMemory"] = 40, 100
	if diff := cmp.Diff(want, metrics(r)); diff != "" {
		t.Errorf("with a backend: (-want +got)\n%s", diff)
	}

	// Without its usage, that of the target isn't known.
	r.Backends = nil
	delete(want, "TargetCPUPerRequest")
	delete(want, "TargetPeakMemory")
	if diff := cmp.Diff(want, metrics(r)); diff != "" {
		t.Errorf("with a backend of unknown usage: (-want +got)\n%s", diff)
	}

	want = map[string]float64{"RequestsPerSecond": 0, "BytesPerSecond": 0}
	if diff := cmp.Diff(want, metrics(&Result{})); diff != "" {
		t.Errorf("without requests: (-want +got)\n%s", diff)
	}
}
