package main

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
)

// find returns a pod of the run.
type find func(context.Context, *trial) (*corev1.Pod, error)

func aClient(ctx context.Context, t *trial) (*corev1.Pod, error) {
	return t.Pod(ctx, t.run.Namespace, harness.ClientLabels(t.run, t.victim))
}

func target(ctx context.Context, t *trial) (*corev1.Pod, error) {
	return t.Pod(ctx, t.run.Namespace, harness.TargetLabels(t.run))
}

// strike is a function that makes a fault.
type strike = func(context.Context, *trial) (func() error, error)

// atProcess makes a fault of a container's process. If the container has ended already, the run was
// faster than the fault.
func atProcess(pod find, container string, do func(ctx context.Context, t *trial, pid int) (func() error, error)) strike {
	return func(ctx context.Context, t *trial) (func() error, error) {
		found, err := pod(ctx, t)
		if err != nil {
			return nil, t.unlessEnded(ctx, err)
		}
		pid, err := harness.Process(found, container)
		if err != nil {
			return nil, t.unlessEnded(ctx, err)
		}
		undo, err := do(ctx, t, pid)
		if err != nil {
			err = t.unlessEnded(ctx, err)
		}
		return undo, err
	}
}

// unlessEnded returns nil if the run ends, since its pods then do so too, and err otherwise.
func (t *trial) unlessEnded(ctx context.Context, err error) error {
	if harness.Await(ctx, 3*time.Second, t.ended) == nil {
		t.outcome.State += ", too late"
		return nil
	}
	return err
}

func killed(pod find, container string) strike {
	return atProcess(pod, container, func(_ context.Context, _ *trial, pid int) (func() error, error) {
		return nil, syscall.Kill(pid, syscall.SIGKILL)
	})
}

func outOfMemory(pod find, container string) strike {
	return atProcess(pod, container, func(ctx context.Context, _ *trial, pid int) (func() error, error) {
		return nil, exhaust(ctx, pid)
	})
}

func clockSet(pod find, container string) strike {
	return atProcess(pod, container, func(_ context.Context, t *trial, pid int) (func() error, error) {
		return nil, setClock(pid, t.shift)
	})
}

// cutOff drops what a client and the manager send each other, in the network namespace of the client's
// pod. It goes with the pod.
func cutOff(ctx context.Context, t *trial) (func() error, error) {
	return atProcess(aClient, "client", func(ctx context.Context, _ *trial, pid int) (func() error, error) {
		nft := func(rules string) error {
			return harness.Command(context.WithoutCancel(ctx), "nsenter", "-t", strconv.Itoa(pid), "-n", "nft", rules)
		}
		const port = 9443
		return func() error {
				if ended(pid) {
					return nil
				}
				return nft("delete table inet chaos")
			}, nft(fmt.Sprintf(`add table inet chaos
add chain inet chaos in { type filter hook input priority 0; }
add chain inet chaos out { type filter hook output priority 0; }
add rule inet chaos in tcp sport %d drop
add rule inet chaos out tcp dport %d drop`, port, port))
	})(ctx, t)
}

func podDeleted(pod find) strike {
	return func(ctx context.Context, t *trial) (func() error, error) {
		found, err := pod(ctx, t)
		if err != nil {
			return nil, t.unlessEnded(ctx, err)
		}
		return nil, client.IgnoreNotFound(t.Delete(ctx, found))
	}
}

func podEvicted(pod find) strike {
	return func(ctx context.Context, t *trial) (func() error, error) {
		found, err := pod(ctx, t)
		if err != nil {
			return nil, t.unlessEnded(ctx, err)
		}
		return nil, client.IgnoreNotFound(t.Kube.PolicyV1().Evictions(found.Namespace).Evict(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: found.Namespace, Name: found.Name},
		}))
	}
}

func jobDeleted(ctx context.Context, t *trial) (func() error, error) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: t.run.Namespace, Name: manifest.ClientsName(t.run)}}
	return nil, client.IgnoreNotFound(t.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}
