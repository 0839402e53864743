package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deletionLimit bounds the time in which a namespace with everything in it is deleted. After an outage of the API server
// the garbage collector alone needs half a minute.
const deletionLimit = 5 * time.Minute

// NewNamespace creates a namespace whose name begins with a prefix, for pods that keep to the restricted Pod
// Security Standard.
func (c *Cluster) NewNamespace(ctx context.Context, prefix string) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := c.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("create namespace: %w", err)
	}
	return namespace.Name, nil
}

// InNamespace calls do with a new namespace, and deletes it afterwards.
func (c *Cluster) InNamespace(ctx context.Context, prefix string, do func(namespace string) error) error {
	namespace, err := c.NewNamespace(ctx, prefix)
	if err != nil {
		return err
	}
	return errors.Join(do(namespace), c.DeleteNamespace(ctx, namespace))
}

// DeleteNamespace deletes a namespace and waits until it is gone, even if ctx is done.
func (c *Cluster) DeleteNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := Await(context.WithoutCancel(ctx), deletionLimit, func(ctx context.Context) error {
		err := c.Delete(ctx, namespace)
		if err == nil || apierrors.IsConflict(err) {
			err = errors.New("it is being deleted")
		}
		return client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("delete namespace %s: %w", name, err)
	}
	return nil
}
