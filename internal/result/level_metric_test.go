package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func levelMetrics(r *Result, l *Level) map[string]float64 {
	values := map[string]float64{}
	for _, m := range LevelMetrics {
		if value, exists := m.Of(r, l); exists {
			values[m.Name] = value
		}
	}
	return values
}

func TestLevelMetrics(t *testing.T) {
	r := &Result{Environment: Environment{TargetCPULimit: 1000, SharedCPULimit: 1000, Backends: []BackendEnvironment{{Name: "app", CPULimit: 500}}}}
	l := Level{TargetConnections: 200, Start: 10, End: 20, TargetUsage: TargetUsage{
		Server: &Used{UserCPU: 2_000_000, Resident: 30}, Backends: map[string]*Used{"app": {UserCPU: 4_000_000, SystemCPU: 500_000, Resident: 70}},
	}}
	l.Requests, l.BytesReceived = 100, 5000
	l.Errors[ErrorStatus] = 10
	for i := range int64(90) {
		l.Latencies.Of(Total).Record(i + 1)
	}
	want := map[string]float64{
		"LatencyMean": 45.5, "LatencyP50": 45, "LatencyP90": 81, "LatencyP95": 86, "LatencyP99": 90, "LatencyP999": 90,
		"LatencyP9999": 90, "LatencyMax": 90, "ErrorRate": 10, "RequestsPerSecond": 9, "BytesPerSecond": 500, "TargetPeakMemory": 100,
		"TargetCPU": 65, "TargetCPUIdle": 35, // 6.5 s of CPU in 10 s, with 1 CPU for both
	}
	if diff := cmp.Diff(want, levelMetrics(r, &l)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// A stored level has summaries instead of histograms.
	summary := l.Total()
	l.Latencies, l.Summaries[Total] = Latencies{}, &summary
	if diff := cmp.Diff(want, levelMetrics(r, &l)); diff != "" {
		t.Errorf("with summaries: (-want +got)\n%s", diff)
	}

	// A backend of unknown usage may have used anything.
	l.Backends = nil
	for _, name := range []string{"TargetCPU", "TargetCPUIdle", "TargetPeakMemory"} {
		delete(want, name)
	}
	if diff := cmp.Diff(want, levelMetrics(r, &l)); diff != "" {
		t.Errorf("with a backend of unknown usage: (-want +got)\n%s", diff)
	}

	if got := levelMetrics(r, &Level{}); len(got) != 0 {
		t.Errorf("of no time: %v", got)
	}
}
