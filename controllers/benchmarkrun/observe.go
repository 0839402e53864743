package benchmarkrun

import (
	"context"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager"
)

// observed is everything that a decision about a run is made from, besides the
// run itself and the time. A child is nil when it doesn't exist.
type observed struct {
	config *corev1.ConfigMap
	target *corev1.Pod
	job    *batchv1.Job
	// clients are the clients' pods by index.
	clients map[int]*corev1.Pod
	// result is the stored result; only for a run that hasn't finished.
	result *result.Result
	// sessions is what the pods said.
	sessions manager.Observation
	// windows are the last windows of a warm-up until the target is steady, while
	// that isn't decided.
	windows []result.WarmupWindow
	// turn is where the run stands in its lane; only for a run that isn't
	// admitted.
	turn turn
	// inputs is what the run's ConfigMap is made from; nil once that is there.
	inputs *inputs
	// issued are the Certificates of the run that cert-manager has, by the names of
	// their Secrets; issuing is why one isn't ready, as cert-manager says it.
	// noCertManager is the field that needs it when the cluster has none. They are
	// only read while the run starts, and when they are to be removed.
	issued        map[string]*unstructured.Unstructured
	issuing       map[string]string
	noCertManager string
	// logs are the ends of the servers' logs by container, where they decide.
	logs map[string]string
	// troubles are what keeps pods from starting, by their names.
	troubles map[string]*trouble
	// kernel is the release of the target's node's kernel, where it isn't known yet.
	kernel string
	// conflict names an object that the run needs and that is somebody else's;
	// leftover one that is about to be deleted, being of an earlier run of the same
	// name, or of this one before it was suspended.
	conflict, leftover string
}

// collected is whether every client's final figures are here.
func (o *observed) collected(replicas int) bool {
	n := 0
	for i := range replicas {
		if o.sessions.Clients[i].Totals != nil {
			n++
		}
	}
	return n == replicas
}

// remains is whether there is something to be removed. Secrets can't be seen:
// they are made after the ConfigMap, and removed before it.
func (o *observed) remains() bool { return o.config != nil || o.target != nil || o.job != nil }

// observe reads the children of a run.
func (r *Reconciler) observe(ctx context.Context, run *v1alpha1.BenchmarkRun) (*observed, error) {
	o := &observed{clients: map[int]*corev1.Pod{}, sessions: r.Sessions.Observe(string(run.UID))}

	o.windows = r.observeWindows(run)
	o.config = &corev1.ConfigMap{}
	if err := r.child(ctx, run, o, manifest.ConfigName(run), o.config); err != nil {
		return nil, err
	} else if o.config.UID == "" {
		o.config = nil
	}
	o.target = &corev1.Pod{}
	if err := r.child(ctx, run, o, manifest.TargetName(run), o.target); err != nil {
		return nil, err
	} else if o.target.UID == "" {
		o.target = nil
	}
	o.job = &batchv1.Job{}
	if err := r.child(ctx, run, o, manifest.ClientsName(run), o.job); err != nil {
		return nil, err
	} else if o.job.UID == "" {
		o.job = nil
	}
	if err := r.observeClients(ctx, run, o); err != nil {
		return nil, err
	}
	if o.remains() && (isFinished(run) || isSuspended(run)) {
		if err := r.observeIssued(ctx, run, o); err != nil {
			return nil, err
		}
	}
	if isFinished(run) {
		return o, nil
	}
	if !isAdmitted(run) {
		o.noteDeletions()
	} else if err := r.observeStart(ctx, run, o); err != nil {
		return nil, err
	}
	return o, r.observeArtifact(ctx, run, o)
}

// observeWindows reads the windows of a warm-up that are compared.
func (r *Reconciler) observeWindows(run *v1alpha1.BenchmarkRun) []result.WarmupWindow {
	if run.Spec.Warmup == nil || run.Spec.Warmup.Steady == nil || run.Status.Warmup != nil {
		return nil
	}
	return r.Sessions.Windows(string(run.UID), loadplan.Replicas(&run.Spec), loadplan.Steady(run.Spec.Warmup.Steady))
}

