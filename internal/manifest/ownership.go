package manifest

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
)

// Lengths of names that the API server generates (k8s.io/apiserver/pkg/storage/names).
const (
	generatedSuffix    = 5
	maxGeneratedPrefix = 63 - generatedSuffix
)

// IsTarget reports whether a pod is the target's pod that the run's status records. Labels and
// owner references don't matter: anybody who may create pods can write them.
func IsTarget(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) bool {
	recorded := ptr.Deref(run.Status.Children, v1alpha1.ChildrenStatus{}).TargetPodUID
	return recorded != "" && string(pod.UID) == recorded && pod.Namespace == run.Namespace && pod.Name == TargetName(run)
}

// ClientIndex returns the index of a client's pod, or false if the pod isn't as the Job controller
// creates those of the Job with the given UID. The Job controller sets the owner, the annotation
// with the index, the label that repeats it, and the prefix of the name.
func ClientIndex(run *v1alpha1.BenchmarkRun, job string, pod *corev1.Pod) (int, bool) {
	owner := metav1.GetControllerOf(pod)
	switch {
	case job == "" || owner == nil || string(owner.UID) != job || owner.Name != ClientsName(run):
		return 0, false
	case owner.APIVersion != batchv1.SchemeGroupVersion.String() || owner.Kind != "Job":
		return 0, false
	case pod.Namespace != run.Namespace || pod.Spec.ServiceAccountName != serviceAccount:
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
	name := ClientsName(run)
	return name[:min(len(name), maxGeneratedPrefix-len(suffix))] + suffix
}
