package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-dev/assay/hack/cluster/coredns"
	"github.com/assay-dev/assay/hack/cluster/host"
)

// Up starts the cluster, or those parts of it that are down. It returns when the
// nodes are ready and CoreDNS is available.
//
// nodes is the number of nodes of a new cluster. If it isn't zero, an existing one must have as many.
func (l Layout) Up(ctx context.Context, nodes int, report func(string, ...any)) error {
	if os.Geteuid() != 0 {
		return errors.New("the native cluster runs the kubelet and containerd, which need root: run this as root")
	}
	lock, err := host.Lock(l.Run, report)
	if err != nil {
		return err
	}
	defer lock.Close()
	nodeIP, err := hostAddress()
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		l.checkPrograms,
		func() error { return host.Record(l.hostRecord(), covered) }, // before anything is changed, so that `down` can always restore it
		l.makeDirs,
		func() error { return l.setNodes(nodes) },
		l.makeCoverDirs,
		func() error { return l.checkPorts(nodeIP) },
		func() error { return l.issueCertificates(nodeIP, time.Now()) },
		l.writeConfigs,
		l.makeCgroups,
		masquerade,
		l.startSupervisor,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := l.settleDaemons(ctx, nodeIP, report); err != nil {
		return err
	}
	if err := l.settleNode(ctx, report); err != nil {
		return err
	}
	took, err := waitFor(ctx, 60*time.Second, func() error { return l.dnsReady(ctx) })
	if err != nil {
		return fmt.Errorf("coredns: %w", err)
	}
	report("%-24s ready%s", "coredns", took)
	switch {
	case !l.hasSecond():
		return nil
	case l.held(secondNode.name):
		report("%-24s stopped with `stop`; `start %s` starts it", "node "+secondNode.name, secondNode.name)
		return nil
	}
	return l.second().startNode(ctx, report)
}

// settleDaemons waits until the daemons of the node are healthy. It loads the images that the
// cluster itself runs, and installs CoreDNS.
func (l Layout) settleDaemons(ctx context.Context, nodeIP string, report func(string, ...any)) error {
	for _, d := range l.daemons(nodeIP) {
		name := l.partName(d.name)
		if l.held(d.name) {
			report("%-24s stopped with `stop`; `start %s` starts it", name, name)
			continue
		}
		took, err := waitFor(ctx, 90*time.Second, func() error { return l.healthyNow(ctx, d) })
		if err != nil {
			return fmt.Errorf("%s did not become healthy (log: %s): %w", name, l.log(d.name), err)
		}
		report("%-24s healthy%s", name, took)
		if d.name == "containerd" {
			if err := l.loadSystemImages(ctx, report); err != nil {
				return err
			}
		}
		if d.name == "kube-apiserver" {
			if err := l.installAddons(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleNode waits until the node is ready.
func (l Layout) settleNode(ctx context.Context, report func(string, ...any)) error {
	took, err := waitFor(ctx, 60*time.Second, func() error { return l.nodeReady(ctx) })
	if err != nil {
		return fmt.Errorf("node %s: %w", l.node().name, err)
	}
	report("%-24s ready%s", "node "+l.node().name, took)
	return nil
}

var errNotRunning = errors.New("not running")

func (l Layout) healthyNow(ctx context.Context, d daemon) error {
	if !l.running(d.name) {
		return errNotRunning
	}
	return l.healthy(ctx, d)
}

// waitFor calls try until it succeeds or the limit has passed. It returns the time
// that this took as text, or an empty text if the first call succeeded.
func waitFor(ctx context.Context, limit time.Duration, try func() error) (string, error) {
	started := time.Now()
	for attempt := 0; ; attempt++ {
		err := try()
		if err == nil && attempt == 0 {
			return "", nil
		}
		if err == nil {
			return fmt.Sprintf(" after %.1f s", time.Since(started).Seconds()), nil
		}
		if time.Since(started) > limit {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (l Layout) loadSystemImages(ctx context.Context, report func(string, ...any)) error {
	if err := l.waitRuntime(ctx); err != nil {
		return fmt.Errorf("wait for containerd: %w", err)
	}
	images := []string{"pause.tar"}
	if l.whole == nil {
		images = append(images, "coredns.tar")
	}
	for _, name := range images {
		if err := l.load(ctx, filepath.Join(l.Images, name), report); err != nil {
			return err
		}
	}
	return nil
}

func (l Layout) nodeReady(ctx context.Context) error {
	return l.condition(ctx, "api/v1/nodes/"+l.node().name, "Ready")
}

func (l Layout) dnsReady(ctx context.Context) error {
	return l.condition(ctx, "apis/apps/v1/namespaces/kube-system/deployments/coredns", "Available")
}

// condition returns nil if the object at a path of the API has the condition as true.
func (l Layout) condition(ctx context.Context, path, kind string) error {
	object, err := l.get(ctx, fmt.Sprintf("https://127.0.0.1:%d/%s", apiPort, path))
	if err != nil {
		return err
	}
	return conditionTrue(object, kind)
}

// conditionTrue returns nil if the object's status has the condition as true.
func conditionTrue(object []byte, kind string) error {
	var parsed struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(object, &parsed); err != nil {
		return err
	}
	for _, condition := range parsed.Status.Conditions {
		if condition.Type != kind {
			continue
		}
		if condition.Status == "True" {
			return nil
		}
		return fmt.Errorf("not %s: %s", kind, condition.Message)
	}
	return fmt.Errorf("not %s yet", kind)
}

// checkPrograms returns an error that names the first missing program.
func (l Layout) checkPrograms() error {
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"} {
		if _, err := os.Stat(l.bin(name)); err != nil {
			return fmt.Errorf("%s is not built (`make tools` builds it): %w", name, err)
		}
	}
	for _, name := range []string{"containerd", "ctr", "runc", "nft", "nsenter", "unshare", "ip", "tc"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed (`make deps` installs it): %w", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(cniPlugins, "ptp")); err != nil {
		return fmt.Errorf("the network plugins are not installed (`make deps` installs them): %w", err)
	}
	return nil
}

// checkPorts returns an error if another program uses one of the ports, which
// would otherwise only appear in a daemon's log.
func (l Layout) checkPorts(nodeIP string) error {
	ports := map[string]int{
		"etcd": etcdPort, "kube-apiserver": apiPort, "kube-controller-manager": managerPort,
		"kube-scheduler": schedulerPort, "kubelet": kubeletPort, "kube-proxy": proxyHealthPort,
	}
	for _, d := range l.daemons(nodeIP) {
		port, ok := ports[d.name]
		if !ok || l.running(d.name) {
			continue
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return fmt.Errorf("port %d of %s: %w", port, d.name, err)
		}
		listener.Close()
	}
	return nil
}

// installAddons applies the manifest of CoreDNS if it has changed.
func (l Layout) installAddons(ctx context.Context) error {
	manifest := coredns.Manifest(dnsServiceIP, clusterDomain, firstNode.name)
	stamp := fmt.Sprintf("%x", sha256.Sum256([]byte(manifest)))
	file := l.state("addons-applied")
	if have, err := os.ReadFile(file); err == nil && string(have) == stamp {
		return nil
	}
	cmd := exec.CommandContext(ctx, l.bin("kubectl"), "--kubeconfig", l.Kubeconfig(),
		"apply", "--server-side", "--force-conflicts", "--field-manager=assay-cluster", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	// kubectl must not write caches to the user's home directory.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+l.run("kubectl-cache"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install coredns: %w: %s", err, bytes.TrimSpace(out))
	}
	return os.WriteFile(file, []byte(stamp), 0o644)
}