// observeStart reads what only matters while an admitted run starts.
func (r *Reconciler) observeStart(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	var err error
	if o.config == nil {
		if o.inputs, err = r.observeInputs(ctx, run); err != nil {
			return err
		}
	}
	if o.job == nil {
		if err := r.observeIssued(ctx, run, o); err != nil {
			return err
		}
	}
	r.observeTroubles(ctx, run, o)
	r.observeLogs(ctx, run, o)
	return r.observeNode(ctx, run, o)
}

// child reads an object of the run into obj. It leaves obj without a UID when
// there is none, and notes a conflict when the object is somebody else's.
func (r *Reconciler) child(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed, name string, obj client.Object) error {
	err := r.Get(ctx, types.NamespacedName{Namespace: run.Namespace, Name: name}, obj)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s %s: %w", r.kind(obj), name, err)
	}
	if whose := whose(obj, run); whose != ours {
		o.note(whose, r.kind(obj)+" "+name)
		obj.SetUID("")
	}
	return nil
}

// ownership says whose an object is that has the name of one that a run needs.
type ownership int

const (
	ours ownership = iota
	// anEarlierRuns: it is deleted soon, its owner being gone.
	anEarlierRuns
	somebodyElses
)

func whose(obj client.Object, run *v1alpha1.BenchmarkRun) ownership {
	owner := metav1.GetControllerOf(obj)
	switch {
	case owner != nil && owner.UID == run.UID:
		return ours
	case manifest.IsRun(owner) && owner.Name == run.Name:
		return anEarlierRuns
	}
	return somebodyElses
}

func (o *observed) note(whose ownership, name string) {
	switch whose {
	case anEarlierRuns:
		o.leftover = name
	case somebodyElses:
		o.conflict = name
	}
}

// noteDeletions notes what of a run that isn't admitted is being deleted: it was
// suspended a moment ago.
func (o *observed) noteDeletions() {
	if o.config != nil && !o.config.DeletionTimestamp.IsZero() {
		o.leftover = "ConfigMap " + o.config.Name
	}
	if o.target != nil && !o.target.DeletionTimestamp.IsZero() {
		o.leftover = "Pod " + o.target.Name
	}
	if o.job != nil && !o.job.DeletionTimestamp.IsZero() {
		o.leftover = "Job " + o.job.Name
	}
}

func (r *Reconciler) kind(obj client.Object) string {
	gvk, err := r.GroupVersionKindFor(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

func (r *Reconciler) observeClients(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(run.Namespace),
		client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient}); err != nil {
		return fmt.Errorf("list the clients' pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation])
		if err != nil || o.job == nil || !metav1.IsControlledBy(pod, o.job) {
			continue // not a client: its Job is another's or gone
		}
		o.clients[index] = pod
	}
	return nil
}

func (r *Reconciler) observeArtifact(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	var stored corev1.ConfigMap
	if err := r.child(ctx, run, o, manifest.ArtifactName(run), &stored); err != nil || stored.UID == "" {
		return err
	}
	var err error
	if o.result, err = artifact.Decode(stored.BinaryData[artifact.Key]); err != nil {
		return fmt.Errorf("read the artifact %s: %w", stored.Name, err)
	}
	return nil
}

// observeTurn reads where a run stands in its lane. It reads past the cache:
// two runs must not both see the lane free.
func (r *Reconciler) observeTurn(ctx context.Context, run *v1alpha1.BenchmarkRun) (turn, error) {
	var runs v1alpha1.BenchmarkRunList
	if err := r.Live.List(ctx, &runs); err != nil {
		return turn{}, fmt.Errorf("list the runs of lane %s: %w", run.Spec.Lane, err)
	}
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.MatchingLabels{manifest.LabelLane: run.Spec.Lane}); err != nil {
		return turn{}, fmt.Errorf("list the pods of lane %s: %w", run.Spec.Lane, err)
	}
	return turnOf(run, runs.Items, pods.Items), nil
}
