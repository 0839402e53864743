package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/hack/cluster/process"
)

// All daemons live in a mount namespace of their own. What they mount is seen
// by nobody else and goes with the last of them, however they end.

// covered are the folders outside the cluster's own two that containerd, the
// kubelet, the network plugins and mount(8) insist on. Inside the mount
// namespace folders of the cluster lie over them. The kubelet's is only for the
// socket of device plugins, which would else replace that of another kubelet.
var covered = []string{
	"/run/netns", "/run/containerd", "/run/mount",
	"/var/lib/cni", "/var/lib/kubelet", "/var/log/containers",
}

func (l Layout) cover(dir string) string {
	return l.run("cover", strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-"))
}

// makeCoverDirs makes both sides of these mounts.
func (l Layout) makeCoverDirs() error {
	for _, dir := range covered {
		for _, need := range []string{dir, l.cover(dir)} {
			if err := os.MkdirAll(need, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// coverDirs is called inside a fresh mount namespace.
func (l Layout) coverDirs() error {
	for _, dir := range covered {
		if err := syscall.Mount(l.cover(dir), dir, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", dir, err)
		}
	}
	// Volumes that ask for mount propagation need a shared tree. It is shared
	// within this namespace only.
	return syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, "")
}

// supervisorCommand is the command line of the supervisor: in the mount
// namespace of what still runs of an earlier one, else in a new one.
func (l Layout) supervisorCommand(self string) *exec.Cmd {
	args := []string{"supervise", "--state", l.State, "--run", l.Run, "--bin", l.Bin}
	if pid := l.anyProcess(); pid != 0 {
		namespace := fmt.Sprintf("--mount=/proc/%d/ns/mnt", pid)
		return exec.Command("nsenter", append([]string{namespace, "--", self}, args...)...)
	}
	cmd := exec.Command(self, append(args, "--new-namespace")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// anyProcess returns the pid of a living daemon or shim, 0 if there is none.
func (l Layout) anyProcess() int {
	for _, d := range l.daemons("") {
		if id, err := process.Read(l.pidFile(d.name)); err == nil && id.Alive() {
			return id.PID
		}
	}
	all, err := hierarchies()
	if err != nil {
		return 0
	}
	for _, h := range all {
		content, err := os.ReadFile(filepath.Join(h.system(), "cgroup.procs"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		for _, line := range strings.Fields(string(content)) {
			if pid, err := strconv.Atoi(line); err == nil {
				if _, err := process.Find(pid); err == nil {
					return pid
				}
			}
		}
	}
	return 0
}
