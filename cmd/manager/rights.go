package main

import (
	"context"
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errNoTokenReviews says what a manager lacks that may not authenticate the pods of runs.
var errNoTokenReviews = errors.New("this service account may not create TokenReviews, so no pod of a run could connect: " +
	"bind it to the ClusterRole system:auth-delegator, or install the chart with rbac.clusterScoped=true")

// rightsCheck stops a manager without the one right that it needs in no namespace, which a namespaced
// installation may lack. Without the check, each run would end by a timeout that names no cause.
type rightsCheck struct{ client client.Client }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (rightsCheck) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (c rightsCheck) Start(ctx context.Context) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create"},
	}}
	if err := c.client.Create(ctx, review); err != nil {
		ctrl.LoggerFrom(ctx).Info("Failed to check the manager's rights", "error", err.Error())
	} else if !review.Status.Allowed {
		return errNoTokenReviews
	}
	return nil
}
