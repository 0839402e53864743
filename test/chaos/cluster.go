package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/test/harness"
)

// cluster is the local cluster.
type cluster struct {
	*harness.Cluster
	// sweep counts the deletions that are still checked.
	sweep sync.WaitGroup
}

// newNamespace creates a namespace, also if the API server is away for a moment.
func (c *cluster) newNamespace(ctx context.Context) (name string, err error) {
	err = harness.Retry(ctx, func(ctx context.Context) error {
		name, err = c.NewNamespace(ctx, "assay-chaos-")
		return err
	})
	return name, err
}

// settle waits until all parts of the cluster are healthy and exactly one manager works. A manager
// that was restarted is replaced, so that the kubelet's backoff starts from its beginning.
func (c *cluster) settle(ctx context.Context, o *outcome) error {
	var replaced string
	return harness.Await(ctx, 3*time.Minute, func(ctx context.Context) error {
		if err := harness.Command(ctx, "assay-cluster", "status"); err != nil {
			return err
		}
		pod, err := c.Manager(ctx)
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) == 0 {
			return fmt.Errorf("manager %s has not started", pod.Name)
		}
		status := pod.Status.ContainerStatuses[0]
		if status.RestartCount > 0 && o != nil && pod.Name != replaced {
			replaced = pod.Name
			return errors.Join(errors.New("a new manager starts"), client.IgnoreNotFound(c.Delete(ctx, pod)))
		}
		if !status.Ready {
			return fmt.Errorf("manager %s is not ready", pod.Name)
		}
		return nil
	})
}
