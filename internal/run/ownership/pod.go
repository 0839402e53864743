package ownership

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
)

// Role is what a pod is to a run.
type Role int

const (
	// None is any pod that the run didn't make.
	None Role = iota
	// Target is the target's pod.
	Target
	// Client is the pod of a client.
	Client
)

// RoleOf returns what a pod is to a run, and the index of a client. The run's status records the UID of the target's pod;
// that of the clients' Job, and the pod is as the Job controller creates those of a Job.
func RoleOf(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) (role Role, index int) {
	recorded := run.Status.Children
	switch {
	case recorded == nil || pod.Namespace != run.Namespace:
		return None, 0
	case pod.Name == manifest.TargetName(run) && recorded.TargetPodUID != "" && string(pod.UID) == recorded.TargetPodUID:
		return Target, 0
	}
	if index, ok := ClientOf(run, recorded.ClientJobUID, pod); ok {
		return Client, index
	}
	return None, 0
}

// Speaker returns as what a pod speaks for a run: as what it is, while the run holds its lane.
func Speaker(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) (role Role, index int) {
	if !state.IsAdmitted(run) || state.IsFinished(run) || !run.DeletionTimestamp.IsZero() {
		return None, 0
	}
	return RoleOf(run, pod)
}

// Twin returns the name of another pod that is the same client of a run and hasn't ended, or "". The Job controller
// creates one pod for each index, so somebody else created one of the two, and nothing shows which: neither speaks.
func Twin(run *v1alpha1.BenchmarkRun, pod *corev1.Pod, index int, others []corev1.Pod) string {
	for i := range others {
		role, n := RoleOf(run, &others[i])
		if role == Client && n == index && others[i].UID != pod.UID && !pods.Ended(&others[i]) {
			return others[i].Name
		}
	}
	return ""
}

// Lengths of names that the API server generates (k8s.io/apiserver/pkg/storage/names).
const (
	generatedSuffix    = 5
	maxGeneratedPrefix = 63 - generatedSuffix
)

// ClientOf returns the index of a client's pod, or false if the pod isn't as the Job controller creates those of the Job
// with the given UID. The Job controller sets the owner, the annotation with the index, the label that repeats it, and the
// prefix of the name.
func ClientOf(run *v1alpha1.BenchmarkRun, job string, pod *corev1.Pod) (int, bool) {
	owner := metav1.GetControllerOf(pod)
	switch {
	case job == "" || owner == nil || string(owner.UID) != job || owner.Name != manifest.ClientsName(run):
		return 0, false
	case owner.APIVersion != batchv1.SchemeGroupVersion.String() || owner.Kind != "Job":
		return 0, false
	case pod.Namespace != run.Namespace || pod.Spec.ServiceAccountName != manifest.ServiceAccount:
		return 0, false
	}
	text := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	index, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(index) != text || index < 0 || index >= loadplan.Replicas(&run.Spec) {
		return 0, false
	}
	prefix := clientPrefix(run, text)
	named := pod.GenerateName == prefix && strings.HasPrefix(pod.Name, prefix) && len(pod.Name) == len(prefix)+generatedSuffix
	return index, named && pod.Labels[batchv1.JobCompletionIndexAnnotation] == text
}

// clientPrefix returns the generateName of the client with an index, as the Job controller of
// Kubernetes forms it (podGenerateNameWithIndex in pkg/controller/job/indexed_job_utils.go).
func clientPrefix(run *v1alpha1.BenchmarkRun, index string) string {
	suffix := "-" + index + "-"
	name := manifest.ClientsName(run)
	return name[:min(len(name), maxGeneratedPrefix-len(suffix))] + suffix
}
