package benchmarkrun

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
)

// conflictPause is how long a newer version of a run is waited for.
const conflictPause = 100 * time.Millisecond

// act carries out a plan as far as the API server is concerned. It returns a
// failure when the run can never go on.
func (r *Reconciler) act(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed, p *plan) (*failure, error) {
	if p.expire {
		err := r.Delete(ctx, run, client.Preconditions{UID: &run.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		return nil, client.IgnoreNotFound(err)
	}
	if failed, err := r.create(ctx, run, o, p); failed != nil || err != nil {
		return failed, err
	}
	if p.store {
		if failed, err := r.store(ctx, run, o); failed != nil || err != nil {
			return failed, err
		}
	}
	if p.stop {
		return nil, r.stopPods(ctx, run, o)
	}
	if p.remove {
		return nil, r.removeChildren(ctx, run, o)
	}
	return nil, nil
}

// tell carries out a plan as far as the run's pods are concerned. It comes
// after the status was written: pods are let go only when nothing can be lost.
func (r *Reconciler) tell(uid string, run *v1alpha1.BenchmarkRun, p *plan) {
	if p.forget {
		r.Sessions.Forget(uid)
	}
	if p.address != "" {
		if !isExternal(run) {
			r.Sessions.Watch(uid, p.watch)
		}
		plans := loadplan.Plans(run, p.lengths)
		if run.Spec.Load.RequestsFrom != nil {
			loadplan.AddList(plans, p.requestList, p.lengths)
		}
		if run.Spec.Load.RequestsFrom == nil || p.requestList != nil { // else every client has it already
			r.Sessions.Prepare(uid, plans, p.address)
		}
	}
	for stage, at := range p.start {
		r.Sessions.Start(uid, stage, at)
	}
	if p.endWarmup {
		r.Sessions.End(uid)
	}
	if p.read {
		r.Sessions.RequestSample(uid)
	}
	if p.release {
		r.Sessions.Release(uid)
	}
}

// create makes the objects that a run needs and doesn't have.
func (r *Reconciler) create(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed, p *plan) (*failure, error) {
	if failed, err := r.createTargetsObjects(ctx, run, o, p); failed != nil || err != nil {
		return failed, err
	}
	if p.createClients {
		files, err := scriptFiles(o)
		if err != nil {
			return failuref(v1alpha1.ReasonInvalidSpec, "%s", err), nil
		}
		return r.createChild(ctx, run, manifest.ClientJob(run, files, &r.Settings))
	}
	return nil, nil
}

// createTargetsObjects makes the run's ConfigMap first: while that is there, so
// may be the Secrets of its certificates.
func (r *Reconciler) createTargetsObjects(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed, p *plan) (*failure, error) {
	rendering, failed := renderingFor(run, o, p)
	if failed != nil {
		return failed, nil
	}
	if p.createConfig {
		authority := r.Authority()
		if authority == nil {
			return nil, fmt.Errorf("the session certificate isn't there yet")
		}
		config, err := manifest.ConfigMap(run, rendering, &o.inputs.Inputs, authority)
		if err != nil {
			return nil, err
		}
		if failed, err := r.createChild(ctx, run, config); failed != nil || err != nil {
			return failed, err
		}
	}
	if p.createCertificates {
		if failed, err := r.createCertificates(ctx, run, o); failed != nil || err != nil {
			return failed, err
		}
	}
	if p.createTarget {
		pod, err := manifest.TargetPod(run, rendering, &r.Settings)
		if err != nil {
			return failuref(v1alpha1.ReasonInvalidSpec, "%s", err), nil
		}
		return r.createChild(ctx, run, pod)
	}
	return nil, nil
}

// renderingFor is what the target is made from. It is rendered once: the user's
// ConfigMaps may have changed since the run's own was made.
func renderingFor(run *v1alpha1.BenchmarkRun, o *observed, p *plan) (*server.Rendering, *failure) {
	rendering := &server.Rendering{}
	var err error
	if p.createConfig {
		err = cmp.Or(o.inputs.tooLarge(), o.inputs.checkScript())
	}
	switch {
	case err != nil, isExternal(run):
	case p.createConfig:
		rendering, err = server.Render(&run.Spec.Target, o.inputs.Configurations)
	case p.createTarget:
		rendering, err = manifest.ReadRendering(o.config)
	}
	if err != nil {
		return nil, failuref(v1alpha1.ReasonInvalidSpec, "%s", err)
	}
	return rendering, nil
}

// createChild creates an object. It is never applied: that would take over one
// that somebody else has made under the same name, which the cache doesn't show.
func (r *Reconciler) createChild(ctx context.Context, run *v1alpha1.BenchmarkRun, obj client.Object) (*failure, error) {
	err := r.Create(ctx, obj)
	if apierrors.IsAlreadyExists(err) {
		return r.existing(ctx, run, obj)
	}
	return r.created(run, obj, err)
}

// created says what came of creating an object. That the API server refuses it
// is for the user to mend.
func (r *Reconciler) created(run *v1alpha1.BenchmarkRun, obj client.Object, err error) (*failure, error) {
	switch {
	case err == nil:
		return nil, nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err):
		return failuref(v1alpha1.ReasonInvalidSpec, "the API server refused %s %s: %s; mend the spec, or the policies and quotas of namespace %s",
			r.kind(obj), obj.GetName(), err, run.Namespace), nil
	}
	return nil, fmt.Errorf("create %s %s: %w", r.kind(obj), obj.GetName(), err)
}

// existing looks whose an object is that exists already. The run's own is as
// good as a new one: the cache is behind.
func (r *Reconciler) existing(ctx context.Context, run *v1alpha1.BenchmarkRun, obj client.Object) (*failure, error) {
	name := r.kind(obj) + " " + obj.GetName()
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return nil, fmt.Errorf("get %s: %w", name, err)
	}
	switch whose(obj, run) {
	case somebodyElses:
		return conflict(name), nil
	case anEarlierRuns:
		return nil, fmt.Errorf("%s of an earlier run is still there", name)
	}
	return nil, nil
}

