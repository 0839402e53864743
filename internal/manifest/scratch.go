package manifest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// scratchLimit is the size limit in bytes of an empty directory on the node's disk. A server may write
	// as much in all: to its image's files, its logs and its empty directories.
	scratchLimit = 4 << 30
	// contentMargin and contentFileMargin are added to the size of the content, for its
	// directories and for the blocks that its files don't fill.
	contentMargin     = 16 << 20
	contentFileMargin = 64 << 10
	// logStorage is the ephemeral storage in bytes of a container that writes only logs. The kubelet keeps
	// five files of 10 MiB of a container, unless it is configured otherwise.
	logStorage = 64 << 20
)

// limitScratch limits the size of each empty directory of a pod, so that no server can
// fill the disk of its node. The kubelet evicts a pod that exceeds a limit. A directory in memory
// may have as much as the pod's containers together, to which it counts anyway. content is the limit of that of the content,
// disk that of the others.
func limitScratch(spec *corev1.PodSpec, content, disk int64) {
	var memory resource.Quantity
	for i := range spec.Containers {
		memory.Add(*spec.Containers[i].Resources.Limits.Memory())
	}
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		switch {
		case v.EmptyDir == nil || v.EmptyDir.SizeLimit != nil:
		case v.EmptyDir.Medium == corev1.StorageMediumMemory:
			v.EmptyDir.SizeLimit = new(memory.DeepCopy())
		case v.Name == server.ContentVolume:
			v.EmptyDir.SizeLimit = resource.NewQuantity(content, resource.BinarySI)
		default:
			v.EmptyDir.SizeLimit = resource.NewQuantity(disk, resource.BinarySI)
		}
	}
}

// ContentBytes returns the number of bytes of the run's content, without what it copies from ConfigMaps.
func ContentBytes(run *v1alpha1.BenchmarkRun) int64 {
	var size int64
	for _, file := range run.Spec.Target.Content {
		size += file.SizeBytes
	}
	return size
}

// contentSize returns the number of bytes that the run's content may need on a disk.
func contentSize(run *v1alpha1.BenchmarkRun) int64 {
	return contentMargin + ContentBytes(run) + int64(len(run.Spec.Target.Content))*contentFileMargin
}

// storedLocally adds requests and limits of ephemeral storage, in bytes: of what a container writes to its image's
// files, its logs and its empty directories. The kubelet evicts a pod that exceeds the sum of its containers' limits.
// They don't count for the pod's class of quality of service.
func storedLocally(r corev1.ResourceRequirements, request, limit int64) corev1.ResourceRequirements {
	r.Requests, r.Limits = r.Requests.DeepCopy(), r.Limits.DeepCopy()
	r.Requests[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(request, resource.BinarySI)
	r.Limits[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(limit, resource.BinarySI)
	return r
}
