package native

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/hack/cluster/host"
)

// The second node is a network namespace of this machine with a containerd, a kubelet and a
// kube-proxy of its own. A veth pair connects it with this machine, the first node. The nodes
// have the same memory and disks, and share the CPUs as reservation says.

const (
	linkRange     = "10.236.0.0/30"
	firstAddress  = "10.236.0.1" // this machine's address on the link
	secondAddress = "10.236.0.2" // the second node's only address

	linkInterface = "assay-node-2" // this machine's end of the veth pair
	nodeInterface = "eth0"         // the second node's end
)

// node holds what differs between the nodes.
type node struct {
	name string
	// cgroup is the path of its cgroup in each hierarchy.
	cgroup string
	// pods is the address range of its pods, and gateway the address that they have as gateway.
	pods, gateway string
	// probed is the address at which the kubelet and kube-proxy are asked for their health.
	probed string
	// user is the name of the kubelet's certificate.
	user string
}

var (
	firstNode = node{
		name: "assay", cgroup: cgroupName, pods: "10.234.0.0/17", gateway: "10.234.0.1",
		probed: "127.0.0.1", user: "kubelet",
	}
	secondNode = node{
		name: "assay-2", cgroup: cgroupName + "/node-2", pods: "10.234.128.0/17", gateway: "10.234.128.1",
		probed: secondAddress, user: "kubelet-2",
	}
)

func (l Layout) node() node {
	if l.whole != nil {
		return secondNode
	}
	return firstNode
}

// second returns the directories of the second node.
func (l Layout) second() Layout {
	return Layout{State: l.state("node-2"), Run: l.run("node-2"), Bin: l.Bin, Images: l.Images, whole: &l}
}

// hasSecond reports whether the cluster has a second node.
func (l Layout) hasSecond() bool {
	_, err := os.Stat(l.second().State)
	return err == nil
}

// network returns the file that holds the second node's network namespace.
func (l Layout) network() string { return l.run("network-2") }

// partName returns how a daemon of the node is called by status, stop and start.
func (l Layout) partName(daemon string) string {
	if l.whole != nil {
		return secondNode.name + "/" + daemon
	}
	return daemon
}

// address returns the node's IP address.
func (l Layout) address() (string, error) {
	if l.whole != nil {
		return secondAddress, nil
	}
	address, err := os.ReadFile(l.pki("issued-for"))
	return string(address), err
}

// setNodes makes a new cluster have a number of nodes. Zero leaves a cluster as it is and
// makes a new one have one node.
func (l Layout) setNodes(nodes int) error {
	if nodes < 0 || nodes > 2 {
		return fmt.Errorf("--nodes must be 1 or 2, not %d", nodes)
	}
	_, err := os.Stat(l.pki("issued-for"))
	has := 1
	if l.hasSecond() {
		has = 2
	}
	if exists := err == nil || has == 2; exists && nodes != 0 && nodes != has {
		return fmt.Errorf("the cluster has been created with --nodes %d, not %d: run `down`, then `up`", has, nodes)
	}
	if nodes == 2 {
		return l.second().makeDirs()
	}
	return nil
}

// startNode starts the second node, or those parts of it that are down. It returns when the node is ready.
func (l Layout) startNode(ctx context.Context, report func(string, ...any)) error {
	server, err := l.cluster().address()
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		l.makeDirs,
		l.makeCoverDirs,
		l.cluster().connect,
		func() error { return l.writeKubeconfig(secondNode.user, server) },
		func() error { return l.writeKubeconfig("kube-proxy", server) },
		l.writeConfigs,
		l.makeCgroups,
		l.startSupervisor,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("node %s: %w", secondNode.name, err)
		}
	}
	if err := l.settleDaemons(ctx, secondAddress, report); err != nil {
		return err
	}
	return l.settleNode(ctx, report)
}

// powerOff ends the node as a loss of power does: its network goes first, so that nobody learns
// of it, and then every process in its cgroup is killed. What it keeps is on its disk.
func (l Layout) powerOff() error {
	if network := l.cluster().network(); isNamespace(network) {
		if err := ip(network, "link set dev "+nodeInterface+" down"); err != nil {
			return err
		}
	}
	if err := l.removeCgroups(); err != nil {
		return err
	}
	return os.RemoveAll(l.Run)
}

// stopNode powers the second node off until restartNode.
func (l Layout) stopNode() error {
	lock, err := host.Lock(l.Run, func(string, ...any) {})
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := os.WriteFile(l.holdFile(secondNode.name), nil, 0o644); err != nil {
		return err
	}
	return l.second().powerOff()
}

// restartNode starts the second node after stopNode, and returns when it is ready.
func (l Layout) restartNode(ctx context.Context, report func(string, ...any)) error {
	lock, err := host.Lock(l.Run, report)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := os.Remove(l.holdFile(secondNode.name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return l.second().startNode(ctx, report)
}

// connect creates the second node's network namespace and its link, or those parts of them that
// are missing.
func (l Layout) connect() error {
	if !isNamespace(l.network()) {
		if err := removeLink(); err != nil {
			return err
		}
		if err := os.WriteFile(l.network(), nil, 0o644); err != nil {
			return err
		}
		if err := command("unshare", "--net="+l.network(), "--", "true"); err != nil {
			return err
		}
	}
	if _, err := net.InterfaceByName(linkInterface); err != nil {
		if err := ip("", fmt.Sprintf("link add %s type veth peer name %s netns %s", linkInterface, nodeInterface, l.network())); err != nil {
			return err
		}
	}
	prefix := linkRange[strings.IndexByte(linkRange, '/'):]
	if err := ip("",
		"address replace "+firstAddress+prefix+" dev "+linkInterface,
		"link set dev "+linkInterface+" up",
		"route replace "+secondNode.pods+" via "+secondAddress+" dev "+linkInterface,
	); err != nil {
		return err
	}
	if err := ip(l.network(),
		"link set dev lo up",
		"address replace "+secondAddress+prefix+" dev "+nodeInterface,
		"link set dev "+nodeInterface+" up",
		"route replace default via "+firstAddress+" dev "+nodeInterface,
	); err != nil {
		return err
	}
	return command("nsenter", "--net="+l.network(), "--", "sysctl", "-qw", "net.ipv4.ip_forward=1")
}

// removeLink deletes the veth pair and with it this machine's routes to the second node.
func removeLink() error {
	if _, err := net.InterfaceByName(linkInterface); err != nil {
		return nil
	}
	return ip("", "link delete dev "+linkInterface)
}

// nsfs is the type of the file system of /proc/PID/ns, from linux/magic.h.
const nsfs = 0x6e736673

// isNamespace reports whether a namespace is mounted on the file.
func isNamespace(file string) bool {
	var stat syscall.Statfs_t
	return syscall.Statfs(file, &stat) == nil && stat.Type == nsfs
}

// ip runs commands of ip(8), in a network namespace if it isn't empty.
func ip(namespace string, lines ...string) error {
	return inNetwork(namespace, strings.Join(lines, "\n")+"\n", "ip", "-batch", "-")
}

// inNetwork runs a program with an input, in a network namespace if it isn't empty.
func inNetwork(namespace, input string, args ...string) error {
	if namespace != "" {
		args = append([]string{"nsenter", "--net=" + namespace, "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

func command(args ...string) error { return inNetwork("", "", args...) }
