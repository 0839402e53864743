package native

import (
	"fmt"
	"os"
	"strings"
)

// cniPlugins is the directory of Debian's package containernetworking-plugins.
const cniPlugins = "/usr/lib/cni"

func (l Layout) containerdConfig() string {
	return fmt.Sprintf(`version = 2
root = %q
state = %q
oom_score = 0
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]

[grpc]
  address = %q

[plugins."io.containerd.internal.v1.opt"]
  path = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  # A machine without CAP_SYS_RESOURCE cannot lower the score of a container.
  restrict_oom_score_adj = true
  tolerate_missing_hugetlb_controller = true
  stream_server_address = "127.0.0.1"
  # As containerd 2 and Docker have it: port 53 and ping need no capability.
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    discard_unpacked_layers = true
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = %q
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
`, l.state("containerd"), l.run("containerd"), l.containerdSocket(), l.state("opt"),
		pauseImage, l.run("runc"), cniPlugins, l.state("cni", "net.d"))
}

// networkConfig connects each pod with a veth pair that the host routes. On a bridge, responses
// between pods bypass the host's address translation unless bridge-nf-call-iptables is on, which
// breaks Services. Routing doesn't depend on that setting. The annotations
// kubernetes.io/ingress-bandwidth and kubernetes.io/egress-bandwidth of a pod limit what its pair
// carries.
func (l Layout) networkConfig() string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": %q,
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "ipam": {
        "type": "host-local",
        "dataDir": %q,
        "ranges": [[{"subnet": %q, "gateway": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {
      "type": "bandwidth",
      "capabilities": {"bandwidth": true}
    }
  ]
}
`, networkName, l.state("cni", "addresses"), l.node().pods, l.node().gateway)
}

// kubeletConfig returns the configuration of the kubelet. cpus is the part that reserves CPUs.
func (l Layout) kubeletConfig(cpus string) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
port: %d
healthzBindAddress: %s
healthzPort: %d
tlsCertFile: %s
tlsPrivateKeyFile: %s
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %s}
authorization: {mode: Webhook}
clusterDomain: %s
clusterDNS: [%s]
resolvConf: %s
containerRuntimeEndpoint: unix://%s
podLogsDir: %s
volumePluginDir: %s
maxPods: 110
serializeImagePulls: false
registryPullQPS: 0
kubeAPIQPS: 100
kubeAPIBurst: 200
eventRecordQPS: 50
eventBurst: 100
oomScoreAdj: 0

# Whole CPUs of Guaranteed pods are theirs alone.
cpuManagerPolicy: static
%s
cgroupDriver: cgroupfs
cgroupRoot: /%s
failCgroupV1: false
failSwapOn: false

# Images are loaded by hand: none may be collected, however full the disk is.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1%%, nodefs.inodesFree: 1%%, imagefs.available: 1%%}

# No iptables chains of the kubelet's own.
makeIPTablesUtilChains: false
`, kubeletPort, l.node().probed, kubeletHealthPort, l.pki(l.node().user+"-server.crt"), l.pki(l.node().user+"-server.key"),
		l.pki("ca.crt"), clusterDomain, dnsServiceIP, l.config("resolv.conf"), l.containerdSocket(), l.state("pod-logs"),
		l.state("volume-plugins"), cpus, l.node().cgroup)
}

// podResolvers returns the /etc/resolv.conf of pods with dnsPolicy Default, such as
// CoreDNS: the host's file without loopback resolvers, which a pod can't reach.
func podResolvers(host string) string {
	var kept []string
	for line := range strings.Lines(host) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "nameserver" &&
			!strings.HasPrefix(fields[1], "127.") && fields[1] != "::1" {
			kept = append(kept, "nameserver "+fields[1])
		}
	}
	if len(kept) == 0 {
		// CoreDNS needs a resolver to start. Nothing listens at this address, so
		// lookups of external names fail as on the host.
		kept = append(kept, "nameserver 192.0.2.1")
	}
	return strings.Join(kept, "\n") + "\n"
}

// writeConfigs writes the configuration files of the daemons.
func (l Layout) writeConfigs() error {
	host, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	cpus, err := l.reservation()
	if err != nil {
		return err
	}
	files := map[string]string{
		l.config("containerd.toml"):                  l.containerdConfig(),
		l.config("kubelet.yaml"):                     l.kubeletConfig(cpus),
		l.config("proxy.yaml"):                       l.proxyConfig(),
		l.config("resolv.conf"):                      podResolvers(string(host)),
		l.state("cni", "net.d", "10-assay.conflist"): l.networkConfig(),
	}
	if l.whole == nil {
		files[l.config("scheduler.yaml")] = l.schedulerConfig()
	}
	for file, content := range files {
		// kube-proxy exits when its file is written, even if nothing changed.
		if have, err := os.ReadFile(file); err == nil && string(have) == content {
			continue
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