// stopPods ends the pods of a run and keeps them, so that their logs can be
// read: the kubelet stops a pod whose deadline has passed. Their certificates
// aren't kept.
func (r *Reconciler) stopPods(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	for _, pod := range o.pods() {
		if podEnded(pod) || pod.Spec.ActiveDeadlineSeconds != nil || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if pod.Spec.NodeName == "" { // it has no log, and no kubelet that would stop it
			if err := r.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete pod %s: %w", pod.Name, err)
			}
			continue
		}
		stopped := pod.DeepCopy()
		stopped.Spec.ActiveDeadlineSeconds = ptr.To(int64(1))
		if err := r.Patch(ctx, stopped, client.MergeFrom(pod)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("stop pod %s: %w", pod.Name, err)
		}
	}
	_, err := r.removeCertificates(ctx, run, o)
	return err
}

// removeChildren deletes what a finished run no longer needs: all but the
// artifact. The pods go first, which hold the lane, and the ConfigMap last: it
// is there as long as Secrets may be.
func (r *Reconciler) removeChildren(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	if o.target != nil {
		if err := r.removeChild(ctx, o.target); err != nil {
			return err
		}
	}
	if o.job != nil {
		if err := r.removeChild(ctx, o.job); err != nil {
			return err
		}
	}
	removed, err := r.removeCertificates(ctx, run, o)
	if err != nil || !removed || o.config == nil {
		return err
	}
	return r.removeChild(ctx, o.config)
}

func (r *Reconciler) removeChild(ctx context.Context, child client.Object) error {
	if !child.GetDeletionTimestamp().IsZero() {
		return nil
	}
	uid := child.GetUID()
	err := r.Delete(ctx, child, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", r.kind(child), child.GetName(), err)
	}
	return nil
}
