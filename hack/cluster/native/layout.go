// Package native runs a Kubernetes cluster of one or two nodes from plain binaries, without a Docker
// engine, a registry or systemd. It keeps everything in two directories and one cgroup, starts and
// supervises the programs, and can remove all of it.
package native

import (
	"os"
	"path/filepath"
)

// Names, ports and address ranges. The ports differ from Kubernetes' defaults, so
// that another cluster can run on the same machine.
const (
	cgroupName    = "assay-cluster"
	networkName   = "assay-cluster"
	clusterDomain = "cluster.local"

	podRange     = "10.234.0.0/16" // of all nodes
	serviceRange = "10.235.0.0/16"
	apiServiceIP = "10.235.0.1"
	dnsServiceIP = "10.235.0.10"

	apiPort           = 16443
	etcdPort          = 16379
	etcdPeerPort      = 16380
	kubeletPort       = 16250
	kubeletHealthPort = 16248
	managerPort       = 16257
	schedulerPort     = 16259
	proxyHealthPort   = 16256
	proxyMetricsPort  = 16249

	pauseImage = "localhost/assay-test/pause:dev"
)

// Layout holds the directories of the cluster, which are those of its first node too, or the
// directories of its second node.
type Layout struct {
	// State holds what must survive a restart of the programs: keys, etcd's data, images and logs.
	State string
	// Run holds the rest: pids, sockets and the runtime state of pods.
	Run string
	// Bin holds the Kubernetes and etcd binaries.
	Bin string
	// Images holds the image archives that `up` loads: pause.tar and coredns.tar.
	Images string

	// whole holds the directories of the cluster if these are the second node's. Otherwise it is nil.
	whole *Layout
}

// cluster returns the directories of the whole cluster.
func (l Layout) cluster() Layout {
	if l.whole != nil {
		return *l.whole
	}
	return l
}

func (l Layout) state(elem ...string) string {
	return filepath.Join(append([]string{l.State}, elem...)...)
}

func (l Layout) run(elem ...string) string {
	return filepath.Join(append([]string{l.Run}, elem...)...)
}

func (l Layout) bin(name string) string        { return filepath.Join(l.Bin, name) }
func (l Layout) pki(name string) string        { return l.cluster().state("pki", name) }
func (l Layout) config(name string) string     { return l.state("config", name) }
func (l Layout) log(name string) string        { return l.state("log", name+".log") }
func (l Layout) pidFile(name string) string    { return l.run("pid", name) }
func (l Layout) holdFile(name string) string   { return l.run("hold", name) }
func (l Layout) kubeconfig(user string) string { return l.state("kubeconfig-" + user) }
func (l Layout) hostRecord() string            { return l.state("host-before.json") }
func (l Layout) containerdSocket() string      { return l.run("containerd.sock") }

// Kubeconfig returns the path of the kubeconfig with cluster-admin rights.
func (l Layout) Kubeconfig() string { return l.cluster().state("kubeconfig") }

// Exists reports whether there is a cluster, even an incomplete one.
func (l Layout) Exists() bool {
	for _, dir := range []string{l.State, l.Run} {
		if _, err := os.Stat(dir); err == nil {
			return true
		}
	}
	return false
}

func (l Layout) makeDirs() error {
	dirs := []string{
		l.state("config"), l.state("log"),
		l.state("kubelet"), l.state("pod-logs"), l.state("cni", "net.d"),
		l.state("cni", "addresses"), l.state("volume-plugins"), l.state("opt"),
		l.run("pid"), l.run("hold"),
	}
	if l.whole == nil {
		dirs = append(dirs, l.pki(""), l.state("etcd"))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return os.Chmod(l.pki(""), 0o700)
}
