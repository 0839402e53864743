package native

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/hack/cluster/host"
	"github.com/assay-dev/assay/hack/cluster/process"
)

// All daemons of a node run in one mount namespace. Their mounts are invisible outside of it
// and disappear with the last process in it, however that exits.

// covered lists the directories outside of Layout that containerd, the kubelet,
// the network plugins and mount(8) write to. In the mount namespace, directories
// of the cluster are mounted over them. The kubelet's holds the socket for device
// plugins, which would otherwise replace that of another kubelet.
var covered = []string{
	"/run/netns", "/run/containerd", "/run/mount",
	"/var/lib/cni", "/var/lib/kubelet", "/var/log/containers",
}

func (l Layout) cover(dir string) string {
	return l.run("cover", strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-"))
}

// makeCoverDirs creates the sources and the mount points of these mounts.
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

// coverDirs mounts them. It must be called in a new mount namespace.
func (l Layout) coverDirs() error {
	for _, dir := range covered {
		if err := syscall.Mount(l.cover(dir), dir, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", dir, err)
		}
	}
	// Volumes with mount propagation need a shared tree. This one is shared
	// only within the namespace.
	return syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, "")
}

// supervisorCommand returns the command line of the supervisor. It enters the
// mount namespace of the node's running daemons, or creates one if none is running. That
// of the second node also enters the node's network namespace.
func (l Layout) supervisorCommand(self string) *exec.Cmd {
	args := []string{self, "supervise", "--state", l.cluster().State, "--run", l.cluster().Run, "--bin", l.Bin}
	var namespaces []string
	if l.whole != nil {
		args = append(args, "--second-node")
		namespaces = append(namespaces, "--net="+l.cluster().network())
	}
	pid := l.anyProcess()
	if pid == 0 {
		args = append(args, "--new-namespace")
	} else {
		namespaces = append(namespaces, fmt.Sprintf("--mount=/proc/%d/ns/mnt", pid))
	}
	if len(namespaces) > 0 {
		args = slices.Concat([]string{"nsenter"}, namespaces, []string{"--"}, args)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if pid == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	return cmd
}

// anyProcess returns the pid of a running daemon or shim, or 0 if none is running.
func (l Layout) anyProcess() int {
	for _, d := range l.daemons("") {
		if pid := l.pid(d.name); pid != 0 {
			return pid
		}
	}
	all, err := hierarchies()
	if err != nil {
		return 0
	}
	for _, h := range all {
		for _, pid := range host.Processes(h.system(l.node())) {
			if _, err := process.Find(pid); err == nil {
				return pid
			}
		}
	}
	return 0
}
