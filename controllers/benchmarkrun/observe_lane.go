package benchmarkrun

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
)

// observeLane returns the runs of a lane that matter, without their pods, and the version of the lane's
// state before it looked.
func (r *Reconciler) observeLane(ctx context.Context, name string) (*lane.Lane, uint64, error) {
	written, lastAdmission, version := r.lanes.snapshot(name, r.Clock.Now())
	var active v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &active, client.MatchingFields{laneField: name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, 0, fmt.Errorf("list the runs of lane %s: %w", name, err)
	}
	full, room, err := r.full(ctx)
	if err != nil {
		return nil, 0, err
	}
	queue := &lane.Lane{LastAdmission: lastAdmission, Full: full, Room: room}
	for i := range active.Items {
		br := &active.Items[i]
		last := written[br.UID]
		delete(written, br.UID)
		if last != nil && state.IsAdmitted(last) && !state.IsAdmitted(br) && br.DeletionTimestamp.IsZero() && !newer(br, last) {
			br = last // the cache is behind
		}
		queue.Runs = append(queue.Runs, br)
	}
	for _, last := range written {
		br := &v1alpha1.BenchmarkRun{}
		found, err := r.read(ctx, r, client.ObjectKeyFromObject(last), br)
		switch {
		case err != nil:
			return nil, 0, err
		case found && br.UID == last.UID:
			queue.Runs = append(queue.Runs, br)
		case last.DeletionTimestamp.IsZero() && !state.IsFinished(last):
			queue.Runs = append(queue.Runs, r.lanes.deleted(last, r.Clock.Now()))
		default:
			queue.Runs = append(queue.Runs, last)
		}
	}
	return queue, version, nil
}

// observeBlock reads the other runs of a run's block that are active, from the cache.
func (r *Reconciler) observeBlock(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	others, err := r.ofBlock(ctx, br)
	if err != nil {
		return err
	}
	for _, other := range others {
		if !lane.Holds(other) {
			continue
		}
		warmedUp, clients := 0, r.Sessions.Observe(string(other.UID)).Clients
		replicas := loadplan.Replicas(&other.Spec)
		for i := range replicas {
			if clients[i].WarmupEnded {
				warmedUp++
			}
		}
		o.Others = append(o.Others, observed.Other{
			UID: other.UID, Name: other.Name, Variant: ptr.Deref(other.Spec.Alternation.Variant, 0),
			Ready: state.TargetWasReady(other) && state.ClientsWereReady(other), WarmedUp: warmedUp == replicas,
		})
	}
	return nil
}

// ofBlock returns the other runs of a run's block that have not finished, one of each variant: the oldest, by age.
func (r *Reconciler) ofBlock(ctx context.Context, br *v1alpha1.BenchmarkRun) ([]*v1alpha1.BenchmarkRun, error) {
	if br.Spec.Alternation == nil {
		return nil, nil
	}
	var all v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &all, client.InNamespace(br.Namespace), client.MatchingFields{laneField: br.Spec.Lane}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the runs of block %s: %w", br.Spec.Alternation.Block, err)
	}
	oldest := map[int32]*v1alpha1.BenchmarkRun{}
	for i := range all.Items {
		other := &all.Items[i]
		if !lane.SameBlock(br, other) {
			continue
		}
		variant := ptr.Deref(other.Spec.Alternation.Variant, 0)
		if first := oldest[variant]; first == nil || lane.CompareAge(other, first) < 0 {
			oldest[variant] = other
		}
	}
	return slices.SortedFunc(maps.Values(oldest), lane.CompareAge), nil
}

// full returns the namespaces that may have no more active runs now, and why, and the room of those that have any. The active
// ones are those of the cache, and those that this manager has admitted, or is about to, and that the cache doesn't show yet. All
// runs of a block count as active from the admission of its first.
func (r *Reconciler) full(ctx context.Context) (full map[string]string, room map[string]int, err error) {
	most := r.Settings.MaxActiveRuns
	full = map[string]string{}
	for namespace, no := range r.lanes.outOfMemory(r.Clock.Now()) {
		full[namespace] = no.why
	}
	if most == 0 {
		return full, nil, nil
	}
	admitted := r.lanes.active()
	var active v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &active, client.MatchingFields{placeField: placeActive}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list the active runs: %w", err)
	}
	count, blocks := map[string]int{}, map[string]bool{}
	add := func(br *v1alpha1.BenchmarkRun) {
		if a := br.Spec.Alternation; a == nil {
			count[br.Namespace]++
		} else if block := fmt.Sprint(br.Namespace, "/", br.Spec.Lane, "/", a.Block, "/", a.Variants); !blocks[block] {
			blocks[block] = true
			count[br.Namespace] += int(a.Variants)
		}
	}
	for i := range active.Items {
		add(&active.Items[i])
		delete(admitted, active.Items[i].UID)
	}
	for uid, last := range admitted {
		br := &v1alpha1.BenchmarkRun{}
		found, err := r.read(ctx, r, client.ObjectKeyFromObject(last), br)
		if err != nil {
			return nil, nil, err
		}
		if found && br.UID == uid && !newer(br, last) {
			add(last)
		}
	}
	room = map[string]int{}
	for namespace, n := range count {
		room[namespace] = max(0, most-n)
		if n >= most {
			full[namespace] = fmt.Sprintf("%d are active, in all lanes, which is as many as this manager allows (--max-active-runs)", n)
		}
	}
	return full, room, nil
}

