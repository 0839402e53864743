package run

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// maxMessage limits the message of a condition, as metav1.Condition does.
const maxMessage = 32768

// Failure is why a run has no result: a reason of Succeeded, and the evidence and what to do.
type Failure struct {
	Reason  string
	Message string
}

func failuref(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func conflict(name string) *Failure {
	return failuref(v1alpha1.ReasonNameConflict, "%s already exists and does not belong to this run. Delete it, or give the run another name.", name)
}

func certManagerMissing(field string) *Failure {
	return failuref(v1alpha1.ReasonCertManagerMissing,
		"%s.issuerRef needs cert-manager, which is not installed in this cluster. Install it, or use selfSigned or secretName.", field)
}
