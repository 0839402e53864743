// Package manifest builds the objects that a BenchmarkRun consists of in the cluster: its
// ConfigMap, its Secrets and Certificates, the target's pod, the clients' Job and the ConfigMap
// with the result. Every builder is a pure function of the run's spec and the operator's settings.
// What to create, and when, is decided elsewhere, in package run.
package manifest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Labels of a run's objects.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelRun holds the run's name, LabelRunUID its UID.
	LabelRun    = "assay.dev/run"
	LabelRunUID = "assay.dev/run-uid"
	// LabelRole is set on pods, to RoleTarget or RoleClient.
	LabelRole = "assay.dev/role"
	// LabelLane is set on pods. It names the lane of the pod's run.
	LabelLane = "assay.dev/lane"

	// LabelQueue of a run is passed to its Job: the queue of Kueue, which suspends the Job until there is room for its pods.
	LabelQueue = "kueue.x-k8s.io/queue-name"

	RoleTarget = "target"
	RoleClient = "client"

	configSuffix = "-config"

	managedBy = "assay"
	runKind   = "BenchmarkRun"
)

// Object is a Kubernetes object. It has the methods of controller-runtime's client.Object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Settings holds what the operator was started with and its pods need.
type Settings struct {
	// AssayImage is the image of the agent, LoadImage that of the clients, and K6Image that of the clients of k6.
	AssayImage string
	LoadImage  string
	K6Image    string
	// ImagePullPolicy is the pull policy of all of them.
	ImagePullPolicy corev1.PullPolicy
	// SessionAddress is the host and port at which pods reach the manager.
	SessionAddress string
	// Namespace is the manager's namespace, and Identity names the installation among those of the cluster.
	Namespace string
	Identity  string
	// NetworkPolicies reports whether the pods of runs are isolated by NetworkPolicies.
	NetworkPolicies bool
	// DNS are the peers of the cluster's DNS, and Egress what else the pods of runs reach, as
	// ReadDNS and ReadEgress return them.
	DNS    []networkingv1.NetworkPolicyPeer
	Egress []networkingv1.NetworkPolicyEgressRule
	// Version is the operator's version, for the result's environment.
	Version string
	// MaxActiveDeadline limits spec.activeDeadlineSeconds of runs, unless it is zero. Lanes are the
	// lanes that runs may use, or empty for all.
	MaxActiveDeadline time.Duration
	Lanes             []string
	// MaxActiveRuns limits the active runs of a namespace in all lanes, unless it is zero. The others wait.
	MaxActiveRuns int
	// Issuers are the cert-manager issuers that runs may use, as KIND/NAME or KIND.GROUP/NAME, where
	// NAME may be *. Empty allows none.
	Issuers []string
	// RunPods is put on the pods and objects of all runs.
	RunPods RunPods
	// MaxContentBytes limits the size of spec.target.content in bytes, unless it is zero.
	MaxContentBytes int64
}

// ConfigName returns the name of the run's ConfigMap.
func ConfigName(run *v1alpha1.BenchmarkRun) string { return run.Name + configSuffix }

// TargetName returns the name of the target's pod.
func TargetName(run *v1alpha1.BenchmarkRun) string { return run.Name + "-target" }

// ClientsName returns the name of the clients' Job.
func ClientsName(run *v1alpha1.BenchmarkRun) string { return run.Name + "-client" }

// ArtifactName returns the name of the ConfigMap with the full result.
func ArtifactName(run *v1alpha1.BenchmarkRun) string { return run.Name + "-result" }

// IsRun reports whether an owner reference is one to a run. owner may be nil.
func IsRun(owner *metav1.OwnerReference) bool {
	return owner != nil && owner.Kind == runKind && owner.APIVersion == v1alpha1.GroupVersion.String()
}

func objectMeta(run *v1alpha1.BenchmarkRun, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: run.Namespace,
		Labels: map[string]string{
			LabelManagedBy: managedBy,
			LabelRun:       run.Name,
			LabelRunUID:    string(run.UID),
		},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind(runKind)),
		},
	}
}

func podMeta(run *v1alpha1.BenchmarkRun, name, role string) metav1.ObjectMeta {
	meta := objectMeta(run, name)
	meta.Labels[LabelRole] = role
	meta.Labels[LabelLane] = run.Spec.Lane
	return meta
}
