package native

import "fmt"

func (l Layout) etcdArgs() []string {
	client := fmt.Sprintf("https://127.0.0.1:%d", etcdPort)
	peer := fmt.Sprintf("http://127.0.0.1:%d", etcdPeerPort)
	return []string{
		"--name=" + firstNode.name,
		"--data-dir=" + l.state("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + firstNode.name + "=" + peer,
		"--cert-file=" + l.pki("etcd.crt"),
		"--key-file=" + l.pki("etcd.key"),
		"--trusted-ca-file=" + l.pki("ca.crt"),
		"--client-cert-auth",
		// The data is disposable. Waiting for the disk would only slow the tests.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (l Layout) apiServerArgs(nodeIP string) []string {
	return []string{
		"--bind-address=0.0.0.0",
		fmt.Sprintf("--secure-port=%d", apiPort),
		"--advertise-address=" + nodeIP,
		"--service-cluster-ip-range=" + serviceRange,
		"--tls-cert-file=" + l.pki("apiserver.crt"),
		"--tls-private-key-file=" + l.pki("apiserver.key"),
		"--client-ca-file=" + l.pki("ca.crt"),

		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", etcdPort),
		"--etcd-cafile=" + l.pki("ca.crt"),
		"--etcd-certfile=" + l.pki("etcd-client.crt"),
		"--etcd-keyfile=" + l.pki("etcd-client.key"),

		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged",

		"--service-account-issuer=https://kubernetes.default.svc." + clusterDomain,
		"--service-account-key-file=" + l.pki("service-accounts.key"),
		"--service-account-signing-key-file=" + l.pki("service-accounts.key"),

		// For kubectl logs and exec: the node's name can't be resolved.
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + l.pki("ca.crt"),
		"--kubelet-client-certificate=" + l.pki("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + l.pki("apiserver-kubelet-client.key"),

		// For API services such as a metrics server.
		"--requestheader-client-ca-file=" + l.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + l.pki("front-proxy-client.crt"),
		"--proxy-client-key-file=" + l.pki("front-proxy-client.key"),
		"--enable-aggregator-routing",
	}
}

func (l Layout) controllerManagerArgs() []string {
	kubeconfig := l.kubeconfig("kube-controller-manager")
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", managerPort),
		"--cluster-name=assay",
		"--root-ca-file=" + l.pki("ca.crt"),
		"--cluster-signing-cert-file=" + l.pki("ca.crt"),
		"--cluster-signing-key-file=" + l.pki("ca.key"),
		"--service-account-private-key-file=" + l.pki("service-accounts.key"),
		"--use-service-account-credentials",
		// There is only one instance. Without election it can't lose its lease
		// when the API server restarts.
		"--leader-elect=false",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
	}
}

func (l Layout) schedulerConfig() string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, qps: 200, burst: 400}
leaderElection: {leaderElect: false}
`, l.kubeconfig("kube-scheduler"))
}

func (l Layout) proxyConfig() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: %s}
hostnameOverride: %s
clusterCIDR: %s
detectLocalMode: ClusterCIDR
healthzBindAddress: %s:%d
metricsBindAddress: 127.0.0.1:%d
oomScoreAdj: 0
# A change of a Service is seen at once.
nftables: {minSyncPeriod: 0s, syncPeriod: 30s}
# The host's own limits stay as they are.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`, l.kubeconfig("kube-proxy"), l.node().name, podRange, l.node().probed, proxyHealthPort, proxyMetricsPort)
}
