package benchmarkrun

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
)

// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups="",resources=events,verbs=list

const (
	// logLines and logBytes limit what is read of a log, logTimeout how long that may take.
	logLines   = 2000
	logBytes   = 512 << 10
	logTimeout = 5 * time.Second
	// maxEvents limits the events of an object that are read: anybody who may create events can add some.
	maxEvents = 100
)

// ReadLogs returns Logs from a cluster.
func ReadLogs(cluster kubernetes.Interface) Logs {
	return func(ctx context.Context, namespace, pod, container string, since time.Time) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, logTimeout)
		defer cancel()
		options := &corev1.PodLogOptions{Container: container, LimitBytes: new(int64(logBytes))}
		if since.IsZero() {
			options.TailLines = new(int64(logLines))
		} else {
			options.SinceTime = new(metav1.NewTime(since))
		}
		log, err := cluster.CoreV1().Pods(namespace).GetLogs(pod, options).DoRaw(ctx)
		if err != nil {
			return "", fmt.Errorf("read the log of container %s of pod %s: %w", container, pod, err)
		}
		return string(log), nil
	}
}

// observeLogs reads the servers' logs. A run doesn't fail for a log that can't be read: the status
// says why, and the result that the server is unverified.
func (r *Reconciler) observeLogs(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) {
	if r.Logs == nil {
		return
	}
	containers, since := observed.NeedsLoadLogs(br, o, r.Clock.Now())
	for _, container := range containers {
		log, err := r.Logs(ctx, br.Namespace, o.Target.Name, container, since)
		if err != nil {
			ctrl.LoggerFrom(ctx).Info("Failed to read the server's log after the load", "container", container, "error", err.Error())
			continue
		}
		if o.LoadLogs == nil {
			o.LoadLogs = map[string]string{}
		}
		o.LoadLogs[container] = log
	}
	if !observed.NeedsLogs(br, o, r.Clock.Now()) {
		return
	}
	o.Logs, o.LogErrors = map[string]string{}, map[string]string{}
	for _, container := range observed.LoggedContainers(br, o) {
		log, err := r.Logs(ctx, br.Namespace, o.Target.Name, container, time.Time{})
		if err != nil {
			o.LogErrors[container] = err.Error()
			continue
		}
		o.Logs[container] = log
	}
}

// observePodEvents reads the events of pods that don't start or aren't created. An error takes the place of an event.
func (r *Reconciler) observePodEvents(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) {
	o.PodEvents = map[string]*pods.Event{}
	for _, obj := range observed.NeedsEvents(br, o, r.Clock.Now()) {
		var events corev1.EventList
		if err := r.APIReader.List(ctx, &events, client.InNamespace(obj.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(obj.GetUID())}, client.Limit(maxEvents)); err != nil {
			o.PodEvents[obj.GetName()] = &pods.Event{Reason: "EventsUnknown", Message: err.Error()}
		} else if event := pods.LastWarning(events.Items); event != nil {
			o.PodEvents[obj.GetName()] = event
		}
	}
}
