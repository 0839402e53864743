package benchmarkrun

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

const (
	// proofGrace is how long a server that answers may take to say in its log what
	// it is; a backend too, which may be starting still: it isn't asked whether it
	// is ready.
	proofGrace = 30 * time.Second
	// proofPause is how soon its log is looked at again.
	proofPause = 100 * time.Millisecond
	// logLines and logBytes bound what is read of a log, logTimeout how long that
	// may take.
	logLines   = 2000
	logBytes   = 512 << 10
	logTimeout = 5 * time.Second
	// lastLines is how many lines of a log are shown of a server that failed, and
	// lastBytes how much of them at most.
	lastLines = 12
	lastBytes = 2048
)

// Logs reads the end of a container's log.
type Logs func(ctx context.Context, namespace, pod, container string) (string, error)

// ReadLogs returns Logs from a cluster.
func ReadLogs(cluster kubernetes.Interface) Logs {
	return func(ctx context.Context, namespace, pod, container string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, logTimeout)
		defer cancel()
		log, err := cluster.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
			Container: container, TailLines: new(int64(logLines)), LimitBytes: new(int64(logBytes)),
		}).DoRaw(ctx)
		if err != nil {
			return "", fmt.Errorf("read the log of container %s of pod %s: %w", container, pod, err)
		}
		return string(log), nil
	}
}

// observeLogs reads what the servers logged, when that is what decides: they
// have just become ready, or they failed.
func (r *Reconciler) observeLogs(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) {
	if o.target == nil || r.Logs == nil || !logsDecide(run, o, r.Clock.Now()) {
		return
	}
	o.logs = map[string]string{}
	for _, container := range manifest.Servers(run, o.target) {
		log, err := r.Logs(ctx, run.Namespace, o.target.Name, container.Name)
		if err != nil {
			// Without it the run goes on unproven, which its result says.
			ctrl.LoggerFrom(ctx).Error(err, "can't read a server's log", "pod", o.target.Name, "container", container.Name)
			continue
		}
		o.logs[container.Name] = log
	}
}

func logsDecide(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) bool {
	switch {
	case serverEnd(o.target) != nil:
		return true
	case underLoad(stateOf(run)):
		return false // a server under load is left alone
	case targetAnswered(run, o):
		return !proven(run)
	}
	return !targetWasReady(run) && now.After(targetReadyBy(run, o))
}

// observeNode reads the kernel of the target's node, once.
func (r *Reconciler) observeNode(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	if o.target == nil || o.target.Spec.NodeName == "" || run.Status.Target != nil && run.Status.Target.Kernel != "" {
		return nil
	}
	var node corev1.Node
	err := r.Live.Get(ctx, types.NamespacedName{Name: o.target.Spec.NodeName}, &node)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get node %s: %w", o.target.Spec.NodeName, err)
	}
	o.kernel = node.Status.NodeInfo.KernelVersion
	return nil
}

// proven is whether the run's status says already what the servers logged.
func proven(run *v1alpha1.BenchmarkRun) bool {
	said := map[string]string{}
	if t := run.Status.Target; t != nil {
		said[server.ContainerName] = t.ServerVersion
		for i := range t.Backends {
			said[t.Backends[i].Name] = t.Backends[i].ServerVersion
		}
	}
	return !slices.ContainsFunc(server.VerifiableContainers(&run.Spec.Target), func(name string) bool { return said[name] == "" })
}

// contradicted finds what was declared otherwise than the servers, or the TLS
// handshake, say. What a version can't do counts before what it does otherwise.
// What is logged under load doesn't count: it isn't about how they were started.
func contradicted(run *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	var found []server.Mismatch
	if !underLoad(stateOf(run)) {
		_, found = server.ReadLogs(&run.Spec.Target, o.logs)
	}
	if e := evidence(run, o); e != nil {
		found = append(found, server.TLSMismatches(&run.Spec.Target, e)...)
	}
	if len(found) == 0 {
		return nil
	}
	reason := v1alpha1.ReasonTargetMismatch
	var said, unsupported []string
	for _, c := range found {
		said = append(said, c.String())
		if c.Unsupported {
			reason = v1alpha1.ReasonTargetUnsupported
			unsupported = append(unsupported, c.String())
		}
	}
	if unsupported != nil {
		said = unsupported
	}
	return failuref(reason, "%s", bounded(strings.Join(said, "; also, "), maxMessage/2))
}

// evidence is what the target showed when it first answered.
func evidence(run *v1alpha1.BenchmarkRun, o *observed) *session.ProbeResult {
	if isExternal(run) {
		return o.sessions.Clients[0].ProbeResult
	}
	if o.sessions.Agent == nil {
		return nil
	}
	return o.sessions.Agent.ProbeResult
}

// prove writes down what was really started. It is false while that isn't
// known yet but may be soon.
func (p *planner) prove() bool {
	t, ready := p.status.Target, meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionTargetReady)
	if p.observed.logs == nil || t == nil || ready == nil || !targetAnswered(p.run, p.observed) {
		return true
	}
	read, _ := server.ReadLogs(&p.run.Spec.Target, p.observed.logs)
	for _, name := range server.VerifiableContainers(&p.run.Spec.Target) {
		logged := read[name]
		whole := logged.Version != "" && logged.Opened() != ""
		if !whole && !p.now.After(ready.LastTransitionTime.Add(proofGrace)) {
			p.requeueAfter = sooner(p.requeueAfter, proofPause)
			return false
		}
	}
	if logged, ok := read[server.ContainerName]; ok {
		t.ServerVersion, t.Connector, t.Libraries = bounded(logged.Version, 256), bounded(logged.Opened(), 256), boundedAll(logged.Libraries)
	}
	for i := range t.Backends {
		b := &t.Backends[i]
		if logged, ok := read[b.Name]; ok {
			b.ServerVersion, b.Connector, b.Libraries = bounded(logged.Version, 256), bounded(logged.Opened(), 256), boundedAll(logged.Libraries)
		}
	}
	return true
}

func boundedAll(texts []string) []string {
	var all []string
	for _, text := range texts[:min(len(texts), 16)] {
		if text != "" {
			all = append(all, bounded(text, 256))
		}
	}
	return all
}

// tlsStatus is what was negotiated, as the status has it.
func tlsStatus(e *result.Handshake) *v1alpha1.TLSStatus {
	if e == nil {
		return nil
	}
	s := &v1alpha1.TLSStatus{
		Protocol: bounded(e.Protocol, 32), Cipher: bounded(e.Cipher, 64),
		KeyAlgorithm: bounded(e.KeyAlgorithm, 32), KeySize: ptr.To(int32(e.KeySize)),
		Subject: bounded(e.Subject, 512), Issuer: bounded(e.Issuer, 512), Fingerprint: bounded(e.Fingerprint, 128),
		NotAfter:          ptr.To(metav1.NewTime(time.UnixMicro(e.NotAfter))),
		ClientCertificate: v1alpha1.ClientCertificateNotRequested,
	}
	if e.CertificateRequested {
		s.ClientCertificate = v1alpha1.ClientCertificateRequested
	}
	return s
}

// lastWords are the last lines of a server's log, to be added to a message.
func (o *observed) lastWords(container string) string {
	log := strings.TrimRight(o.logs[container], "\n")
	if log == "" {
		return ""
	}
	lines := strings.Split(log, "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i := range lines {
		lines[i] = printable.Text(lines[i])
	}
	text := strings.Join(lines, "\n")
	if len(text) > lastBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-lastBytes:], "")
	}
	return "\nthe last lines of its log:\n" + text
}
