package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/target"
)

// Labels that every object of a run carries.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelRun is the run's name, LabelRunUID its UID.
	LabelRun    = "assay.dev/run"
	LabelRunUID = "assay.dev/run-uid"
	// LabelRole is RoleTarget or RoleClient, on pods.
	LabelRole = "assay.dev/role"
	// LabelLane is the lane that a pod's run holds.
	LabelLane = "assay.dev/lane"

	managedBy  = "assay"
	runKind    = "BenchmarkRun"
	RoleTarget = "target"
	RoleClient = "client"
)

const (
	agentContainer   = "agent"
	contentContainer = "content"
	clientContainer  = "client"

	contentListFile = "content.json"
	caFile          = "ca.crt"

	identityVolume = "identity"
	identityFolder = "/var/run/assay"
	contentFolder  = "/assay/content"
	configFolder   = "/assay/config"

	// tokenLifetime is how long a pod's token is good for, in seconds; the kubelet
	// renews it. It is the shortest that Kubernetes allows.
	tokenLifetime = 600
	// nonRootUser is the user of Assay's images, and of a restricted target.
	nonRootUser = 65532
	// stopGrace is how long a pod may take to stop, in seconds.
	stopGrace = 10
)

// What a container gets when its resources don't say.
var (
	defaultCPU          = resource.MustParse("1")
	defaultTargetMemory = resource.MustParse("1Gi")
	defaultClientMemory = resource.MustParse("512Mi")
	agentResources      = equalResources(resource.MustParse("50m"), resource.MustParse("64Mi"))
)

// Settings are what the operator was started with and its pods need.
type Settings struct {
	// AssayImage is the image of the agent, LoadImage that of the clients.
	AssayImage string
	LoadImage  string
	// ImagePullPolicy is the pull policy of both.
	ImagePullPolicy corev1.PullPolicy
	// SessionAddress is the host and port at which pods reach the manager.
	SessionAddress string
	// Version is the operator's version, for the result's environment.
	Version string
}

// Names of a run's objects.
func configName(run *v1alpha1.BenchmarkRun) string   { return run.Name + "-config" }
func targetName(run *v1alpha1.BenchmarkRun) string   { return run.Name + "-target" }
func clientsName(run *v1alpha1.BenchmarkRun) string  { return run.Name + "-client" }
func artifactName(run *v1alpha1.BenchmarkRun) string { return run.Name + "-result" }

func objectMeta(run *v1alpha1.BenchmarkRun, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: run.Namespace,
		Labels:    labels(run),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind(runKind)),
		},
	}
}

func labels(run *v1alpha1.BenchmarkRun) map[string]string {
	return map[string]string{
		LabelManagedBy: managedBy,
		LabelRun:       run.Name,
		LabelRunUID:    string(run.UID),
	}
}

func podMeta(run *v1alpha1.BenchmarkRun, name, role string) metav1.ObjectMeta {
	meta := objectMeta(run, name)
	meta.Labels[LabelRole] = role
	meta.Labels[LabelLane] = run.Spec.Lane
	return meta
}

// configMap holds what the run's pods read: the rendered files of the server,
// the list of content, and the certificate by which they check the manager.
func configMap(run *v1alpha1.BenchmarkRun, rendering *target.Rendering, ca []byte) (*corev1.ConfigMap, error) {
	content := run.Spec.Target.Content
	if content == nil {
		content = []v1alpha1.ContentFile{}
	}
	list, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode the list of content: %w", err)
	}
	data := map[string]string{contentListFile: string(list), caFile: string(ca)}
	for name, text := range rendering.Files {
		data[name] = text
	}
	return &corev1.ConfigMap{ObjectMeta: objectMeta(run, configName(run)), Data: data}, nil
}

// artifactConfigMap holds the run's full result. Its existence is what makes a
// measurement complete.
func artifactConfigMap(run *v1alpha1.BenchmarkRun, encoded []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: objectMeta(run, artifactName(run)), BinaryData: map[string][]byte{artifact.Key: encoded}}
}

// targetPod has up to three containers: one that writes the content, if there
// is any, and ends, the agent, which starts before the server and watches it, and the server. It is
// Guaranteed, so that whole CPUs of the server are exclusive where the node
// can do that; and it is never restarted: a crash is a finding.
func targetPod(run *v1alpha1.BenchmarkRun, rendering *target.Rendering, settings *Settings) *corev1.Pod {
	spec := &run.Spec.Target
	server := rendering.Container
	server.Resources = requirements(spec.Resources, defaultTargetMemory)
	server.SecurityContext = restrictedContainer()
	if spec.PodSecurity == v1alpha1.PodSecurityBaseline {
		server.SecurityContext = nil
	}
	server.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError

	pod := &corev1.Pod{
		ObjectMeta: podMeta(run, targetName(run), RoleTarget),
		Spec:       podSpec(spec.PodSecurity != v1alpha1.PodSecurityBaseline),
	}
	pod.Spec.ShareProcessNamespace = ptr.To(true)
	pod.Spec.ImagePullSecrets = spec.ImagePullSecrets
	if len(spec.Content) > 0 {
		pod.Spec.InitContainers = []corev1.Container{contentWriter(server.Resources, settings)}
	}
	pod.Spec.Containers = []corev1.Container{agent(settings), server}
	pod.Spec.Volumes = []corev1.Volume{
		identity(run),
		{Name: target.ConfigVolume, VolumeSource: configSource(run)},
		{Name: target.ContentVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	for _, name := range rendering.WritableVolumes {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		})
	}
	return pod
}

