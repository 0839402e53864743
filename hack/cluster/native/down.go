package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/moby/sys/mount"

	"github.com/assay-dev/assay/hack/cluster/host"
	"github.com/assay-dev/assay/hack/cluster/process"
)

// Down removes the cluster: its pods, processes, mounts, interfaces, netfilter
// tables, cgroups and files. It tries every step, whatever state an interrupted
// command has left, and returns the errors of all steps.
func (l Layout) Down(ctx context.Context, report func(string, ...any)) error {
	if !l.Exists() {
		report("cluster not found; nothing to remove")
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New("the native cluster runs as root: run this as root")
	}
	lock, err := host.Lock(l.Run, report)
	if err != nil {
		return err
	}
	defer lock.Close()

	var failed error
	step := func(what string, do func() error) {
		if err := do(); err != nil {
			report("%s: %v", what, err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", what, err))
		}
	}

	// The supervisor first, since it restarts daemons that stop.
	step("stop the supervisor", func() error { return l.stop(supervisor, 2*time.Second) })
	step("stop node "+secondNode.name, l.second().powerOff)

	controlPlane := []string{"containerd", "etcd", "kube-apiserver"}
	daemons := l.daemons("")
	slices.Reverse(daemons)
	stop := func(stopped func(name string) bool) {
		for _, d := range daemons {
			if stopped(d.name) {
				step("stop "+d.name, func() error { return l.stop(d.name, d.stopGrace) })
			}
		}
	}
	stop(func(name string) bool { return !slices.Contains(controlPlane, name) })
	report("node programs stopped")
	if l.running("containerd") {
		limit, cancel := context.WithTimeout(ctx, 40*time.Second)
		// Not a failure yet: the remaining pods are killed and unmounted below.
		if err := l.removePods(limit); err != nil {
			report("pods: %v", err)
		}
		cancel()
		report("pods removed")
	}
	stop(func(name string) bool { return slices.Contains(controlPlane, name) })
	report("control plane stopped")

	step("kill what is left and remove the cgroups", l.removeCgroups)
	step("remove the link to node "+secondNode.name, removeLink)
	step("wait for the pods' interfaces to go", func() error { return waitForInterfaces(15 * time.Second) })
	step("remove netfilter tables", removeNetfilterTables)
	step("unmount", func() error { return errors.Join(mount.RecursiveUnmount(l.State), mount.RecursiveUnmount(l.Run)) })
	step("restore the host's settings", func() error { return host.Restore(l.hostRecord(), report) })
	if failed != nil {
		// Keep the records, so that the next `down` can finish.
		return failed
	}
	step("remove "+l.State, func() error { return os.RemoveAll(l.State) })
	step("remove "+l.Run, func() error { return os.RemoveAll(l.Run) })
	if failed == nil {
		report("cluster removed")
	}
	return failed
}

// stop stops a daemon of the cluster if it is running.
func (l Layout) stop(name string, grace time.Duration) error {
	id, err := process.Read(l.pidFile(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := id.Stop(grace); err != nil {
		return err
	}
	return os.Remove(l.pidFile(name))
}
