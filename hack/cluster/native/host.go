package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// kernelSettings lists the settings that the cluster or the kubelet changes. `up`
// records their values and `down` restores them.
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

// hostRecord holds the state of the host before the first `up`.
type hostRecord struct {
	Settings map[string]string `json:"settings"`
	// MissingDirs lists the directories that were created as mount points.
	MissingDirs []string `json:"missingDirs"`
}

// recordHost records the host's settings unless they are recorded already.
func (l Layout) recordHost() error {
	if err := os.MkdirAll(l.State, 0o755); err != nil {
		return err
	}
	file := l.state("host-before.json")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	record := hostRecord{Settings: map[string]string{}}
	for _, name := range kernelSettings {
		if value, err := os.ReadFile(filepath.Join("/proc/sys", name)); err == nil {
			record.Settings[name] = strings.TrimSpace(string(value))
		}
	}
	for _, dir := range covered {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			record.MissingDirs = append(record.MissingDirs, dir)
		}
	}
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// restoreHost restores the settings and removes the directories that were created
// as mount points, unless something else uses them.
func (l Layout) restoreHost(report func(string, ...any)) error {
	content, err := os.ReadFile(l.state("host-before.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var record hostRecord
	if err := json.Unmarshal(content, &record); err != nil {
		return fmt.Errorf("host-before.json: %w", err)
	}
	var failed error
	for name, value := range record.Settings {
		file := filepath.Join("/proc/sys", name)
		if now, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(now)) == value {
			continue
		}
		failed = errors.Join(failed, os.WriteFile(file, []byte(value), 0o644))
	}
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, removeMountPoints(record.MissingDirs, string(mountinfo), syscall.Rmdir, report))
}

// removeMountPoints removes those of the directories that are empty. The cluster mounts on them only in its own mount
// namespaces, so a mount that is visible here belongs to something else, such as `ip netns`, which mounts
// /run/netns on itself and never unmounts it. Such a directory stays and is reported.
func removeMountPoints(dirs []string, mountinfo string, remove func(dir string) error, report func(string, ...any)) error {
	var failed error
	for _, dir := range dirs {
		err := remove(dir)
		switch {
		case err == nil, errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTEMPTY):
		case errors.Is(err, syscall.EBUSY) && slices.Contains(mountPointsBelow(mountinfo, []string{dir}), dir):
			report("%s stays: something else has mounted a file system on it", dir)
		default:
			failed = errors.Join(failed, fmt.Errorf("remove %s: %w", dir, err))
		}
	}
	return failed
}

// hostAddress returns the source address of the default route. It sends no packets.
func hostAddress() (string, error) {
	conn, err := net.Dial("udp4", "192.0.2.1:9")
	if err != nil {
		return "", fmt.Errorf("find an IPv4 address for the node: %w", err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

// masquerade lets pods reach addresses outside the cluster with the host's
// address. The rules have a table of their own, which `down` deletes.
func masquerade() error {
	rules := fmt.Sprintf(`
table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		ip saddr %[2]s ip daddr != { %[2]s, %[3]s, %[4]s } fib daddr type != local masquerade
	}
}
`, networkName, podRange, serviceRange, linkRange)
	if err := inNetwork("", rules, "nft", "-f", "-"); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// removeNetfilterTables deletes the tables of the cluster and of kube-proxy.
func removeNetfilterTables() error {
	out, err := exec.Command("nft", "list", "tables").Output()
	if err != nil {
		return fmt.Errorf("nft list tables: %w", err)
	}
	var failed error
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line) // table FAMILY NAME
		if len(fields) != 3 || (fields[2] != networkName && fields[2] != "kube-proxy") {
			continue
		}
		if out, err := exec.Command("nft", "delete", "table", fields[1], fields[2]).CombinedOutput(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("nft delete table %s: %w: %s", fields[2], err, bytes.TrimSpace(out)))
		}
	}
	return failed
}

// waitForInterfaces waits until the kernel has removed the interfaces of the first node's
// pods, which it does shortly after the last process of their namespaces has exited.
func waitForInterfaces(limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		interfaces, err := net.Interfaces()
		if err != nil {
			return err
		}
		var left []string
		for _, i := range interfaces {
			addresses, err := i.Addrs()
			if err != nil {
				continue // removed in the meantime
			}
			for _, address := range addresses {
				if strings.HasPrefix(address.String(), firstNode.gateway+"/") {
					left = append(left, i.Name)
				}
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("interfaces %s still exist", strings.Join(left, ", "))
		}
	}
}

// unmountBelow unmounts everything below the directories, deepest first.
func unmountBelow(dirs ...string) error {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	points := mountPointsBelow(string(content), dirs)
	var failed error
	for _, point := range points {
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			failed = errors.Join(failed, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return failed
}

// mountPointsBelow returns the mount points below the directories, the latest mount first.
func mountPointsBelow(mountinfo string, dirs []string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	var points []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape.Replace(fields[4])
		for _, dir := range dirs {
			if point == dir || strings.HasPrefix(point, dir+"/") {
				points = append(points, point)
			}
		}
	}
	slices.Reverse(points)
	return points
}
