package manifest

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// Containers of a run's pods, besides the servers.
const (
	AgentContainer   = "agent"
	ContentContainer = "content"
	ClientContainer  = "client"
)

// The paths of the clients' programs in their images.
const (
	clientProgram = "/assay-load"
	k6Program     = "/assay-k6"
)

const (
	// caFile is the key in the run's ConfigMap, and the file, of the CA bundle for the manager.
	caFile = "ca.crt"

	// ServiceAccount is the service account of a run's pods.
	ServiceAccount = "default"

	identityVolume = "identity"
	identityFolder = "/var/run/assay"
	contentFolder  = "/assay/content"
	configFolder   = "/assay/config"

	// deadlineMargin is the time from the run's own deadline to that of its pods. Only a manager that
	// is gone for that long doesn't end them first.
	deadlineMargin = time.Hour
	// nonRootUser is the user of Assay's images and of a restricted target.
	nonRootUser = 65532
	// terminationGracePeriod is the pods' terminationGracePeriodSeconds.
	terminationGracePeriod = 10
)

// Resources of a container whose spec sets none.
var (
	defaultCPU          = resource.MustParse("1")
	defaultTargetMemory = resource.MustParse("1Gi")
	defaultClientMemory = resource.MustParse("512Mi")
	agentCPU            = resource.MustParse("50m")
	agentMemory         = resource.MustParse("64Mi")
)

// CPUMillis returns the CPU limit in thousandths of a CPU.
func CPUMillis(r v1alpha1.Resources) int64 {
	cpu := ptr.Deref(r.CPU, defaultCPU)
	return cpu.MilliValue()
}

// ActiveDeadline returns the run's time limit from its admission to its end.
func ActiveDeadline(run *v1alpha1.BenchmarkRun) time.Duration {
	return time.Duration(ptr.Deref(run.Spec.ActiveDeadlineSeconds, 3600)) * time.Second
}

// podDeadline returns the activeDeadlineSeconds of a run's pod and Job. It ends a run's load if no
// manager does.
func podDeadline(run *v1alpha1.BenchmarkRun) int64 {
	return int64((ActiveDeadline(run) + deadlineMargin).Seconds())
}

func podSpec(restricted bool) corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ServiceAccountName:            ServiceAccount,
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To(int64(terminationGracePeriod)),
		SecurityContext: &corev1.PodSecurityContext{
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	if restricted {
		spec.SecurityContext.RunAsNonRoot = ptr.To(true)
		spec.SecurityContext.RunAsUser = ptr.To(int64(nonRootUser))
		spec.SecurityContext.RunAsGroup = ptr.To(int64(nonRootUser))
	}
	return spec
}

// restrictedContainer returns what the restricted Pod Security Standard requires of a container in
// addition to its pod's security context.
func restrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// assayContainer returns a container of Assay's own, which writes only to mounted volumes. It runs as its pod's user.
func assayContainer(name, image string, settings *Settings, resources corev1.ResourceRequirements, command ...string) corev1.Container {
	context := restrictedContainer()
	context.ReadOnlyRootFilesystem = ptr.To(true)
	return corev1.Container{
		Name:                     name,
		Image:                    image,
		ImagePullPolicy:          settings.ImagePullPolicy,
		Command:                  command[:1],
		Args:                     command[1:],
		Resources:                resources,
		SecurityContext:          context,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// besideServer lets a container of Assay's own run as its user whatever that of the server in the same pod is.
func besideServer(container *corev1.Container) {
	context := container.SecurityContext
	context.RunAsNonRoot = ptr.To(true)
	context.RunAsUser = ptr.To(int64(nonRootUser))
	context.RunAsGroup = ptr.To(int64(nonRootUser))
}

// mount adds a volume to a pod and mounts it, to be read, into one of its containers.
func mount(spec *corev1.PodSpec, container *corev1.Container, volume *corev1.Volume, path string) {
	spec.Volumes = append(spec.Volumes, *volume)
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: path, ReadOnly: true})
}

// identity returns the volume with a pod's token and the CA bundle that verifies the manager. The
// token is valid as long as the pod may run: it needs no renewal, which an outage of the API server
// would prevent. It is bound to the pod, and invalid once that is deleted.
func identity(run *v1alpha1.BenchmarkRun) *corev1.Volume {
	return projected(identityVolume,
		corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Audience: session.Audience, ExpirationSeconds: ptr.To(podDeadline(run)), Path: "token",
		}},
		corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: ConfigName(run)},
			Items:                []corev1.KeyToPath{{Key: caFile, Path: caFile}},
		}})
}

func projected(name string, sources ...corev1.VolumeProjection) *corev1.Volume {
	if len(sources) == 0 {
		return nil
	}
	return &corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}}
}

// secretFiles projects keys of a Secret to files. files maps each key to its file's name.
func secretFiles(name string, files map[string]string) corev1.VolumeProjection {
	projection := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	for _, key := range slices.Sorted(maps.Keys(files)) {
		projection.Items = append(projection.Items, corev1.KeyToPath{Key: key, Path: files[key]})
	}
	return corev1.VolumeProjection{Secret: projection}
}

func requirements(r v1alpha1.Resources, memory resource.Quantity) corev1.ResourceRequirements {
	return equalResources(ptr.Deref(r.CPU, defaultCPU), ptr.Deref(r.Memory, memory))
}

func equalResources(cpu, memory resource.Quantity) corev1.ResourceRequirements {
	list := corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}
