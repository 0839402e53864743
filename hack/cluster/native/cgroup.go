package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/assay-dev/assay/hack/cluster/host"
)

// hierarchy is a mounted cgroup hierarchy. cgroup v1 has one for each
// controller, v2 a single one, and hybrid hosts have both.
type hierarchy struct {
	mount   string
	unified bool
}

func hierarchies() ([]hierarchy, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	return hierarchiesOf(mounts), err
}

// hierarchiesOf returns the hierarchies of mounts of cgroups: those that are complete, and each once.
func hierarchiesOf(mounts []*mountinfo.Info) []hierarchy {
	var found []hierarchy
	for _, m := range mounts {
		h := hierarchy{mount: m.Mountpoint, unified: m.FSType == "cgroup2"}
		if m.Root == "/" && !slices.Contains(found, h) {
			found = append(found, h)
		}
	}
	return found
}

// root returns the directory of a node's cgroup. That of the first node contains the whole cluster.
func (h hierarchy) root(n node) string   { return filepath.Join(h.mount, n.cgroup) }
func (h hierarchy) system(n node) string { return filepath.Join(h.root(n), "system") }

// makeCgroups creates the cgroup of the node: it contains `system` for the daemons, and
// the cgroups that the kubelet creates for pods.
func (l Layout) makeCgroups() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.unified {
			enableControllers(h.mount)
		}
		for _, dir := range []string{h.root(l.node()), h.system(l.node())} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("cgroup: %w", err)
			}
			if err := inheritCPUSet(dir); err != nil {
				return fmt.Errorf("cgroup %s: %w", dir, err)
			}
		}
		if h.unified {
			enableControllers(h.root(l.node()))
		}
	}
	return nil
}

// enableControllers enables all controllers of a v2 cgroup for its children. It
// ignores errors: a hybrid host has no controllers there, and some can't be
// enabled. The kubelet reports a controller that it needs and lacks.
func enableControllers(dir string) {
	content, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return
	}
	for _, controller := range strings.Fields(string(content)) {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
}

// inheritCPUSet copies the parent's CPUs and memory nodes to a new cgroup of the
// v1 cpuset hierarchy. Such a cgroup starts empty and accepts no process then.
func inheritCPUSet(dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		own, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(own)) != "" {
			continue
		}
		parents, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(dir, "cgroup.subtree_control")); err == nil {
			return nil // v2 inherits by itself
		}
		if err := os.WriteFile(filepath.Join(dir, file), parents, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// enterSystemCgroup moves the calling process to the daemons' cgroup, which its children inherit.
func (l Layout) enterSystemCgroup() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	pid := []byte(strconv.Itoa(os.Getpid()))
	for _, h := range all {
		if err := os.WriteFile(filepath.Join(h.system(l.node()), "cgroup.procs"), pid, 0o644); err != nil {
			return fmt.Errorf("enter cgroup: %w", err)
		}
	}
	return nil
}

// removeCgroups kills the processes in the node's cgroup and removes it. All of
// them were started by the cluster. The cgroup of the first node contains that of the second.
func (l Layout) removeCgroups() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	var failed error
	for _, h := range all {
		failed = errors.Join(failed, host.RemoveCgroup(h.root(l.node())))
	}
	return failed
}
