package run

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// podEventDelay is the age at which the events of a pod that hasn't started are read,
	// podEventInterval how often they are read again.
	podEventDelay    = 3 * time.Second
	podEventInterval = 5 * time.Second
)

// NeedsEvents returns the objects whose events must be read: the target's pod and the first client's
// if they don't start, as the other clients are like it, and the Job if it creates no pod. Those of a
// target that has ended show whether it was evicted: the status of a pod whose containers all exit
// with 0 does not.
func NeedsEvents(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) []manifest.Object {
	pods := []*corev1.Pod{o.Target}
	for i := range loadplan.Replicas(&run.Spec) {
		if starting(o.Clients[i]) {
			pods = append(pods, o.Clients[i])
			break
		}
	}
	var needed []manifest.Object
	for _, pod := range pods {
		if starting(pod) && !now.Before(pod.CreationTimestamp.Add(podEventDelay)) {
			needed = append(needed, pod)
		}
	}
	if o.Target != nil && PodEnded(o.Target) {
		needed = append(needed, o.Target)
	}
	if _, missing := o.missingClient(run); missing && !now.Before(o.Job.CreationTimestamp.Add(podEventDelay)) {
		needed = append(needed, o.Job)
	}
	return needed
}

// LastWarning returns the last of a pod's events if that is a warning, or nil. A later event shows
// that the cause of a warning is gone, but that of an eviction is final.
func LastWarning(events []corev1.Event) *PodEvent {
	var last *corev1.Event
	for i := range events {
		e := &events[i]
		if e.Type == corev1.EventTypeWarning && e.Reason == evictedReason {
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
	return &PodEvent{Reason: last.Reason, Message: Bounded(strings.TrimSpace(last.Message), 1024)}
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

// missing reports whether a ConfigMap or Secret, or a key of it, doesn't exist. e may be nil. The
// words are those of the kubelet's volume plugins (configmap, secret, projected).
func (e *PodEvent) missing() bool {
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

// ofClient describes what keeps a client from starting. The manager may not read Secrets: the
// kubelet reports that one, or a key of it, is missing, but not which field names it.
func (e *PodEvent) ofClient(run *v1alpha1.BenchmarkRun) string {
	a := run.Spec.Load.Authentication
	if a == nil || !e.missing() || !strings.Contains(e.Message, `volume "`+manifest.CredentialsVolume+`"`) {
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
