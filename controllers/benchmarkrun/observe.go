package benchmarkrun

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete

// observe reads everything that the next step of a run depends on. With an error it returns what
// needs no reading: that is enough to judge the run's deadline.
func (r *Reconciler) observe(ctx context.Context, br *v1alpha1.BenchmarkRun) (*observed.Run, error) {
	o := &observed.Run{
		Settings: r.Settings, CA: r.CA(), LeaderSince: r.leaderSince(), Clients: map[int]*corev1.Pod{}, Sessions: r.Sessions.Observe(string(br.UID)),
	}
	if r.Buckets != nil {
		o.Reclaims, _ = r.Buckets.Reclaims()
	}
	if !br.DeletionTimestamp.IsZero() {
		return o, errors.Join(r.observeReclaim(ctx, br, o), r.observeObjects(ctx, br, o))
	}
	r.observeLoad(br, o)
	return o, r.observeObjects(ctx, br, o)
}

// observeObjects reads the run's children, and what matters of other objects.
func (r *Reconciler) observeObjects(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	var errs [3]error
	errs[0] = r.observeConfig(ctx, br, o)
	o.Target, errs[1] = child(ctx, r, r, br, o, manifest.TargetName(br), &corev1.Pod{})
	o.Job, errs[2] = child(ctx, r, r, br, o, manifest.ClientsName(br), &batchv1.Job{})
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if err := r.observeClients(ctx, br, o); err != nil {
		return err
	}
	if o.Remains() && state.IsOver(br) {
		if err := r.observeIssued(ctx, br, o); err != nil {
			return err
		}
	}
	if state.IsFinished(br) || !br.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := r.observeArtifact(ctx, br, o); err != nil {
		return err
	}
	return r.observeProgress(ctx, br, o)
}

// observeProgress reads what matters for a run that hasn't finished: its position in its lane until
// it is admitted, and what it starts from.
func (r *Reconciler) observeProgress(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	if state.IsAdmitted(br) {
		_ = r.holdInputs(br) // the manager before this one had room for it
	} else {
		o.NoteDeletions()
		if state.IsSuspended(br) || state.IsParked(br) || o.JobSuspended() {
			return nil // Decide has what it needs
		}
		if err := r.observePosition(ctx, br, o); err != nil || !o.Position.Free {
			return err
		}
	}
	return r.observeStart(ctx, br, o)
}

// observeStart reads what matters while a run starts.
func (r *Reconciler) observeStart(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	if err := r.observeBlock(ctx, br, o); err != nil {
		return err
	}
	if o.Config == nil {
		if err := r.observeInputs(ctx, br, o); err != nil {
			return err
		}
	}
	if o.Job == nil {
		if err := r.observeIssued(ctx, br, o); err != nil {
			return err
		}
	}
	r.observePodEvents(ctx, br, o)
	r.observeLogs(ctx, br, o)
	return r.observeNode(ctx, br, o)
}

// observeLoad reads from the sessions what the load showed so far: the windows of a warm-up that
// are compared, the seconds of a measurement that may end at a breaking point, and those of one that is
// complete.
func (r *Reconciler) observeLoad(br *v1alpha1.BenchmarkRun, o *observed.Run) {
	uid, replicas := string(br.UID), loadplan.Replicas(&br.Spec)
	if w := br.Spec.Load.Warmup; w != nil && w.Steady != nil && br.Status.Warmup == nil {
		o.Windows = r.Sessions.Windows(uid, replicas, loadplan.Steady(w.Steady))
	}
	if state.IsFinished(br) || !o.Collected(br) {
		if o.Sessions.Starts[sessionpb.Stage_STAGE_MEASUREMENT] == 0 {
			return
		}
		o.Window = r.Sessions.Window(uid, replicas, observed.WindowEnd(br))
		if observed.Stops(br) {
			o.Passed = r.Sessions.Passed(uid, replicas)
		}
		return
	}
	r.observeBucket(br, o)
	if o.Unstored = r.known.get(br.UID).unstored; o.Unstored != nil {
		return
	}
	o.Series = r.Sessions.Series(uid)
	o.Levels, o.Steps = observed.Levels(br, o.Sessions.Clients)
	for i := range o.Levels {
		used := r.Sessions.TargetUsage(uid, o.Levels[i].Start, o.Levels[i].End)
		o.Levels[i].SetTarget(&used)
	}
	for i := range o.Steps {
		used := r.Sessions.TargetUsage(uid, o.Steps[i].Start, o.Steps[i].End)
		o.Steps[i].SetTarget(&used)
	}
}

func (r *Reconciler) observeClients(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(br.Namespace),
		client.MatchingLabels{manifest.LabelRunUID: string(br.UID), manifest.LabelRole: manifest.RoleClient}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the clients' pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if o.Job == nil {
			continue // not a client: its Job is another's or gone
		}
		index, ok := ownership.ClientOf(br, string(o.Job.UID), pod)
		if first := o.Clients[index]; ok && (first == nil || pod.CreationTimestamp.Before(&first.CreationTimestamp)) {
			o.Clients[index] = pod
		}
	}
	return nil
}

// observeInputs reads what the run copies of the user's ConfigMaps, one by one, until that is too much.
func (r *Reconciler) observeInputs(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	o.Inputs = map[string]*corev1.ConfigMap{}
	size := 0
	for _, name := range inputs.Names(br) {
		config := &corev1.ConfigMap{}
		found, err := r.read(ctx, r.APIReader, types.NamespacedName{Namespace: br.Namespace, Name: name}, config)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		needed, bytes := inputs.Needed(br, config)
		o.Inputs[name] = needed
		if size += bytes; size > inputs.MaxReadBytes {
			return nil // that is too much, whatever the others have
		}
	}
	return nil
}

// observeNode reads the target's node, once for a run. A manager that may not read nodes goes without: the result lacks
// what only the node says.
func (r *Reconciler) observeNode(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	name := observed.NeedsNode(br, o)
	if name == "" || r.nodesForbidden.Load() {
		return nil
	}
	if known := r.known.get(br.UID).node; known != nil && known.name == name {
		o.Node = known.node
		return nil
	}
	node := &corev1.Node{}
	found, err := r.read(ctx, r.APIReader, types.NamespacedName{Name: name}, node)
	if apierrors.IsForbidden(err) {
		r.nodesForbidden.Store(true)
		ctrl.LoggerFrom(ctx).Info("Not allowed to read nodes: results lack kernel, container runtime and kubelet")
		return nil
	}
	if err != nil {
		return err
	}
	if found {
		o.Node = node
	}
	r.known.change(br.UID, func(s *runState) { s.node = &targetNode{name, o.Node} })
	return nil
}
