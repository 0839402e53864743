package observed

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// IsIssued reports whether cert-manager has issued a Certificate.
func IsIssued(issued *unstructured.Unstructured) bool {
	return certManagerCondition(issued, "Ready").Status == metav1.ConditionTrue
}

// IssuingMessage says in cert-manager's words why a Certificate, with these requests, isn't ready.
func IssuingMessage(issued *unstructured.Unstructured, requests []unstructured.Unstructured) string {
	conditions := []metav1.Condition{certManagerCondition(issued, "Ready"), certManagerCondition(issued, "Issuing")}
	for i := range requests {
		if c := certManagerCondition(&requests[i], "Ready"); c.Status != metav1.ConditionTrue {
			conditions = append(conditions, c)
		}
	}
	var messages []string
	for _, c := range conditions {
		if message := strings.Trim(c.Reason+": "+c.Message, ": "); message != "" {
			messages = append(messages, message)
		}
	}
	return cmp.Or(strings.Join(messages, "; "), "no status yet")
}

// certManagerCondition returns a condition, which is empty if there is none or it can't be read.
func certManagerCondition(obj *unstructured.Unstructured, kind string) metav1.Condition {
	var issued struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &issued); err != nil {
		return metav1.Condition{Message: err.Error()}
	}
	return ptr.Deref(meta.FindStatusCondition(issued.Status.Conditions, kind), metav1.Condition{})
}
