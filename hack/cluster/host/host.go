// Package host keeps what clusters change on this machine outside of their own directories, so that it
// can be restored.
package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"
)

// kernelSettings lists the settings that a cluster or its kubelet changes.
var kernelSettings = []string{
	"net/ipv4/ip_forward",
	"net/ipv4/conf/all/route_localnet",
	"net/bridge/bridge-nf-call-iptables",
	"net/bridge/bridge-nf-call-ip6tables",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
	"kernel/panic",
	"kernel/panic_on_oops",
	"kernel/keys/root_maxkeys",
	"kernel/keys/root_maxbytes",
	"net/netfilter/nf_conntrack_max",
	"net/netfilter/nf_conntrack_tcp_timeout_established",
	"net/netfilter/nf_conntrack_tcp_timeout_close_wait",
	"net/netfilter/nf_conntrack_tcp_be_liberal",
}

// record holds the state of the host before the first `up`.
type record struct {
	Settings map[string]string `json:"settings"`
	// MissingDirs lists the directories that were created as mount points.
	MissingDirs []string `json:"missingDirs"`
}

// Record writes a file with the kernel settings that a cluster changes, and with those of the
// directories that don't exist, because the cluster will create them. It does nothing if the file exists.
func Record(file string, dirs []string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	before := record{Settings: map[string]string{}}
	for _, name := range kernelSettings {
		if value, err := os.ReadFile(filepath.Join("/proc/sys", name)); err == nil {
			before.Settings[name] = strings.TrimSpace(string(value))
		}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			before.MissingDirs = append(before.MissingDirs, dir)
		}
	}
	content, err := json.MarshalIndent(before, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Missing reports whether Record found that a directory doesn't exist.
func Missing(file, dir string) bool {
	before, err := read(file)
	return err == nil && slices.Contains(before.MissingDirs, dir)
}

func read(file string) (record, error) {
	var before record
	content, err := os.ReadFile(file)
	if err != nil {
		return before, err
	}
	if err := json.Unmarshal(content, &before); err != nil {
		return before, fmt.Errorf("%s: %w", file, err)
	}
	return before, nil
}

// Restore restores what Record wrote to the file: the settings, and that the directories don't exist, unless
// something else uses them. It does nothing if the file doesn't exist.
func Restore(file string, report func(string, ...any)) error {
	before, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed error
	for name, value := range before.Settings {
		file := filepath.Join("/proc/sys", name)
		if now, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(now)) == value {
			continue
		}
		failed = errors.Join(failed, os.WriteFile(file, []byte(value), 0o644))
	}
	return errors.Join(failed, removeMountPoints(before.MissingDirs, mountinfo.Mounted, syscall.Rmdir, report))
}

// removeMountPoints removes those of the directories that are empty. A cluster unmounts
// its own file systems first, so a mount that is visible here belongs to something else, such as `ip netns`, which mounts
// /run/netns on itself and never unmounts it. Such a directory stays and is reported.
func removeMountPoints(dirs []string, mounted func(dir string) (bool, error), remove func(dir string) error, report func(string, ...any)) error {
	var failed error
	for _, dir := range dirs {
		err := remove(dir)
		switch {
		case err == nil, errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTEMPTY):
		default:
			if busy, _ := mounted(dir); busy && errors.Is(err, syscall.EBUSY) {
				report("%s stays: something else has mounted a file system on it", dir)
				continue
			}
			failed = errors.Join(failed, fmt.Errorf("remove %s: %w", dir, err))
		}
	}
	return failed
}