// contentWriter has the resources of the server, which isn't running yet, so
// that it is quick and the pod asks for no more.
func contentWriter(resources corev1.ResourceRequirements, settings *Settings) corev1.Container {
	return corev1.Container{
		Name:                     contentContainer,
		Image:                    settings.AssayImage,
		ImagePullPolicy:          settings.ImagePullPolicy,
		Command:                  []string{"/agent"},
		Args:                     []string{"content", "--list", configFolder + "/" + contentListFile, "--dir", contentFolder},
		Resources:                resources,
		SecurityContext:          restrictedAssayContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			{Name: target.ConfigVolume, MountPath: configFolder, ReadOnly: true},
			{Name: target.ContentVolume, MountPath: contentFolder},
		},
	}
}

// agent is a container like the server's and is started just before it. As an
// init container that goes on running (a sidecar) it would hold the server up
// by a second: the kubelet looks only so often whether such a one has started.
func agent(settings *Settings) corev1.Container {
	return corev1.Container{
		Name:                     agentContainer,
		Image:                    settings.AssayImage,
		ImagePullPolicy:          settings.ImagePullPolicy,
		Command:                  []string{"/agent"},
		Args:                     []string{"sample"},
		Env:                      []corev1.EnvVar{{Name: "ASSAY_MANAGER", Value: settings.SessionAddress}},
		Resources:                agentResources,
		SecurityContext:          restrictedAssayContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: identityVolume, MountPath: identityFolder, ReadOnly: true}},
	}
}

// serverContainer is the server's container in a target's pod.
func serverContainer(pod *corev1.Pod) *corev1.Container {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == target.ContainerName {
			return &pod.Spec.Containers[i]
		}
	}
	return &corev1.Container{}
}

// clientJob starts the clients, each once. They prefer other nodes than the
// target's, and spread over nodes.
func clientJob(run *v1alpha1.BenchmarkRun, settings *Settings) *batchv1.Job {
	replicas := int32(loadplan.Replicas(&run.Spec))
	resources := requirements(run.Spec.Clients.Resources, defaultClientMemory)
	meta := podMeta(run, "", RoleClient)
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels},
		Spec:       podSpec(true),
	}
	template.Spec.Volumes = []corev1.Volume{identity(run)}
	template.Spec.Affinity = awayFromTarget(run)
	template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew:           1,
		TopologyKey:       corev1.LabelHostname,
		WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: string(run.UID), LabelRole: RoleClient}},
	}}
	template.Spec.Containers = []corev1.Container{{
		Name:            clientContainer,
		Image:           settings.LoadImage,
		ImagePullPolicy: settings.ImagePullPolicy,
		Command:         []string{"/assay-load"},
		Args:            []string{"client"},
		Env: []corev1.EnvVar{
			{Name: "ASSAY_MANAGER", Value: settings.SessionAddress},
			{Name: "ASSAY_CPU_LIMIT_MILLIS", Value: strconv.FormatInt(resources.Limits.Cpu().MilliValue(), 10)},
			{Name: "ASSAY_MEMORY_LIMIT_BYTES", Value: strconv.FormatInt(resources.Limits.Memory().Value(), 10)},
		},
		Resources:                resources,
		SecurityContext:          restrictedAssayContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: identityVolume, MountPath: identityFolder, ReadOnly: true}},
	}}
	return &batchv1.Job{
		ObjectMeta: objectMeta(run, clientsName(run)),
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          ptr.To(replicas),
			Parallelism:          ptr.To(replicas),
			BackoffLimit:         ptr.To(int32(0)),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template:             template,
		},
	}
}

func awayFromTarget(run *v1alpha1.BenchmarkRun) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey:   corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: string(run.UID), LabelRole: RoleTarget}},
			},
		}},
	}}
}

func podSpec(restricted bool) corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ServiceAccountName:            "default",
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To(int64(stopGrace)),
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

// restrictedContainer is what the restricted Pod Security Standard asks of a
// container beyond what the pod says.
func restrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// restrictedAssayContainer is for Assay's own images, which write only to
// mounted volumes. It holds also in a pod whose server runs as root.
func restrictedAssayContainer() *corev1.SecurityContext {
	context := restrictedContainer()
	context.ReadOnlyRootFilesystem = ptr.To(true)
	context.RunAsNonRoot = ptr.To(true)
	context.RunAsUser = ptr.To(int64(nonRootUser))
	context.RunAsGroup = ptr.To(int64(nonRootUser))
	return context
}

// identity is how a pod proves who it is, and how it checks the manager.
func identity(run *v1alpha1.BenchmarkRun) corev1.Volume {
	return corev1.Volume{Name: identityVolume, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: session.Audience, ExpirationSeconds: ptr.To(int64(tokenLifetime)), Path: "token",
			}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: configName(run)},
				Items:                []corev1.KeyToPath{{Key: caFile, Path: caFile}},
			}},
		}},
	}}
}

func configSource(run *v1alpha1.BenchmarkRun) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: configName(run)},
	}}
}

func requirements(r v1alpha1.Resources, memory resource.Quantity) corev1.ResourceRequirements {
	return equalResources(ptr.Deref(r.CPU, defaultCPU), ptr.Deref(r.Memory, memory))
}

// cpuMillis is a CPU limit in thousandths of a CPU.
func cpuMillis(r v1alpha1.Resources) int64 {
	cpu := ptr.Deref(r.CPU, defaultCPU)
	return cpu.MilliValue()
}

func equalResources(cpu, memory resource.Quantity) corev1.ResourceRequirements {
	list := corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}
