package manifest

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

// peer is a pod, or an address outside the cluster if it has no namespace.
type peer struct {
	namespace string
	labels    map[string]string
	address   string
}

// selects reports whether a NetworkPolicy's peers select p, as Kubernetes defines it
// (https://kubernetes.io/docs/concepts/services-networking/network-policies/): none select all.
func selects(t *testing.T, peers []networkingv1.NetworkPolicyPeer, policyNamespace string, p peer) bool {
	t.Helper()
	matches := func(selector *metav1.LabelSelector, of map[string]string) bool {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(labels.Set(of))
	}
	return len(peers) == 0 || slices.ContainsFunc(peers, func(one networkingv1.NetworkPolicyPeer) bool {
		if one.IPBlock != nil {
			in := func(cidr string) bool {
				return p.address != "" && netip.MustParsePrefix(cidr).Contains(netip.MustParseAddr(p.address))
			}
			return in(one.IPBlock.CIDR) && !slices.ContainsFunc(one.IPBlock.Except, in)
		}
		inNamespace := p.namespace == policyNamespace
		if one.NamespaceSelector != nil {
			inNamespace = p.namespace != "" && matches(one.NamespaceSelector, map[string]string{corev1.LabelMetadataName: p.namespace})
		}
		return inNamespace && (one.PodSelector == nil || matches(one.PodSelector, p.labels))
	})
}

func opens(ports []networkingv1.NetworkPolicyPort, protocol corev1.Protocol, port int) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		return *p.Protocol == protocol && p.Port.IntValue() == port
	})
}

