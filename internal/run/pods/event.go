package pods

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/session"
)

// LastWarning returns the last of a pod's events if that is a warning, or nil. A later event shows
// that the cause of a warning is gone, but that of an eviction is final.
func LastWarning(events []corev1.Event) *Event {
	var last *corev1.Event
	for i := range events {
		e := &events[i]
		if e.Type == corev1.EventTypeWarning && e.Reason == EvictedReason {
			last = e
			break
		}
		if last == nil || lastSeen(e).After(lastSeen(last)) || lastSeen(e).Equal(lastSeen(last)) && e.Type != corev1.EventTypeWarning {
			last = e
		}
	}
	if last == nil || last.Type != corev1.EventTypeWarning {
		return nil
	}
	return &Event{Reason: last.Reason, Message: printable.Bounded(strings.TrimSpace(last.Message), 1024)}
}

func lastSeen(e *corev1.Event) time.Time {
	last := e.CreationTimestamp.Time
	candidates := []time.Time{e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		candidates = append(candidates, e.Series.LastObservedTime.Time)
	}
	for _, t := range candidates {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Missing reports whether a ConfigMap or Secret, or a key of it, doesn't exist. e may be nil. The
// words are those of the kubelet's volume plugins (configmap, secret, projected).
func (e *Event) Missing() bool {
	if e == nil || e.Reason != "FailedMount" {
		return false
	}
	for _, kind := range []string{`secret "`, `configmap "`} {
		if strings.Contains(e.Message, kind) && strings.Contains(e.Message, "not found") {
			return true
		}
	}
	return strings.Contains(e.Message, "references non-existent")
}

// OfClient describes what keeps a client from starting. The manager may not read Secrets: the
// kubelet reports that one, or a key of it, is missing, but not which field names it.
func (e *Event) OfClient(run *v1alpha1.BenchmarkRun) string {
	a := run.Spec.Load.Authentication
	if a == nil || !e.Missing() || !strings.Contains(e.Message, `volume "`+manifest.CredentialsVolume+`"`) {
		return e.String()
	}
	keys := session.CredentialKeys(string(a.Scheme))
	noun := "key"
	if len(keys) > 1 {
		noun = "keys"
	}
	return fmt.Sprintf("spec.load.authentication.secretName: Secret %s/%s must exist and have the %s %s for scheme %s (%s)",
		run.Namespace, a.SecretName, noun, strings.Join(keys, " and "), a.Scheme, e)
}

// Event is the last event of a pod that doesn't start, or of a Job that creates no pod. Only events report that a volume's source
// doesn't exist: the pod's status doesn't.
type Event struct{ Reason, Message string }

func (e *Event) String() string { return e.Reason + ": " + e.Message }
