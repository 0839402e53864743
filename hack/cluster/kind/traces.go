package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"

	"github.com/assay-dev/assay/hack/cluster/host"
)

// Podman and its programs leave traces on the machine when the last container has gone: empty netfilter chains, a mount
// of /run/netns on itself, and files and cgroups under fixed paths. A user's own podman has the same. So
// traces are removed only if they weren't there before the cluster.

const (
	networkNamespaces = "/run/netns"
	cgroupParent      = "libpod_parent"
)

// traces describes what was there before the cluster.
type traces struct {
	// Tables holds the netfilter tables as `nft list tables` prints them.
	Tables []string `json:"tables"`
	// Namespaces reports whether /run/netns was a mount, Cgroups whether containers of podman had a cgroup.
	Namespaces bool `json:"namespaces"`
	Cgroups    bool `json:"cgroups"`
}

func (c Cluster) tracesFile() string { return c.state("traces-before.json") }

// recordTraces writes what is there now, unless that has been done already.
func (c Cluster) recordTraces() error {
	if _, err := os.Stat(c.tracesFile()); err == nil {
		return nil
	}
	var before traces
	var err error
	if before.Tables, err = host.Tables(); err != nil {
		return err
	}
	if before.Namespaces, err = isMounted(networkNamespaces); err != nil {
		return err
	}
	cgroups, err := podmanCgroups()
	if err != nil {
		return err
	}
	before.Cgroups = len(cgroups) > 0
	content, err := json.Marshal(before)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.tracesFile()+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(c.tracesFile()+".new", c.tracesFile())
}

// removeTraces removes what has come since recordTraces, and restores the rest of the machine. shared
// means that the native cluster uses the kernel's settings and the directories of podman's programs, too.
func (c Cluster) removeTraces(shared bool, report func(string, ...any)) error {
	var before traces
	content, err := os.ReadFile(c.tracesFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing has been changed yet
	}
	if err == nil {
		err = json.Unmarshal(content, &before)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.tracesFile(), err)
	}
	failed := removeTables(before.Tables)
	if !before.Cgroups {
		failed = errors.Join(failed, removeCgroups())
	}
	if !before.Namespaces {
		failed = errors.Join(failed, removeNamespaces())
	}
	if err := c.removeFiles(); err != nil {
		return errors.Join(failed, err)
	}
	if shared {
		report("the native cluster keeps the kernel's settings and %s", networkNamespaces)
		return errors.Join(failed, c.removeDirs())
	}
	return errors.Join(failed, host.Restore(c.hostRecord(), report))
}

// removeTables removes the netfilter tables that podman's network program has created.
func removeTables(before []string) error {
	return host.RemoveTables(func(table, family, name string) bool {
		if slices.Contains(before, table) {
			return false
		}
		out, err := exec.Command("nft", "list", "table", family, name).Output()
		return err == nil && onlyNetavark(string(out)) // else it was removed in the meantime, or is another program's
	})
}

// onlyNetavark reports whether all that a table has comes from podman's network program, which is called netavark. All
// of its chains and rules have the name in them, but for the rules of its own chains.
func onlyNetavark(table string) bool {
	found, chain := false, ""
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || slices.Contains([]string{"#", "}", "table", "type"}, fields[0]):
		case fields[0] == "chain":
			chain = fields[1]
			found = found || strings.HasPrefix(chain, "NETAVARK")
		case !strings.HasPrefix(chain, "NETAVARK") && !strings.Contains(line, "NETAVARK"):
			return false
		}
	}
	return found
}

func podmanCgroups() ([]string, error) {
	unified, err := filepath.Glob("/sys/fs/cgroup/" + cgroupParent)
	divided, otherErr := filepath.Glob("/sys/fs/cgroup/*/" + cgroupParent)
	return append(unified, divided...), errors.Join(err, otherErr)
}

// removeCgroups kills what is left in the cgroups of containers and removes them.
func removeCgroups() error {
	dirs, failed := podmanCgroups()
	for _, dir := range dirs {
		failed = errors.Join(failed, host.RemoveCgroup(dir))
	}
	return failed
}

func isMounted(dir string) (bool, error) {
	mounted, err := mountinfo.Mounted(dir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return mounted, err
}

// removeNamespaces unmounts network namespaces that an interrupted command has left, and their directory.
func removeNamespaces() error {
	if mounted, err := isMounted(networkNamespaces); err != nil || !mounted {
		return err
	}
	files, failed := filepath.Glob(networkNamespaces + "/netns-*")
	for _, file := range files {
		if err := syscall.Unmount(file, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			failed = errors.Join(failed, fmt.Errorf("unmount %s: %w", file, err))
		}
		failed = errors.Join(failed, os.Remove(file))
	}
	// A namespace of something else, such as `ip netns`, keeps it busy.
	if err := syscall.Unmount(networkNamespaces, 0); err != nil && !errors.Is(err, syscall.EBUSY) {
		failed = errors.Join(failed, fmt.Errorf("unmount %s: %w", networkNamespaces, err))
	}
	return failed
}

func (c Cluster) hostRecord() string { return c.state("host-before.json") }

// removeFiles removes the files that podman has left in directories that weren't there.
func (c Cluster) removeFiles() error {
	for _, file := range []string{
		"/run/containers/networks/ipam.db", "/run/containers/networks/aardvark.lock",
		"/run/containers/networks/aardvark-dns", "/var/lib/containers/cache/blob-info-cache-v1.boltdb",
	} {
		if !host.Missing(c.hostRecord(), filepath.Dir(file)) {
			continue // a user's own podman has these
		}
		if err := os.RemoveAll(file); err != nil {
			return err
		}
	}
	return nil
}

// removeDirs removes the directories that weren't there and that the native cluster doesn't use. Removing a directory
// also removes what another mount namespace has mounted on it.
func (c Cluster) removeDirs() error {
	var failed error
	for _, dir := range createdDirs {
		if dir == networkNamespaces || !host.Missing(c.hostRecord(), dir) {
			continue
		}
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
