package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Condition returns a condition of a run; one without a status if it isn't set yet.
func Condition(run *v1alpha1.BenchmarkRun, name string) metav1.Condition {
	if c := meta.FindStatusCondition(run.Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// Finished reads a run again, and returns an error unless it has finished.
func (c *Cluster) Finished(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		succeeded := Condition(run, v1alpha1.ConditionSucceeded)
		return fmt.Errorf("the run has not ended: %s: %s", succeeded.Reason, succeeded.Message)
	}
	return nil
}

// Result waits for the end of a run, which must succeed, and returns its result.
func (c *Cluster) Result(ctx context.Context, run *v1alpha1.BenchmarkRun, limit time.Duration) (*result.Result, error) {
	if err := Await(ctx, limit, func(ctx context.Context) error { return c.Finished(ctx, run) }); err != nil {
		return nil, err
	}
	if succeeded := Condition(run, v1alpha1.ConditionSucceeded); succeeded.Status != metav1.ConditionTrue {
		return nil, fmt.Errorf("the run failed: %s: %s", succeeded.Reason, succeeded.Message)
	}
	data, err := c.Artifact(ctx, run.Namespace, run.Status.Artifact)
	if err != nil {
		return nil, err
	}
	return artifact.Decode(data)
}

// Artifact returns what a status refers to. It must be what the status announces.
func (c *Cluster) Artifact(ctx context.Context, namespace string, of *v1alpha1.ArtifactReference) ([]byte, error) {
	if of == nil || of.ConfigMap == nil {
		return nil, errors.New("the status has no artifact in a ConfigMap")
	}
	var stored corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: of.ConfigMap.Name}, &stored); err != nil {
		return nil, fmt.Errorf("get the artifact: %w", err)
	}
	data := stored.BinaryData[of.ConfigMap.Key]
	if artifact.Identify(data).SHA256 != of.SHA256 {
		return nil, fmt.Errorf("ConfigMap %s is not what the status announces", stored.Name)
	}
	return data, nil
}

// Token returns a token of a pod for sessions with the manager.
func Token(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod) (string, error) {
	token, err := kube.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{session.Audience}, ExpirationSeconds: ptr.To(int64(600)),
			BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return token.Status.Token, nil
}

// Children returns the objects that carry the UID of a run, also its artifact.
func (c *Cluster) Children(ctx context.Context, run *v1alpha1.BenchmarkRun) ([]client.Object, error) {
	var all []client.Object
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &batchv1.JobList{}} {
		if err := c.List(ctx, list, client.MatchingLabels{manifest.LabelRunUID: string(run.UID)}); err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			all = append(all, item.(client.Object))
		}
	}
	return all, nil
}

// Names returns the kinds and names of objects.
func Names(objects []client.Object) string {
	names := make([]string, len(objects))
	for i, object := range objects {
		names[i] = fmt.Sprintf("%T %s", object, object.GetName())
	}
	return strings.Join(names, ", ")
}
