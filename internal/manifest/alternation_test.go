package manifest

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// The runs of a block request together the CPU of one, and their servers run on the same CPUs, which their clients leave alone.
func TestAlternation(t *testing.T) {
	nginx := func(w *wrapper.Run) { w.Nginx() }
	block := func(w *wrapper.Run) {
		w.Obj().Spec.Alternation = &v1alpha1.Alternation{Block: "pair", Variants: 3, Variant: ptr.To(int32(1))}
	}
	for name, test := range map[string]struct {
		changes                  []func(*wrapper.Run)
		request, agent, requests string // of CPU, by the target, its agent and a client
		pinned, leaves           bool
	}{
		"no block":               {[]func(*wrapper.Run){nginx}, "1500m", "50m", "1", false, false},
		"a block":                {[]func(*wrapper.Run){nginx, block}, "500m", "17m", "334m", true, true},
		"an image's command":     {[]func(*wrapper.Run){block}, "500m", "17m", "334m", false, true},
		"clients on other nodes": {[]func(*wrapper.Run){nginx, block, func(w *wrapper.Run) { w.Placement(v1alpha1.PlacementApart) }}, "500m", "17m", "334m", true, false},
		"CPUs of their own": {[]func(*wrapper.Run){nginx, block, func(w *wrapper.Run) {
			w.Obj().Spec.Target.Resources.CPUPinning = v1alpha1.CPUPinningRequired
			w.Obj().Spec.Clients.Resources.CPUPinning = v1alpha1.CPUPinningRequired
		}}, "1500m", "50m", "1", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := wrapper.NewRun("ns", "run", "image").TargetResources("1500m", "128Mi").Clients(1, "1", "128Mi")
			for _, change := range test.changes {
				change(w)
			}
			run := w.Obj()
			rendering, err := server.Render(&run.Spec.Target, nil)
			if err != nil {
				t.Fatal(err)
			}
			started := slices.Concat(rendering.Containers[0].Command, rendering.Containers[0].Args)
			pod, err := TargetPod(run, rendering, &Settings{})
			if err != nil {
				t.Fatal(err)
			}
			job, err := ClientJob(run, "node", nil, &Settings{})
			if err != nil {
				t.Fatal(err)
			}
			target, client := pod.Spec.Containers[1], job.Spec.Template.Spec.Containers[0]
			if got, limit := target.Resources.Requests.Cpu().String(), target.Resources.Limits.Cpu().String(); got != test.request || limit != "1500m" {
				t.Errorf("the target requests %s of at most %s", got, limit)
			}
			if got, want := pod.Spec.Containers[0].Resources.Requests.Cpu().String(), test.agent; got != want {
				t.Errorf("the agent requests %s, want %s", got, want)
			}
			if got, limit := client.Resources.Requests.Cpu().String(), client.Resources.Limits.Cpu().String(); got != test.requests || limit != "1" {
				t.Errorf("a client requests %s of at most %s", got, limit)
			}
			command := strings.Join(slices.Concat(target.Command, target.Args), " ")
			want := strings.Join(started, " ")
			if test.pinned {
				want = "/assay/pin/pin 2 " + want
			}
			if command != want {
				t.Errorf("command %q, want %q", command, want)
			}
			if got := slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == ProgramContainer }); got != test.pinned {
				t.Errorf("copies the program: %t", got)
			}
			if got := slices.Contains(client.Env, literal("ASSAY_LEAVE_CPUS", "2")); got != test.leaves {
				t.Errorf("leaves CPUs: %t", got)
			}
		})
	}
}
