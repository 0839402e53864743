package manifest

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// labelComponent is the label of the manager's pods, with the value managerComponent.
const (
	labelComponent   = "app.kubernetes.io/component"
	managerComponent = "manager"
)

// NetworkPolicyName returns the name of the run's NetworkPolicy. It contains the run's UID, as those of
// its Secrets do: the manager may not read NetworkPolicies.
func NetworkPolicyName(run *v1alpha1.BenchmarkRun) string {
	return run.Name + "-network-" + string(run.UID)[:min(8, len(run.UID))]
}

// NetworkPolicy returns the policy that isolates the run's pods. They reach each other, the manager, DNS
// and what the run names: a server that Assay doesn't start, and the receivers of a script's metrics.
// Nobody else reaches them. Users can allow more by policies of their own, since policies add up.
func NetworkPolicy(run *v1alpha1.BenchmarkRun, settings *Settings) *networkingv1.NetworkPolicy {
	ofRun := metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: string(run.UID)}}
	siblings := []networkingv1.NetworkPolicyPeer{{PodSelector: &ofRun}}
	dns := networkingv1.NetworkPolicyEgressRule{}
	for _, port := range []int{53, 5353} { // 5353 is that of CoreDNS's own pods in OpenShift
		dns.Ports = append(dns.Ports, portOf(corev1.ProtocolUDP, port), portOf(corev1.ProtocolTCP, port))
	}
	egress := []networkingv1.NetworkPolicyEgressRule{{To: siblings}, dns}
	if _, port, err := net.SplitHostPort(settings.SessionAddress); err == nil {
		manager := inNamespace(settings.Namespace)
		manager.PodSelector = &metav1.LabelSelector{MatchLabels: map[string]string{labelComponent: managerComponent}}
		egress = append(egress, networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{manager}, Ports: tcp(port)})
	}
	for _, address := range destinations(run) {
		egress = append(egress, toDestination(run.Namespace, address)...)
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(run, NetworkPolicyName(run)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: ofRun,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: siblings}},
			Egress:      egress,
		},
	}
}

// destinations returns the hosts and ports outside the run that the run names.
func destinations(run *v1alpha1.BenchmarkRun) []string {
	var all []string
	if server.IsExternal(&run.Spec.Target) {
		all = append(all, server.ExternalAddress(&run.Spec.Target))
	}
	if s := run.Spec.Script; s != nil && s.Outputs != nil {
		if p := s.Outputs.PrometheusRemoteWrite; p != nil {
			if u, err := url.Parse(p.URL); err == nil {
				standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]
				all = append(all, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), standard)))
			}
		}
		if t := s.Outputs.OpenTelemetry; t != nil {
			all = append(all, t.Endpoint)
		}
	}
	return all
}

// toDestination returns the rules that allow connections to a host and port. A policy knows no names: an
// address is allowed alone; a Service by its namespace, with all ports, since its pods may listen on
// others than it does; any other name by its port. A name of two parts may be either.
func toDestination(namespace, address string) []networkingv1.NetworkPolicyEgressRule {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		block := netip.PrefixFrom(ip, ip.BitLen()).String()
		return []networkingv1.NetworkPolicyEgressRule{{
			To: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: block}}}, Ports: tcp(port),
		}}
	}
	byPort := networkingv1.NetworkPolicyEgressRule{Ports: tcp(port)}
	toServices := func(namespace string) networkingv1.NetworkPolicyEgressRule {
		return networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{inNamespace(namespace)}}
	}
	parts := strings.Split(strings.ToLower(host), ".")
	switch {
	case len(parts) == 1:
		return []networkingv1.NetworkPolicyEgressRule{toServices(namespace)}
	case len(parts) > 2 && parts[2] == "svc":
		return []networkingv1.NetworkPolicyEgressRule{toServices(parts[1])}
	case len(parts) == 2:
		return []networkingv1.NetworkPolicyEgressRule{byPort, toServices(parts[1])}
	}
	return []networkingv1.NetworkPolicyEgressRule{byPort}
}

func inNamespace(name string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}}
}

func portOf(protocol corev1.Protocol, port int) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptr.To(intstr.FromInt(port))}
}

// tcp returns the TCP port with that number, or all ports if it is none.
func tcp(port string) []networkingv1.NetworkPolicyPort {
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil
	}
	return []networkingv1.NetworkPolicyPort{portOf(corev1.ProtocolTCP, number)}
}
