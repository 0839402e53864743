package manifest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/test/wrapper"
)

// TestSharedCPU checks that all containers of the pod together have a limit, each not more than that, and that what
// they request fits into it.
func TestSharedCPU(t *testing.T) {
	for cpu, want := range map[string]struct{ server, app, part int64 }{
		"1500m": {1500, 500, 725}, // the server's own limit is 2, the backend's 0.5
		"300m":  {300, 300, 125},
		"3":     {2000, 500, 1475},
	} {
		run := fullTarget()
		run.Spec.Target.Resources = wrapper.Resources("2", "128Mi")
		run.Spec.Target.Backends[0].Resources = wrapper.Resources("500m", "64Mi")
		run.Spec.Target.SharedCPU = new(resource.MustParse(cpu))
		pod, err := podOf(t, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := pod.Spec.Resources
		if whole == nil || whole.Limits.Cpu().Cmp(resource.MustParse(cpu)) != 0 || whole.Requests.Cpu().Cmp(*whole.Limits.Cpu()) != 0 ||
			whole.Limits.Memory().Cmp(resource.MustParse("256Mi")) != 0 { // with the agent's 64Mi
			t.Fatalf("%s: %+v", cpu, whole)
		}
		requested := int64(0)
		for _, c := range pod.Spec.Containers {
			requested += c.Resources.Requests.Cpu().MilliValue()
		}
		server, app := containerOf(pod, "server").Resources, containerOf(pod, "app").Resources
		if server.Limits.Cpu().MilliValue() != want.server || app.Limits.Cpu().MilliValue() != want.app || requested > whole.Requests.Cpu().MilliValue() ||
			server.Requests.Cpu().MilliValue() != min(want.part, want.server) || app.Requests.Cpu().MilliValue() != min(want.part, want.app) {
			t.Errorf("%s: server %+v, app %+v", cpu, server, app)
		}
		if got := [2]int64{ServerCPUMillis(&run.Spec.Target, 0), ServerCPUMillis(&run.Spec.Target, 1)}; got != [2]int64{want.server, want.app} {
			t.Errorf("%s: limits %v", cpu, got)
		}
		if init := pod.Spec.InitContainers[0].Resources; init.Limits.Cpu().Cmp(*server.Limits.Cpu()) != 0 {
			t.Errorf("%s: the content's writer has %+v", cpu, init)
		}
	}
	run := fullTarget()
	run.Spec.Target.SharedCPU = new(resource.MustParse("200m"))
	settings := &Settings{AssayImage: "assay:1"}
	settings.RunPods.AgentResources.CPU = new(resource.MustParse("200m"))
	if _, err := TargetPod(run, rendered(t, run), settings); err == nil || !strings.Contains(err.Error(), "spec.target.sharedCPU is 200m, of which the agent has 200m") {
		t.Errorf("an agent as large as the whole: %v", err)
	}
	run = fullTarget()
	if pod, err := podOf(t, run, nil); err != nil || pod.Spec.Resources != nil || ServerCPUMillis(&run.Spec.Target, 1) != 1000 {
		t.Errorf("without: %+v, %v", pod.Spec.Resources, err)
	}
}