// TestNetworkPolicy asks the policy of a run for connections from and to its pods.
func TestNetworkPolicy(t *testing.T) {
	dns, err := ReadDNS(`[{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}]`)
	if err != nil {
		t.Fatal(err)
	}
	settings := &Settings{SessionAddress: "assay-session.assay-system.svc:9443", Namespace: "assay-system", DNS: dns}
	open := *settings
	if open.Egress, err = ReadEgress(`[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}, {"ipBlock": {"cidr": "::/0"}}]},
		{"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}], "ports": [{"protocol": "TCP", "port": 9090}]}]`); err != nil {
		t.Fatal(err)
	}
	run := wrapper.NewRun("team", "run", "image").Obj()
	run.UID = "0123456789"
	// Whatever a run names opens nothing.
	greedy := wrapper.NewRun("team", "run", "").Obj()
	greedy.UID = "0123456789"
	greedy.Spec.Target.Server = v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://metrics.kube-system.svc"}}
	greedy.Spec.Script = &v1alpha1.Script{Outputs: &v1alpha1.ScriptOutputs{
		PrometheusRemoteWrite: &v1alpha1.PrometheusRemoteWrite{URL: "http://169.254.169.254/latest"},
		OpenTelemetry:         &v1alpha1.OpenTelemetry{Endpoint: "example.org:22"},
	}}

	sibling := peer{namespace: "team", labels: map[string]string{LabelRunUID: "0123456789", LabelRole: RoleTarget}, address: "10.0.0.1"}
	otherRun := peer{namespace: "team", labels: map[string]string{LabelRunUID: "9", LabelRole: RoleTarget}, address: "10.0.0.2"}
	sameLabels := peer{namespace: "else", labels: sibling.labels, address: "10.0.0.3"}
	manager := peer{namespace: "assay-system", labels: map[string]string{labelComponent: managerComponent}, address: "10.0.0.4"}
	neighbour := peer{namespace: "assay-system", address: "10.0.0.5"}
	monitoring := peer{namespace: "monitoring", address: "10.0.0.6"}
	inTeam := peer{namespace: "team", address: "10.0.0.7"}
	resolver := peer{namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-dns"}, address: "10.0.0.8"}
	inSystem := peer{namespace: "kube-system", address: "10.0.0.9"}
	host := peer{address: "192.0.2.7"}
	for name, test := range map[string]struct {
		settings *Settings
		to       peer
		protocol corev1.Protocol
		port     int
		want     bool
	}{
		"a pod of the run":               {settings, sibling, "TCP", 8080, true},
		"a pod of another run":           {settings, otherRun, "TCP", 8080, false},
		"a pod that poses as one":        {settings, sameLabels, "TCP", 8080, false},
		"a pod of its namespace":         {settings, inTeam, "TCP", 8080, false},
		"the manager's sessions":         {settings, manager, "TCP", 9443, true},
		"the manager's metrics":          {settings, manager, "TCP", 8443, false},
		"another pod of its namespace":   {settings, neighbour, "TCP", 9443, false},
		"DNS":                            {settings, resolver, "UDP", 53, true},
		"DNS in OpenShift":               {settings, resolver, "TCP", 5353, true},
		"another port of DNS":            {settings, resolver, "TCP", 9153, false},
		"DNS elsewhere":                  {settings, neighbour, "UDP", 53, false},
		"DNS outside":                    {settings, host, "UDP", 53, false},
		"another pod beside DNS":         {settings, inSystem, "TCP", 53, false},
		"kube-system":                    {settings, inSystem, "TCP", 8080, false},
		"SSH":                            {settings, host, "TCP", 22, false},
		"any host":                       {settings, host, "TCP", 443, false},
		"cloud metadata":                 {settings, peer{address: "169.254.169.254"}, "TCP", 80, false},
		"the API server":                 {settings, peer{address: "10.96.0.1"}, "TCP", 443, false},
		"an allowed host":                {&open, host, "TCP", 443, true},
		"an allowed namespace":           {&open, peer{namespace: "monitoring"}, "TCP", 9090, true},
		"another port of it":             {&open, peer{namespace: "monitoring"}, "TCP", 9091, false},
		"cloud metadata within a block":  {&open, peer{address: "169.254.169.254"}, "TCP", 80, false},
		"another link-local address":     {&open, peer{address: "169.254.0.1"}, "TCP", 80, false},
		"a link-local address of IPv6":   {&open, peer{address: "fe80::1"}, "TCP", 80, false},
		"cloud metadata by IPv6":         {&open, peer{address: "fd00:ec2::254"}, "TCP", 80, false},
		"cloud metadata of Azure":        {&open, peer{address: "168.63.129.16"}, "TCP", 80, false},
		"cloud metadata by NAT64":        {&open, peer{address: "64:ff9b::a9fe:a9fe"}, "TCP", 80, false},
		"another address of IPv6":        {&open, peer{address: "2001:db8::1"}, "TCP", 80, true},
		"a pod in an allowed block, too": {&open, monitoring, "TCP", 22, true},
	} {
		for _, run := range []*v1alpha1.BenchmarkRun{run, greedy} {
			policy := NetworkPolicy(run, test.settings)
			got := slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
				return opens(rule.Ports, test.protocol, test.port) && selects(t, rule.To, "team", test.to)
			})
			if got != test.want {
				t.Errorf("to %s: %v, want %v", name, got, test.want)
			}
		}
	}
	for name, test := range map[string]struct {
		from peer
		want bool
	}{
		"a pod of the run": {sibling, true}, "a pod of another run": {otherRun, false}, "a pod that poses as one": {sameLabels, false},
		"the manager": {manager, false}, "its namespace": {inTeam, false}, "outside": {host, false},
	} {
		got := slices.ContainsFunc(NetworkPolicy(run, settings).Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
			return opens(rule.Ports, "TCP", 8080) && selects(t, rule.From, "team", test.from)
		})
		if got != test.want {
			t.Errorf("from %s: %v, want %v", name, got, test.want)
		}
	}
	if policy := NetworkPolicy(run, settings); !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) ||
		!slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) ||
		!selects(t, []networkingv1.NetworkPolicyPeer{{PodSelector: &policy.Spec.PodSelector}}, "team", sibling) {
		t.Errorf("it doesn't isolate the run's pods: %+v", policy.Spec)
	}
}
