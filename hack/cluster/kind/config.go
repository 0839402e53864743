package kind

import (
	"bytes"
	"text/template"

	"github.com/assay-dev/assay/hack/cluster/native"
)

// Address ranges, which differ from those of the native cluster.
const (
	podRange     = "10.238.0.0/16"
	serviceRange = "10.239.0.0/16"
	dnsServiceIP = "10.239.0.10"
	nodeRange    = "10.237.0.0/24" // with podman
	domain       = "cluster.local"
	imagePrefix  = "localhost/assay-test"
)

// The names of the nodes in Kubernetes, as on the native cluster. kind names their containers otherwise.
const (
	firstNode  = "assay"
	secondNode = "assay-2"
)

// configTemplate sets the static CPU manager policy, as on the native cluster. Pods of runs may use the node
// of the control plane: kind allows this by itself if there is one node.
//
// With the own node image the programs of the control plane come from images of this project. Their requests would
// leave too little of two CPUs, and etcd's syncs to disk would slow the cluster down. The pod network and
// CoreDNS are installed afterwards.
var configTemplate = template.Must(template.New("").Parse(`kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
networking:
  podSubnet: {{.PodRange}}
  serviceSubnet: {{.ServiceRange}}
  kubeProxyMode: nftables
  disableDefaultCNI: {{.Own}}
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  cpuManagerPolicy: static
  kubeReserved: {cpu: 100m}
  serializeImagePulls: false
  failCgroupV1: false
- |
  kind: KubeProxyConfiguration
  # A change of a Service is seen at once.
  nftables: {minSyncPeriod: 0s, syncPeriod: 30s}
  conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
{{- if .Own}}
- |
  kind: ClusterConfiguration
  imageRepository: {{.ImagePrefix}}
  etcd:
    local:
      imageTag: dev
      extraArgs:
      - {name: unsafe-no-fsync, value: "true"}
  # Without a second instance, a lease only makes these restart where the machine is slow.
  controllerManager:
    extraArgs:
    - {name: enable-hostpath-provisioner, value: "true"} # as kind has it
    - {name: leader-elect, value: "false"}
  scheduler:
    extraArgs:
    - {name: leader-elect, value: "false"}
- |
  kind: InitConfiguration
  skipPhases: [preflight, addon/coredns]
  patches: {directory: /kind/patches}
{{- end}}
nodes:
{{- range .Nodes}}
- role: {{.Role}}
  kubeadmConfigPatches:
  - |
    kind: {{.Kind}}
    nodeRegistration: {name: {{.Name}}{{if $.Untaint}}, taints: []{{end}}}
{{- if .Reserved}}
  kubeadmConfigPatchesJSON6902:
  - group: kubeadm.k8s.io
    version: v1beta4
    kind: {{.Kind}}
    patch: |
      - {op: add, path: /nodeRegistration/kubeletExtraArgs/-, value: {name: reserved-cpus, value: "{{.Reserved}}"}}
      - {op: add, path: /nodeRegistration/kubeletExtraArgs/-, value: {name: cpu-manager-policy-options, value: "strict-cpu-reservation=true"}}
{{- end}}
{{- end}}
`))

// node describes a node to kubeadm, which configures it with an object of Kind. Reserved lists the CPUs that it must
// not give to pods, if any.
type node struct{ Role, Kind, Name, Reserved string }

// nodesOf returns the nodes of a cluster with one node or two.
func nodesOf(number int) ([]node, error) {
	nodes := []node{{Role: "control-plane", Kind: "InitConfiguration", Name: firstNode}}
	if number < 2 {
		return nodes, nil
	}
	nodes = append(nodes, node{Role: "worker", Kind: "JoinConfiguration", Name: secondNode})
	for i := range nodes {
		var err error
		if nodes[i].Reserved, err = native.ReservedCPUs(i == 1); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// configuration returns the configuration of a cluster for kind. own means that the nodes run the own image.
func configuration(nodes []node, own bool) (string, error) {
	var text bytes.Buffer
	err := configTemplate.Execute(&text, struct {
		PodRange, ServiceRange, ImagePrefix string
		Own, Untaint                        bool
		Nodes                               []node
	}{podRange, serviceRange, imagePrefix, own, len(nodes) > 1, nodes})
	return text.String(), err
}
