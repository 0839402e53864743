package manifest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// scratchLimit is the size limit in bytes of an empty directory on the node's disk.
	scratchLimit = 4 << 30
	// contentMargin and contentFileMargin are added to the size of the content, for its
	// directories and for the blocks that its files don't fill.
	contentMargin     = 16 << 20
	contentFileMargin = 64 << 10
)

// limitScratch limits the size of each empty directory of the target's pod, so that no server can
// fill the disk of its node. The kubelet evicts a pod that exceeds a limit. A directory in memory
// may have as much as the pod's containers together, to which it counts anyway.
func limitScratch(pod *corev1.Pod, run *v1alpha1.BenchmarkRun) {
	var memory resource.Quantity
	for i := range pod.Spec.Containers {
		memory.Add(*pod.Spec.Containers[i].Resources.Limits.Memory())
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.EmptyDir == nil || v.EmptyDir.SizeLimit != nil:
		case v.EmptyDir.Medium == corev1.StorageMediumMemory:
			v.EmptyDir.SizeLimit = new(memory.DeepCopy())
		case v.Name == server.ContentVolume:
			v.EmptyDir.SizeLimit = resource.NewQuantity(contentSize(run), resource.BinarySI)
		default:
			v.EmptyDir.SizeLimit = resource.NewQuantity(scratchLimit, resource.BinarySI)
		}
	}
}

// contentSize returns the number of bytes that the run's content may need on a disk.
func contentSize(run *v1alpha1.BenchmarkRun) int64 {
	size := int64(contentMargin)
	for _, file := range run.Spec.Target.Content {
		size += file.SizeBytes + contentFileMargin
	}
	return size
}
