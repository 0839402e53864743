package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestContainers checks that containers have both their conditions and their usage.
func TestContainers(t *testing.T) {
	used := Server{PeakCPUPercent: 7}
	r := Result{Server: &Server{PeakCPUPercent: 1}}
	r.Environment = Environment{TargetCPULimit: 2000, TargetCPUs: "0-1", CPUExclusivity: "Exclusive"}
	server := Container{Name: "server", CPULimit: 2000, CPUs: "0-1", CPUExclusivity: "Exclusive", Usage: r.Server}
	if diff := cmp.Diff([]Container{server}, r.Containers()); diff != "" {
		t.Errorf("a server alone (-want +got):\n%s", diff)
	}
	r.Environment.Backends = []BackendEnvironment{
		{Name: "tomcat", CPULimit: 500, CPUs: "2", CPUExclusivity: "Shared"}, {Name: "database", CPULimit: 100},
	}
	r.Backends = []Backend{{Name: "another"}, {Name: "tomcat", Server: used}}
	if diff := cmp.Diff([]Container{
		server,
		{Name: "tomcat", CPULimit: 500, CPUs: "2", CPUExclusivity: "Shared", Usage: &used},
		{Name: "database", CPULimit: 100},
		{Name: "another", Usage: &Server{}},
	}, r.Containers()); diff != "" {
		t.Errorf("with backends (-want +got):\n%s", diff)
	}
	if got := r.Backends[1].PeakCPUPercentOf(500); got != 14 {
		t.Errorf("a backend's peak is %g %% of its limit, want 14", got)
	}
}
