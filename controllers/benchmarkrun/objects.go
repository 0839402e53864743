package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
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
	renderingFile   = "rendering.json"
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
// the list of content and what of it was copied, the list of requests, and the
// certificate by which they check the manager. With the containers that were rendered it has all that
// the target's pod is made from.
func configMap(run *v1alpha1.BenchmarkRun, rendering *target.Rendering, in *inputs, ca []byte) (*corev1.ConfigMap, error) {
	list, binary, err := contentList(run, in)
	if err != nil {
		return nil, fmt.Errorf("encode the list of content: %w", err)
	}
	containers := *rendering
	containers.Files = nil
	encoded, err := json.Marshal(&containers)
	if err != nil {
		return nil, fmt.Errorf("encode the target's containers: %w", err)
	}
	data := map[string]string{contentListFile: string(list), renderingFile: string(encoded), caFile: string(ca)}
	for name, text := range rendering.Files {
		if utf8.ValidString(text) {
			data[name] = text
		} else {
			binary[name] = []byte(text) // JSON would change it
		}
	}
	if err := in.copyScript(data, binary); err != nil {
		return nil, err
	}
	if in.requests != nil {
		binary[requestListFile] = in.requests
	}
	return &corev1.ConfigMap{ObjectMeta: objectMeta(run, configName(run)), Data: data, BinaryData: binary}, nil
}

// renderingIn is what configMap wrote, without the files.
func renderingIn(config *corev1.ConfigMap) (*target.Rendering, error) {
	rendering := &target.Rendering{}
	if err := json.Unmarshal([]byte(config.Data[renderingFile]), rendering); err != nil {
		return nil, fmt.Errorf("read %s in ConfigMap %s: %w", renderingFile, config.Name, err)
	}
	return rendering, nil
}

// artifactConfigMap holds the run's full result. Its existence is what makes a
// measurement complete.
func artifactConfigMap(run *v1alpha1.BenchmarkRun, encoded []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: objectMeta(run, artifactName(run)), BinaryData: map[string][]byte{artifact.Key: encoded}}
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

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
