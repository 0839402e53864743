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
			return netip.MustParsePrefix(one.IPBlock.CIDR).Contains(netip.MustParseAddr(p.address))
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
	settings := &Settings{SessionAddress: "assay-session.assay-system.svc:9443", Namespace: "assay-system"}
	run := wrapper.NewRun("team", "run", "image").Obj()
	run.UID = "0123456789"
	external := wrapper.NewRun("team", "run", "").Obj()
	external.UID = "0123456789"
	external.Spec.Target.Server = v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://192.0.2.7:8443"}}
	withURL := func(url string) *v1alpha1.BenchmarkRun {
		changed := external.DeepCopy()
		changed.Spec.Target.Server.External.URL = url
		return changed
	}
	withOutputs := func(outputs v1alpha1.ScriptOutputs) *v1alpha1.BenchmarkRun {
		changed := run.DeepCopy()
		changed.Spec.Script = &v1alpha1.Script{Outputs: &outputs}
		return changed
	}
	remoteWrite := withOutputs(v1alpha1.ScriptOutputs{PrometheusRemoteWrite: &v1alpha1.PrometheusRemoteWrite{URL: "http://prometheus.monitoring.svc/api/v1/write"}})
	telemetry := withOutputs(v1alpha1.ScriptOutputs{OpenTelemetry: &v1alpha1.OpenTelemetry{Endpoint: "[2001:db8::1]:4317"}})

	sibling := peer{namespace: "team", labels: map[string]string{LabelRunUID: "0123456789", LabelRole: RoleTarget}, address: "10.0.0.1"}
	otherRun := peer{namespace: "team", labels: map[string]string{LabelRunUID: "9", LabelRole: RoleTarget}, address: "10.0.0.2"}
	sameLabels := peer{namespace: "else", labels: sibling.labels, address: "10.0.0.3"}
	manager := peer{namespace: "assay-system", labels: map[string]string{labelComponent: managerComponent}, address: "10.0.0.4"}
	neighbour := peer{namespace: "assay-system", address: "10.0.0.5"}
	monitoring := peer{namespace: "monitoring", address: "10.0.0.6"}
	inTeam := peer{namespace: "team", address: "10.0.0.7"}
	host := peer{address: "192.0.2.7"}
	v6 := peer{address: "2001:db8::1"}
	for name, test := range map[string]struct {
		run      *v1alpha1.BenchmarkRun
		to       peer
		protocol corev1.Protocol
		port     int
		want     bool
	}{
		"a pod of the run":               {run, sibling, "TCP", 8080, true},
		"a pod of another run":           {run, otherRun, "TCP", 8080, false},
		"a pod that poses as one":        {run, sameLabels, "TCP", 8080, false},
		"the manager's sessions":         {run, manager, "TCP", 9443, true},
		"the manager's metrics":          {run, manager, "TCP", 8443, false},
		"another pod of its namespace":   {run, neighbour, "TCP", 9443, false},
		"DNS":                            {run, neighbour, "UDP", 53, true},
		"DNS on the node":                {run, peer{address: "169.254.20.10"}, "TCP", 53, true},
		"any host":                       {run, host, "TCP", 443, false},
		"cloud metadata":                 {run, peer{address: "169.254.169.254"}, "TCP", 80, false},
		"the API server":                 {run, peer{address: "10.96.0.1"}, "TCP", 443, false},
		"a target outside":               {external, host, "TCP", 8443, true},
		"another port of it":             {external, host, "TCP", 443, false},
		"another target outside":         {external, peer{address: "192.0.2.8"}, "TCP", 8443, false},
		"a target with a name":           {withURL("https://www.example.org"), host, "TCP", 443, true},
		"another port of a name":         {withURL("https://www.example.org"), host, "TCP", 8443, false},
		"a name is no namespace":         {withURL("http://www.monitoring.org"), monitoring, "TCP", 9090, false},
		"a Service":                      {withURL("http://shop.monitoring.svc"), monitoring, "TCP", 8080, true},
		"a Service by its whole name":    {withURL("http://shop.monitoring.svc.cluster.local"), monitoring, "TCP", 8080, true},
		"a Service of another namespace": {withURL("http://shop.monitoring.svc"), inTeam, "TCP", 8080, false},
		"a Service of the run's":         {withURL("http://shop"), inTeam, "TCP", 8080, true},
		"a Service or a domain":          {withURL("http://shop.monitoring"), monitoring, "TCP", 8080, true},
		"a domain or a Service":          {withURL("http://example.org"), host, "TCP", 80, true},
		"remote write":                   {remoteWrite, monitoring, "TCP", 9090, true},
		"remote write's address":         {remoteWrite, host, "TCP", 80, false},
		"a receiver of OTLP":             {telemetry, v6, "TCP", 4317, true},
		"another port of the receiver":   {telemetry, v6, "TCP", 4318, false},
	} {
		policy := NetworkPolicy(test.run, settings)
		got := slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
			return opens(rule.Ports, test.protocol, test.port) && selects(t, rule.To, "team", test.to)
		})
		if got != test.want {
			t.Errorf("to %s: %v, want %v", name, got, test.want)
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
