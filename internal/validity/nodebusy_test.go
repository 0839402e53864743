package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// around returns what happened in ten seconds to a number of CPUs, of which the pod and others used the given
// percentages.
func around(cpus int64, own, others float64) *result.NodeUsage {
	u := &result.NodeUsage{CPUTime: cpus * length, CPUPressure: length / 4}
	u.OtherCPU = int64(others / 100 * float64(u.CPUTime))
	u.Idle = u.CPUTime - u.OtherCPU - int64(own/100*float64(u.CPUTime))
	return u
}

func TestNodeBusy(t *testing.T) {
	// The target has a limit of 1.5 CPUs, and each client one of two.
	target := func(u *result.NodeUsage) func(*result.Result) {
		return func(r *result.Result) { r.NodeUsage = u }
	}
	client := func(u *result.NodeUsage) func(*result.Result) {
		return func(r *result.Result) {
			r.Clients[0].NodeUsage, r.Clients[1].NodeUsage = around(2, 50, 1), u
		}
	}
	with := func(u *result.NodeUsage, change func(*result.NodeUsage)) *result.NodeUsage {
		change(u)
		return u
	}
	// part has others use all of the target's two CPUs from one second to another.
	part := func(from, to int64) func(*result.Result) {
		return func(r *result.Result) {
			for i := range r.Clients {
				r.Clients[i].EndedAt = start + 100*second
			}
			merged(r)
			r.NodeUsage = around(20, 10, 0) // ten times as long
			r.NodeUsage.OtherCPU = (to - from) * 2 * second
			for n := range int64(100) {
				u := &result.NodeUsage{CPUTime: 2 * second, Idle: 2 * second}
				if n >= from && n < to {
					u.Idle, u.OtherCPU = 0, 2*second
				}
				r.Series = append(r.Series, result.Second{Second: n, Seconds: 1, Node: u})
			}
		}
	}
	for name, tc := range map[string]struct {
		change   func(*result.Result)
		severity result.Severity // empty when nothing is to be found
		metrics  string
	}{
		"unknown":                          {func(*result.Result) {}, "", ""},
		"no metrics":                       {target(result.UnknownNode()), "", ""},
		"idle CPUs":                        {target(around(2, 70, 1)), "", ""},
		"others where nothing is promised": {target(around(8, 15, 70)), "", ""},
		"others on CPUs of its own": {
			func(r *result.Result) { r.Environment.TargetCPULimit, r.NodeUsage = 2000, around(2, 86, 6) }, result.Warns,
			"Other processes used at least 6.0% of the time of the CPUs of the target, and took 6.0% of what its limit of 2 CPUs allows. For 25% of the time some process of the node waited for a CPU. It had no CPU time left.",
		},
		"of an idle target": {func(r *result.Result) { r.Environment.TargetCPULimit, r.NodeUsage = 2000, around(2, 60, 19) }, "", ""},
		"fewer of them":     {func(r *result.Result) { r.Environment.TargetCPULimit, r.NodeUsage = 2000, around(2, 90, 4.9) }, "", ""},
		"as many, which were interrupts": {func(r *result.Result) {
			r.Environment.TargetCPULimit, r.NodeUsage = 2000, with(around(2, 90, 6), func(u *result.NodeUsage) { u.SoftIRQ = second })
		}, "", ""},
		"others beside interrupts": {func(r *result.Result) {
			r.Environment.TargetCPULimit, r.NodeUsage = 2000, with(around(2, 70, 25), func(u *result.NodeUsage) { u.SoftIRQ = 3 * second })
		}, result.Warns, "took 10.0%"},
		"many, with time left": {
			func(r *result.Result) { r.Environment.TargetCPULimit, r.NodeUsage = 2000, around(2, 30, 30) }, result.Warns, "took 30.0% of what its limit of 2 CPUs allows. For 25% of the time some process of the node waited for a CPU. It had some CPU time left.",
		},
		"many, without": {
			func(r *result.Result) { r.Environment.TargetCPULimit, r.NodeUsage = 2000, around(2, 65, 30) }, result.Invalidates, "It had no CPU time left.",
		},
		"eight CPUs that are full": {target(around(8, 14, 86)), result.Invalidates, "took 25.3% of what its limit of 1.5 CPUs allows"},
		"shared with the clients": {func(r *result.Result) {
			r.Environment.CPUExclusivity, r.NodeUsage = "Shared", around(8, 14, 86)
		}, result.Warns, "cpuManagerPolicy: static"},
		"a backend without a limit": {func(r *result.Result) {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "tomcat"}}
			r.NodeUsage = around(2, 50, 50)
		}, "", ""},
		"the hypervisor": {
			target(with(around(2, 50, 1), func(u *result.NodeUsage) { u.Steal = u.CPUTime / 100 })), result.Warns,
			"The hypervisor gave 1.0% of the time of the CPUs of the target to other virtual machines.",
		},
		"a little of it": {target(with(around(2, 50, 1), func(u *result.NodeUsage) { u.Steal = u.CPUTime/100 - 1 })), "", ""},
		"memory": {
			target(with(around(2, 50, 1), func(u *result.NodeUsage) { u.MemoryPressure = length / 50 })), result.Warns, "waited for memory for 2.0% of the time",
		},
		"a little of that":      {target(with(around(2, 50, 1), func(u *result.NodeUsage) { u.MemoryPressure = length / 200 })), "", ""},
		"three of 100 seconds":  {part(40, 43), result.Warns, "For 3s of 100.000s, from second 40 on, other processes took 100.0% of what the CPU limit of the target allows."},
		"two of them":           {part(40, 42), "", ""},
		"a client's CPUs":       {client(around(2, 71, 10)), result.Warns, "the CPUs of the client 1, and took 10.0%"},
		"of an idle client":     {client(around(2, 69, 10)), "", ""},
		"a client without time": {client(around(2, 70, 25)), result.Invalidates, "It had no CPU time left."},
		"a client's hypervisor": {client(with(around(2, 50, 1), func(u *result.NodeUsage) { u.Steal = second })), result.Warns, "gave 5.0% of the time of the CPUs of the client 1"},
		"little of a busy one":  {client(around(2, 90, 4)), "", ""},
		"a client without a cluster": {func(r *result.Result) {
			client(around(2, 50, 50))(r)
			r.Run.Standalone = true
		}, "", ""},
	} {
		r := sound()
		tc.change(r)
		got := find(r, "NodeBusy", validity.Declared{})
		checkSeconds(t, got)
		if got.Severity != tc.severity || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %s %q", name, got.Severity, got.Message, tc.severity, tc.metrics)
		}
	}
}
