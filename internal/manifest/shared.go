package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// shareCPU limits the containers of a pod, the agent's first, to a number of CPUs together. Each keeps its own
// limit, unless that is higher. They request equal parts of what the agent's request leaves, so that none of
// them has precedence. The agent's usage, a few thousandths of a CPU, is part of the whole. The pod is
// Guaranteed like any other. It fails if the agent, whose CPU the administrator may set, leaves nothing.
func shareCPU(spec *corev1.PodSpec, cpu resource.Quantity) error {
	memory := resource.Quantity{}
	agent, servers := &spec.Containers[0], spec.Containers[1:]
	part := resource.NewMilliQuantity((cpu.MilliValue()-agent.Resources.Requests.Cpu().MilliValue())/int64(len(servers)), resource.DecimalSI)
	if part.Sign() <= 0 {
		return fmt.Errorf("spec.target.sharedCPU is %s, of which the agent has %s, by the administrator's runs.agentResources if not 50m: "+
			"it must be more", cpu.String(), agent.Resources.Requests.Cpu())
	}
	memory.Add(*agent.Resources.Limits.Memory())
	for i := range servers {
		own := &servers[i].Resources
		limit := minimum(*own.Limits.Cpu(), cpu)
		memory.Add(*own.Limits.Memory())
		own.Limits, own.Requests = own.Limits.DeepCopy(), own.Requests.DeepCopy()
		own.Limits[corev1.ResourceCPU], own.Requests[corev1.ResourceCPU] = limit, minimum(*part, limit)
	}
	whole := equalResources(cpu, memory)
	spec.Resources = &whole
	return nil
}

func minimum(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// resourcesOf returns the resources of the i-th server. Clients connect to the first.
func resourcesOf(spec *v1alpha1.Target, i int) v1alpha1.Resources {
	if i == 0 {
		return spec.Resources
	}
	return spec.Backends[i-1].Resources
}

// ServerCPUMillis returns the CPU limit in thousandths of a CPU of the i-th server of the target's pod, the one that
// clients connect to first.
func ServerCPUMillis(spec *v1alpha1.Target, i int) int64 {
	own := CPUMillis(resourcesOf(spec, i))
	if spec.SharedCPU != nil {
		return min(own, spec.SharedCPU.MilliValue())
	}
	return own
}