// observePosition reads a run's position from the cache, and confirms past it that no pod holds the
// lane before a run is admitted. What the cache doesn't know of runs yet, this manager has written
// itself. The lane of a run that may be admitted is reserved.
func (r *Reconciler) observePosition(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	if err := r.lanes.load(ctx, r, r.APIReader); err != nil {
		return err
	}
	if r.lanes.admitted(br) {
		return errCacheBehind // to queue it again would delete its pods
	}
	queue, version, err := r.observeLane(ctx, br.Spec.Lane)
	if err != nil {
		return err
	}
	for _, list := range []func(context.Context, *lane.Lane, string) error{r.cachedPods, r.livePods} {
		if err := list(ctx, queue, br.Spec.Lane); err != nil {
			return fmt.Errorf("list the pods of lane %s: %w", br.Spec.Lane, err)
		}
		o.Position = lane.PositionOf(br, queue, r.Clock.Now())
		if p := o.Position; p.Full != "" && !p.Held && p.Ahead > 0 {
			r.wake(ctx, types.NamespacedName{Name: br.Spec.Lane}) // it was its turn: others go ahead
		}
		if no, ok := r.lanes.outOfMemory(r.Clock.Now())[br.Namespace]; ok {
			o.Position.HeldUntil = no.until
		}
		if !o.Position.Free {
			return nil
		}
	}
	if err := r.holdInputs(br); err != nil {
		until := r.Clock.Now().Add(memoryInterval)
		r.lanes.noteOutOfMemory(br.Namespace, err.Error(), until)
		o.Position = lane.Position{Full: err.Error(), HeldUntil: until}
		r.wake(ctx, types.NamespacedName{Name: br.Spec.Lane})
		return nil
	}
	if !r.lanes.reserve(br, version) {
		return errCacheBehind
	}
	return nil
}

// cachedPods reads the pods with the label of a lane from the cache, and the runs that they name.
func (r *Reconciler) cachedPods(ctx context.Context, queue *lane.Lane, name string) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.HasLabels{manifest.LabelRunUID}, client.MatchingLabels{manifest.LabelLane: name},
		client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	queue.Pods = pods.Items
	return r.addOwners(ctx, queue, name)
}

// livePods reads the pods that runs of a lane have recorded past the cache. Anybody may create pods with
// any labels: it reads only the namespaces of runs whose pods may hold the lane, page by page.
func (r *Reconciler) livePods(ctx context.Context, queue *lane.Lane, name string) error {
	queue.Pods = nil
	owners, read := lane.OwnersAmong(queue.Runs), map[string]bool{}
	for _, br := range queue.Runs {
		if br.Status.Children == nil || read[br.Namespace] || lane.HasLeft(br, r.Clock.Now()) {
			continue
		}
		read[br.Namespace] = true
		for token := ""; ; {
			var page corev1.PodList
			if err := r.APIReader.List(ctx, &page, client.InNamespace(br.Namespace), client.HasLabels{manifest.LabelRunUID},
				client.MatchingLabels{manifest.LabelLane: name}, client.Limit(podPage), client.Continue(token)); err != nil {
				return err
			}
			for i := range page.Items {
				if owners.Of(&page.Items[i]) != nil {
					queue.Pods = append(queue.Pods, page.Items[i])
				}
			}
			if token = page.Continue; token == "" {
				break
			}
		}
	}
	return nil
}

// addOwners adds the finished runs that pods name as theirs. Whether they recorded the pods is
// decided by their status.
func (r *Reconciler) addOwners(ctx context.Context, queue *lane.Lane, name string) error {
	known := map[types.NamespacedName]bool{}
	for _, br := range queue.Runs {
		known[client.ObjectKeyFromObject(br)] = true
	}
	for i := range queue.Pods {
		owner := types.NamespacedName{Namespace: queue.Pods[i].Namespace, Name: queue.Pods[i].Labels[manifest.LabelRun]}
		if owner.Name == "" || known[owner] {
			continue
		}
		known[owner] = true
		br := &v1alpha1.BenchmarkRun{}
		found, err := r.read(ctx, r, owner, br)
		if err != nil {
			return err
		}
		if found && br.Spec.Lane == name {
			queue.Runs = append(queue.Runs, br)
		}
	}
	return nil
}
