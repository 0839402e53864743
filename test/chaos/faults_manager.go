package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/test/harness"
)

func managerKilled(ctx context.Context, t *trial) (func() error, error) {
	pid, err := t.ManagerProcess(ctx)
	if err != nil {
		return nil, err
	}
	return nil, syscall.Kill(pid, syscall.SIGKILL)
}

func managerKilledAgain(ctx context.Context, t *trial) (func() error, error) {
	last := 0
	for range t.times {
		if err := harness.Await(ctx, 2*time.Minute, func(ctx context.Context) error {
			pid, err := t.ManagerProcess(ctx)
			if err == nil && pid == last {
				err = errors.New("the manager was not restarted")
			}
			last = pid
			return err
		}); err != nil {
			return nil, err
		}
		if err := syscall.Kill(last, syscall.SIGKILL); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// managerFrozen stops the manager's process and lets it continue. The kubelet may have killed it in
// between.
func managerFrozen(ctx context.Context, t *trial) (func() error, error) {
	pid, err := t.ManagerProcess(ctx)
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil
	}, syscall.Kill(pid, syscall.SIGSTOP)
}

func managerOutOfMemory(ctx context.Context, t *trial) (func() error, error) {
	pid, err := t.ManagerProcess(ctx)
	if err != nil {
		return nil, err
	}
	return nil, exhaust(ctx, pid)
}

// exhaust has the kernel kill a process for memory: it lowers the limit of the process's cgroup to
// little more than is in use, and starts a small program in it that needs more. The kernel kills
// the largest process.
func exhaust(ctx context.Context, pid int) error {
	cgroup, limit, usage, err := memoryCgroup(pid)
	if err != nil {
		return err
	}
	const script = `echo $$ >"$1/cgroup.procs" && echo $(($(cat "$1/$3") + 1048576)) >"$1/$2"; exec dd if=/dev/zero of=/dev/null bs=4M count=2`
	for range 20 {
		_ = exec.CommandContext(ctx, "sh", "-c", script, "sh", cgroup, limit, usage).Run() // it may be the one that is killed
		for range 10 {
			if ended(pid) {
				return nil
			}
			harness.Sleep(ctx, 20*time.Millisecond)
		}
	}
	return fmt.Errorf("process %d survived at the memory limit of %s", pid, cgroup)
}

// memoryCgroup returns the directory of the memory cgroup of a process, and the names of the files
// with its limit and usage, in version 1 or 2.
func memoryCgroup(pid int) (directory, limit, usage string, err error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", "", "", err
	}
	groups, err := process.Cgroups()
	if err != nil {
		return "", "", "", err
	}
	for _, g := range groups {
		if slices.Contains(g.Controllers, "memory") {
			return "/sys/fs/cgroup/memory" + g.Path, "memory.limit_in_bytes", "memory.usage_in_bytes", nil
		}
		if g.HierarchyID == 0 {
			directory = "/sys/fs/cgroup" + g.Path
		}
	}
	if directory == "" {
		err = fmt.Errorf("process %d has no memory cgroup", pid)
	}
	return directory, "memory.max", "memory.current", err
}

// ended reports whether a process has ended, waited for or not.
func ended(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return true
	}
	stat, err := process.Stat()
	return err != nil || stat.State == "Z"
}

// secondManager starts another manager: a copy of the pod that no ReplicaSet counts.
func secondManager(ctx context.Context, t *trial) (func() error, error) {
	first, err := t.Manager(ctx)
	if err != nil {
		return nil, err
	}
	second := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: first.Namespace, Name: "chaos-second-manager", Labels: map[string]string{}, Annotations: first.Annotations,
	}, Spec: *first.Spec.DeepCopy()}
	for name, value := range first.Labels {
		if name != "pod-template-hash" {
			second.Labels[name] = value
		}
	}
	second.Spec.NodeName = ""
	end := func() error {
		ctx := context.WithoutCancel(ctx)
		return harness.Await(ctx, 2*time.Minute, func(ctx context.Context) error {
			err := t.Delete(ctx, second)
			if err == nil {
				err = errors.New("the second manager terminates")
			}
			return client.IgnoreNotFound(err)
		})
	}
	if err := t.Create(ctx, second); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return end, harness.Await(ctx, time.Minute, func(ctx context.Context) error {
		if err := t.Get(ctx, client.ObjectKeyFromObject(second), second); err != nil {
			return err
		}
		_, err := harness.Process(second, harness.ManagerContainer)
		return err
	})
}

func leaderKilled(ctx context.Context, t *trial) (func() error, error) {
	var lease coordinationv1.Lease
	if err := t.Get(ctx, types.NamespacedName{Namespace: harness.OperatorNamespace, Name: "assay-manager"}, &lease); err != nil {
		return nil, err
	}
	var leader corev1.Pod
	if err := t.Get(ctx, types.NamespacedName{Namespace: harness.OperatorNamespace, Name: *lease.Spec.HolderIdentity}, &leader); err != nil {
		return nil, err
	}
	pid, err := harness.Process(&leader, harness.ManagerContainer)
	if err != nil {
		return nil, err
	}
	return nil, syscall.Kill(pid, syscall.SIGKILL)
}

func managerClockSet(ctx context.Context, t *trial) (func() error, error) {
	pid, err := t.ManagerProcess(ctx)
	if err != nil {
		return nil, err
	}
	// The next run needs a manager whose clock is right.
	return func() error { return syscall.Kill(pid, syscall.SIGKILL) }, setClock(pid, t.shift)
}
