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

// checkRights returns an error for a manager without the one right that it needs in no namespace, which a
// namespaced installation may lack. Without the check, each run would end by a timeout that names no
// cause. It comes before the manager starts: that can't be stopped cleanly while its caches fill.
func checkRights(ctx context.Context, apiClient client.Client) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create"},
	}}
	if err := apiClient.Create(ctx, review); err != nil {
		ctrl.Log.Info("Failed to check the manager's rights", "error", err.Error())
	} else if !review.Status.Allowed {
		return errNoTokenReviews
	}
	return nil
}
