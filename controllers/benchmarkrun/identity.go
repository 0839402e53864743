package benchmarkrun

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/ownership"
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
	// Client creates TokenReviews and reads pods and runs, APIReader reads runs past the cache.
	Client    client.Client
	APIReader client.Reader
	// Namespaces are those that the manager serves, or empty for all.
	Namespaces []string
}

// Identify reviews a token at the API server and returns the pod and run that it belongs to. A pod
// speaks for a run only if the run exists in the pod's namespace, is active, and records the pod: as
// the target's, or as created by the Job controller for the run's Job. The labels and the owner
// reference of the pod only say which run to look at: anybody who may create pods can write them.
func (i *Identifier) Identify(ctx context.Context, token string) (manager.Identity, error) {
	if err := session.CheckClaims(token, time.Now()); err != nil {
		return manager.Identity{}, fmt.Errorf("%w: %w", manager.ErrUnauthenticated, err)
	}
	name, uid, err := i.pod(ctx, token)
	if err != nil {
		return manager.Identity{}, err
	}
	if len(i.Namespaces) > 0 && !slices.Contains(i.Namespaces, name.Namespace) {
		return manager.Identity{}, fmt.Errorf("%w: this manager does not serve the namespace of pod %s", manager.ErrForbidden, name)
	}
	var pod corev1.Pod
	if err := i.Client.Get(ctx, name, &pod); err != nil {
		return manager.Identity{}, fmt.Errorf("get pod %s: %w", name, err)
	}
	if string(pod.UID) != uid {
		return manager.Identity{}, fmt.Errorf("%w: pod %s is not the one that the token was issued for", manager.ErrForbidden, name)
	}
	runName := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[manifest.LabelRun]}
	if runName.Name == "" {
		return manager.Identity{}, fmt.Errorf("%w: pod %s does not belong to a run", manager.ErrForbidden, name)
	}
	var waits error // of a client that a queue has let start before the run has its lane
	// The cache may not have the status that records the pod yet.
	for _, reader := range []client.Reader{i.Client, i.APIReader} {
		var br v1alpha1.BenchmarkRun
		err := reader.Get(ctx, runName, &br)
		if client.IgnoreNotFound(err) != nil {
			return manager.Identity{}, fmt.Errorf("get run %s: %w", runName, err)
		}
		if err != nil {
			continue
		}
		switch role, index := ownership.Speaker(&br, &pod); role {
		case ownership.Target:
			return identity(&br, &pod, sessionpb.Role_ROLE_AGENT, 0), nil
		case ownership.Client:
			return identity(&br, &pod, sessionpb.Role_ROLE_CLIENT, index), i.checkUnique(ctx, &br, &pod, index)
		}
		if role, _ := ownership.RoleOf(&br, &pod); role == ownership.Client && lane.Waits(&br) {
			waits = fmt.Errorf("%w: run %s waits for its lane", manager.ErrNotYet, runName)
		}
	}
	if waits != nil {
		return manager.Identity{}, waits
	}
	return manager.Identity{}, fmt.Errorf("%w: pod %s does not belong to an active run", manager.ErrForbidden, name)
}

func identity(br *v1alpha1.BenchmarkRun, pod *corev1.Pod, role sessionpb.Role, index int) manager.Identity {
	return manager.Identity{Run: string(br.UID), Namespace: pod.Namespace, Pod: pod.Name, PodUID: string(pod.UID), Node: pod.Spec.NodeName, Role: role, Index: index}
}

// checkUnique refuses a client that has a twin.
func (i *Identifier) checkUnique(ctx context.Context, br *v1alpha1.BenchmarkRun, pod *corev1.Pod, index int) error {
	var others corev1.PodList
	if err := i.Client.List(ctx, &others, client.InNamespace(br.Namespace), client.UnsafeDisableDeepCopy, client.MatchingLabels{
		manifest.LabelRunUID: string(br.UID), batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index),
	}); err != nil {
		return fmt.Errorf("list the pods of client %d: %w", index, err)
	}
	if twin := ownership.Twin(br, pod, index, others.Items); twin != "" {
		return fmt.Errorf("%w: pods %s and %s both claim to be client %d", manager.ErrForbidden, pod.Name, twin, index)
	}
	return nil
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
