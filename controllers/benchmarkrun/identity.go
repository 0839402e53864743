package benchmarkrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create

// Claims of a pod's token that the API server adds
// (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/).
const (
	podNameClaim = "authentication.kubernetes.io/pod-name"
	podUIDClaim  = "authentication.kubernetes.io/pod-uid"
)

// Identifier authenticates the pods of runs by their tokens.
type Identifier struct {
	// Client creates TokenReviews and reads pods and Jobs.
	Client client.Client
}

// Identify reviews a token at the API server and returns the pod and run that it belongs to. A
// target's pod must be controlled by the run, a client's by the run's Job.
func (i *Identifier) Identify(ctx context.Context, token string) (manager.Identity, error) {
	name, uid, err := i.pod(ctx, token)
	if err != nil {
		return manager.Identity{}, err
	}
	var pod corev1.Pod
	if err := i.Client.Get(ctx, name, &pod); err != nil {
		return manager.Identity{}, fmt.Errorf("get pod %s: %w", name, err)
	}
	if string(pod.UID) != uid {
		return manager.Identity{}, fmt.Errorf("%w: pod %s is not the one that the token was issued for", manager.ErrForbidden, name)
	}
	identity := manager.Identity{Pod: pod.Name, PodUID: uid, Node: pod.Spec.NodeName}
	owner := metav1.GetControllerOf(&pod)
	switch {
	case manifest.IsRun(owner) && pod.Labels[manifest.LabelRole] == manifest.RoleTarget:
		identity.Role, identity.Run = sessionpb.Role_ROLE_AGENT, string(owner.UID)
		return identity, nil
	case owner != nil && owner.Kind == "Job" && pod.Labels[manifest.LabelRole] == manifest.RoleClient:
		identity.Role = sessionpb.Role_ROLE_CLIENT
		if identity.Run, err = i.runOfJob(ctx, name.Namespace, owner); err != nil {
			return manager.Identity{}, err
		}
		if identity.Index, err = strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation]); err != nil {
			return manager.Identity{}, fmt.Errorf("%w: pod %s has no completion index", manager.ErrForbidden, name)
		}
		return identity, nil
	}
	return manager.Identity{}, fmt.Errorf("%w: pod %s does not belong to a run", manager.ErrForbidden, name)
}

// pod returns the name and UID of the pod that a token was issued for.
func (i *Identifier) pod(ctx context.Context, token string) (types.NamespacedName, string, error) {
	review := &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{session.Audience}},
	}
	if err := i.Client.Create(ctx, review); err != nil {
		return types.NamespacedName{}, "", fmt.Errorf("review a pod's token: %w", err)
	}
	user := review.Status.User
	names, uids := user.Extra[podNameClaim], user.Extra[podUIDClaim]
	parts := strings.Split(user.Username, ":") // system:serviceaccount:NAMESPACE:NAME
	if !review.Status.Authenticated || len(names) != 1 || len(uids) != 1 || len(parts) != 4 {
		return types.NamespacedName{}, "", fmt.Errorf("%w: not a pod's token for audience %q", manager.ErrUnauthenticated, session.Audience)
	}
	return types.NamespacedName{Namespace: parts[2], Name: names[0]}, uids[0], nil
}

func (i *Identifier) runOfJob(ctx context.Context, namespace string, owner *metav1.OwnerReference) (string, error) {
	var job batchv1.Job
	err := i.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: owner.Name}, &job)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("get Job %s/%s: %w", namespace, owner.Name, err)
	}
	runOwner := metav1.GetControllerOf(&job)
	if apierrors.IsNotFound(err) || job.UID != owner.UID || !manifest.IsRun(runOwner) {
		return "", fmt.Errorf("%w: Job %s/%s does not belong to a run", manager.ErrForbidden, namespace, owner.Name)
	}
	return string(runOwner.UID), nil
}
