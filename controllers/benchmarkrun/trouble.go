package benchmarkrun

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
)

// +kubebuilder:rbac:groups="",resources=events,verbs=list

const (
	// troubleDelay is how old a pod is that hasn't started before its events are
	// read, troublePause how soon they are read again.
	troubleDelay = 3 * time.Second
	troublePause = 5 * time.Second
)

// trouble is what the kubelet said last of a pod that doesn't start: of that a
// volume isn't there, the pod's status says nothing.
type trouble struct{ reason, message string }

func (t *trouble) String() string { return t.reason + ": " + t.message }

// missing is whether a ConfigMap or a Secret, or a key of it, isn't there. It
// may be called with nil. The words are those of the kubelet's volume plugins
// (k8s.io/kubernetes/pkg/volume: configmap, secret and projected).
func (t *trouble) missing() bool {
	if t == nil || t.reason != "FailedMount" {
		return false
	}
	for _, kind := range []string{`secret "`, `configmap "`} {
		if strings.Contains(t.message, kind) && strings.Contains(t.message, "not found") {
			return true
		}
	}
	return strings.Contains(t.message, "references non-existent")
}

// observeTroubles reads the events of the target's pod, and of the first
// client's that doesn't start: the others are like it.
func (r *Reconciler) observeTroubles(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) {
	pods := []*corev1.Pod{o.target}
	for i := range loadplan.Replicas(&run.Spec) {
		if starting(o.clients[i]) {
			pods = append(pods, o.clients[i])
			break
		}
	}
	for _, pod := range pods {
		if !starting(pod) || r.Clock.Now().Before(pod.CreationTimestamp.Add(troubleDelay)) {
			continue
		}
		var events corev1.EventList
		if err := r.Live.List(ctx, &events, client.InNamespace(pod.Namespace), client.MatchingFields{"involvedObject.uid": string(pod.UID)}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "can't read the events of a pod that doesn't start", "pod", pod.Name)
			continue
		}
		if t := lastTrouble(events.Items); t != nil {
			if o.troubles == nil {
				o.troubles = map[string]*trouble{}
			}
			o.troubles[pod.Name] = t
		}
	}
}

// starting is whether a node has taken a pod, none of whose containers it has
// started yet.
func starting(pod *corev1.Pod) bool {
	if pod == nil || pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return false
	}
	for _, status := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if status.State.Running != nil || status.State.Terminated != nil {
			return false
		}
	}
	return true
}

// lastTrouble is the last of a pod's events, if that is a warning: what comes
// after one shows that it was overcome.
func lastTrouble(events []corev1.Event) *trouble {
	var last *corev1.Event
	for i := range events {
		e := &events[i]
		if last == nil || at(e).After(at(last)) || at(e).Equal(at(last)) && e.Type != corev1.EventTypeWarning {
			last = e
		}
	}
	if last == nil || last.Type != corev1.EventTypeWarning {
		return nil
	}
	return &trouble{reason: last.Reason, message: bounded(strings.TrimSpace(last.Message), 1024)}
}

// at is when an event was seen last.
func at(e *corev1.Event) time.Time {
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

// troubled says what keeps a pod from starting, to be added to a message.
func (o *observed) troubled(pod *corev1.Pod) string {
	if pod == nil || o.troubles[pod.Name] == nil {
		return ""
	}
	return fmt.Sprint(o.troubles[pod.Name])
}
