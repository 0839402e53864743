package manifest

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// sharesCPU reports whether a container of a run of a block shares its CPUs with those of the other runs. With cpuPinning Required
// each has CPUs of its own.
func sharesCPU(run *v1alpha1.BenchmarkRun, of v1alpha1.Resources) bool {
	return run.Spec.Alternation != nil && of.CPUPinning != v1alpha1.CPUPinningRequired
}

// alternate lets a container and those of the block's other runs request together the CPU that one of them would: only one run is
// loaded at a time. The agent's goes with the target's.
func alternate(run *v1alpha1.BenchmarkRun, of v1alpha1.Resources, r *corev1.ResourceRequirements) {
	if !sharesCPU(run, of) {
		return
	}
	variants := int64(run.Spec.Alternation.Variants)
	r.Requests = maps.Clone(r.Requests)
	r.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity((r.Requests.Cpu().MilliValue()+variants-1)/variants, resource.DecimalSI)
}

const (
	// pinVolume holds the program that starts the server on some of its CPUs, in pinFolder.
	pinVolume = "assay-pin"
	pinFolder = "/assay/pin"
	// ProgramContainer copies it there.
	ProgramContainer = "assay-pin"
)

// pinServer starts the server of a run of a block on as many CPUs as it may use, the same for all variants. Its clients leave them
// alone. A server whose command is its image's isn't pinned.
func pinServer(run *v1alpha1.BenchmarkRun, spec *corev1.PodSpec, server *corev1.Container, settings *Settings) {
	if !pinned(run, server) {
		return
	}
	server.Args = slices.Concat([]string{strconv.Itoa(wholeCPUs(run))}, server.Command, server.Args)
	server.Command = []string{pinFolder + "/pin"}
	server.VolumeMounts = append(server.VolumeMounts, corev1.VolumeMount{Name: pinVolume, MountPath: pinFolder, ReadOnly: true})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: pinVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	copier := assayContainer(ProgramContainer, settings.AssayImage, settings, settings.RunPods.agent(), "/pin", "copy", pinFolder+"/pin")
	besideServer(&copier)
	copier.VolumeMounts = []corev1.VolumeMount{{Name: pinVolume, MountPath: pinFolder}}
	spec.InitContainers = append(spec.InitContainers, copier)
}

func pinned(run *v1alpha1.BenchmarkRun, server *corev1.Container) bool {
	return sharesCPU(run, run.Spec.Target.Resources) && len(run.Spec.Target.Backends) == 0 && len(server.Command) > 0
}

// wholeCPUs returns the number of CPUs on which a target can use its limit.
func wholeCPUs(run *v1alpha1.BenchmarkRun) int {
	return int((CPUMillis(run.Spec.Target.Resources) + 999) / 1000)
}

// leaveCPUs keeps the clients of a run of a block, if they may be on its target's node, off the CPUs of the target.
func leaveCPUs(run *v1alpha1.BenchmarkRun, client *corev1.Container) {
	if sharesCPU(run, run.Spec.Clients.Resources) && run.Spec.Target.Server.External == nil && run.Spec.Clients.Placement != v1alpha1.PlacementApart {
		client.Env = append(client.Env, literal("ASSAY_LEAVE_CPUS", strconv.Itoa(wholeCPUs(run))))
	}
}
