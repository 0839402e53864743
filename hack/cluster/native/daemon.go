package native

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/assay-dev/assay/hack/cluster/process"
)

// daemon is one program of the cluster.
type daemon struct {
	name string
	path string
	args []string
	// needs lists the daemons that must be healthy before this one starts.
	needs []string
	// healthURL returns 200 when the daemon is healthy. It is empty for
	// containerd, which is probed by a connection to its socket.
	healthURL string
	// forgets is a file that must not exist when the program starts. It is empty for none.
	forgets string
	// stopGrace is the time between SIGTERM and SIGKILL.
	stopGrace time.Duration
}

// daemons returns the programs of the node in their start order. Those of the second node wait
// for the API server themselves.
func (l Layout) daemons(nodeIP string) []daemon {
	containerd := daemon{
		name: "containerd", path: "containerd",
		args:      []string{"--config", l.config("containerd.toml")},
		stopGrace: 5 * time.Second,
	}
	kubelet := daemon{
		name: "kubelet", path: l.bin("kubelet"),
		args: []string{
			"--config", l.config("kubelet.yaml"), "--kubeconfig", l.kubeconfig(l.node().user),
			"--hostname-override", l.node().name, "--node-ip", nodeIP, "--root-dir", l.state("kubelet"),
		},
		needs:     []string{"containerd"},
		healthURL: fmt.Sprintf("http://%s:%d/healthz", l.node().probed, kubeletHealthPort),
		stopGrace: 3 * time.Second,
	}
	proxy := daemon{
		name: "kube-proxy", path: l.bin("kube-proxy"),
		args: []string{"--config", l.config("proxy.yaml")},
		// livez, since healthz fails while the node is being deleted.
		healthURL: fmt.Sprintf("http://%s:%d/livez", l.node().probed, proxyHealthPort),
		stopGrace: 2 * time.Second,
	}
	if l.whole != nil {
		// The kubelet can't start from a state in which all its CPUs are exclusive. Without one it
		// assigns them to its pods again.
		kubelet.forgets = l.state("kubelet", "cpu_manager_state")
		return []daemon{containerd, kubelet, proxy}
	}
	kubelet.needs = append(kubelet.needs, "kube-apiserver")
	proxy.needs = append(proxy.needs, "kube-apiserver")
	return slices.Concat([]daemon{containerd}, l.controlPlane(nodeIP), []daemon{kubelet, proxy})
}

func (l Layout) controlPlane(nodeIP string) []daemon {
	return []daemon{
		{
			name: "etcd", path: l.bin("etcd"),
			args:      l.etcdArgs(),
			healthURL: fmt.Sprintf("https://127.0.0.1:%d/health", etcdPort),
			stopGrace: 3 * time.Second,
		},
		{
			name: "kube-apiserver", path: l.bin("kube-apiserver"),
			args:      l.apiServerArgs(nodeIP),
			needs:     []string{"etcd"},
			healthURL: fmt.Sprintf("https://127.0.0.1:%d/readyz", apiPort),
			// Its shutdown waits up to a minute for watches to end.
			stopGrace: time.Second,
		},
		{
			name: "kube-controller-manager", path: l.bin("kube-controller-manager"),
			args:      l.controllerManagerArgs(),
			needs:     []string{"kube-apiserver"},
			healthURL: managerHealth,
			stopGrace: 2 * time.Second,
		},
		{
			name: "kube-scheduler", path: l.bin("kube-scheduler"),
			args:      []string{"--config", l.config("scheduler.yaml"), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", schedulerPort)},
			needs:     []string{"kube-apiserver"},
			healthURL: schedulerHealth,
			stopGrace: 2 * time.Second,
		},
	}
}

// pid returns the pid of a daemon or of the supervisor, or 0 if it isn't running.
func (l Layout) pid(name string) int {
	id, err := process.Read(l.pidFile(name))
	if err != nil || !id.Alive() {
		return 0
	}
	return id.PID
}

func (l Layout) running(name string) bool { return l.pid(name) != 0 }

// held reports whether the daemon was stopped with StopPart.
func (l Layout) held(name string) bool {
	_, err := os.Stat(l.holdFile(name))
	return err == nil
}

// healthy probes the daemon and returns nil if it is healthy.
func (l Layout) healthy(ctx context.Context, d daemon) error {
	if d.healthURL == "" {
		conn, err := net.DialTimeout("unix", l.containerdSocket(), time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	_, err := l.get(ctx, d.healthURL)
	return err
}

// get fetches a URL of one of the daemons as the cluster's admin. It returns an
// error for any status but 200.
func (l Layout) get(ctx context.Context, url string) ([]byte, error) {
	pair, err := tls.LoadX509KeyPair(l.pki("admin.crt"), l.pki("admin.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(l.pki("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	settings := &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}
	if url == managerHealth || url == schedulerHealth {
		// These two create a self-signed serving certificate in memory. The
		// request has no secrets and stays on the loopback interface.
		settings.InsecureSkipVerify = true
		settings.Certificates = nil
	}
	transport := &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: 2 * time.Second}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return body, nil
}

var (
	managerHealth   = fmt.Sprintf("https://127.0.0.1:%d/healthz", managerPort)
	schedulerHealth = fmt.Sprintf("https://127.0.0.1:%d/healthz", schedulerPort)
)
