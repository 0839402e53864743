package benchmarkrun

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/step"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create;delete

// act applies the part of a plan that concerns the API server, up to the first refused object.
func (r *Reconciler) act(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) (*observed.Refusal, error) {
	for i := range plan.Create {
		if refusal, err := r.create(ctx, br, &plan.Create[i]); refusal != nil || err != nil {
			return refusal, err
		}
	}
	for _, pod := range plan.Stop {
		if err := r.stop(ctx, pod); err != nil {
			return nil, err
		}
	}
	for _, obj := range plan.Delete {
		if err := r.delete(ctx, br, obj); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// notify sends the part of a plan that concerns the run's pods. It runs after the status was
// written: pods are released only when nothing can be lost.
func (r *Reconciler) notify(br *v1alpha1.BenchmarkRun, plan *step.Plan) {
	uid := string(br.UID)
	if plan.Forget {
		r.Sessions.Forget(uid)
	}
	if plan.Watch != nil {
		r.Sessions.Watch(uid, *plan.Watch)
	}
	if plan.Prepare != nil {
		r.Sessions.Prepare(uid, plan.Prepare.Plans, plan.Prepare.Address)
	}
	if b := plan.Begin; b != nil {
		together := []string{uid}
		for _, other := range b.With {
			together = append(together, string(other))
		}
		r.Sessions.StartTogether(together, b.Stage, r.Sessions.Now()+b.Lead.Microseconds())
	}
	if plan.EndWarmup {
		r.Sessions.End(uid)
	}
	if plan.EndMeasurement > 0 {
		r.Sessions.EndMeasurement(uid, plan.EndMeasurement)
	}
	if s := plan.Summarize; s != nil {
		r.Sessions.Summarize(uid, s.Client, s.Data)
	}
	if plan.Read {
		r.Sessions.RequestSample(uid)
	}
	if plan.Release {
		r.Sessions.Release(uid)
	}
}

// create creates an object. Applying it would take over somebody else's that isn't cached yet.
func (r *Reconciler) create(ctx context.Context, br *v1alpha1.BenchmarkRun, c *observed.Creation) (*observed.Refusal, error) {
	obj := c.Object
	name := client.ObjectKeyFromObject(obj)
	if c.Certificate != nil {
		made, err := certificate.Issue(*c.Certificate, r.Clock.Now())
		if err != nil {
			return nil, fmt.Errorf("make the certificate of Secret %s: %w", name.Name, err)
		}
		obj = manifest.Secret(br, name.Name, made)
	}
	var inherited map[string]string
	if len(r.Settings.RunPods.InheritLabels) > 0 { // the cache has no labels of users
		live := &v1alpha1.BenchmarkRun{}
		if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(br), live); err != nil {
			return nil, fmt.Errorf("read the labels of the run: %w", err)
		}
		inherited = live.Labels
	}
	r.Settings.RunPods.Label(obj, inherited)
	err := r.Create(ctx, obj)
	refusal := &observed.Refusal{Creation: *c, Kind: r.kind(obj), Err: err}
	switch {
	case apierrors.IsAlreadyExists(err) && !c.Unreadable:
		return r.existing(ctx, br, refusal)
	case err == nil || apierrors.IsAlreadyExists(err):
		r.known.change(br.UID, func(s *runState) {
			ownership.Record(&s.made, obj)
			if c.Certificate != nil {
				s.signed[name.Name] = true
			}
			if config, ok := obj.(*corev1.ConfigMap); ok && err == nil && config.Name == manifest.ConfigName(br) {
				s.config = manifest.Summary(config)
			}
		})
		return nil, nil
	case failure.Rejects(err):
		return refusal, nil
	}
	return nil, fmt.Errorf("create %s %s: %w", refusal.Kind, name.Name, err)
}

// existing checks the owner of an existing object. The run's own is one that isn't cached yet.
func (r *Reconciler) existing(ctx context.Context, br *v1alpha1.BenchmarkRun, refusal *observed.Refusal) (*observed.Refusal, error) {
	obj := refusal.Creation.Object.DeepCopyObject().(manifest.Object)
	name := client.ObjectKeyFromObject(obj)
	if err := r.APIReader.Get(ctx, name, obj); err != nil {
		return nil, fmt.Errorf("get %s %s: %w", refusal.Kind, name.Name, err)
	}
	relation, err := r.relation(ctx, br, obj)
	switch {
	case relation == ownership.Foreign || obj.GetLabels()[manifest.LabelRunUID] == "":
		return refusal, nil // the cache never has one without labels, which no manager created
	case err == nil && relation != ownership.Own:
		err = errCacheBehind
	}
	return nil, err
}

// stop terminates a pod and keeps it: the kubelet stops a pod whose deadline has passed.
func (r *Reconciler) stop(ctx context.Context, pod *corev1.Pod) error {
	stopped := pod.DeepCopy()
	stopped.Spec.ActiveDeadlineSeconds = ptr.To(int64(pods.StopDeadline))
	if err := r.Patch(ctx, stopped, client.MergeFrom(pod)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("stop pod %s: %w", pod.Name, err)
	}
	return nil
}

// delete deletes an object, unless it was replaced by another of the same name.
func (r *Reconciler) delete(ctx context.Context, br *v1alpha1.BenchmarkRun, obj manifest.Object) error {
	name := client.ObjectKeyFromObject(obj)
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if uid := obj.GetUID(); uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	if err := r.Delete(ctx, obj, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", r.kind(obj), name.Name, err)
	}
	r.known.change(br.UID, func(s *runState) { delete(s.signed, name.Name) }) // if it was a Secret
	return nil
}
