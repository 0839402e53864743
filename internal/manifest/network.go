package manifest

import (
	"cmp"
	"net"
	"net/url"
	"strconv"

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

// NetworkPolicy returns the policy that isolates the run's pods. They reach each other, the manager's
// sessions, the cluster's DNS and what the administrator allows. Nobody else reaches them. What the run
// names opens nothing. Users can allow more by policies of their own, since policies add up.
func NetworkPolicy(run *v1alpha1.BenchmarkRun, settings *Settings) *networkingv1.NetworkPolicy {
	ofRun := metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: string(run.UID)}}
	siblings := []networkingv1.NetworkPolicyPeer{{PodSelector: &ofRun}}
	dns := networkingv1.NetworkPolicyEgressRule{To: settings.DNS}
	for _, port := range []int{53, 5353} { // 5353 is that of CoreDNS's own pods in OpenShift
		dns.Ports = append(dns.Ports, portOf(corev1.ProtocolUDP, port), portOf(corev1.ProtocolTCP, port))
	}
	egress := []networkingv1.NetworkPolicyEgressRule{{To: siblings}}
	if len(dns.To) > 0 { // a rule without peers is for all
		egress = append(egress, dns)
	}
	if _, port, err := net.SplitHostPort(settings.SessionAddress); err == nil {
		if number, err := strconv.Atoi(port); err == nil {
			manager := networkingv1.NetworkPolicyPeer{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: settings.Namespace}},
				PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{labelComponent: managerComponent}},
			}
			egress = append(egress, networkingv1.NetworkPolicyEgressRule{
				To: []networkingv1.NetworkPolicyPeer{manager}, Ports: []networkingv1.NetworkPolicyPort{portOf(corev1.ProtocolTCP, number)},
			})
		}
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(run, NetworkPolicyName(run)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: ofRun,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: siblings}},
			Egress:      append(egress, settings.Egress...),
		},
	}
}

// Destination is a host and port outside a run that the run names.
type Destination struct {
	// Field is the path of the field that names it.
	Field, Address string
}

// Destinations returns what a run names outside itself: a server that Assay doesn't start, and the receivers of a
// script's metrics.
func Destinations(run *v1alpha1.BenchmarkRun) []Destination {
	var all []Destination
	if server.IsExternal(&run.Spec.Target) {
		all = append(all, Destination{"spec.target.server.external.url", server.ExternalAddress(&run.Spec.Target)})
	}
	if s := run.Spec.Script; s != nil && s.Outputs != nil {
		if p := s.Outputs.PrometheusRemoteWrite; p != nil {
			if u, err := url.Parse(p.URL); err == nil {
				standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]
				all = append(all, Destination{"spec.script.outputs.prometheusRemoteWrite.url", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), standard))})
			}
		}
		if t := s.Outputs.OpenTelemetry; t != nil {
			all = append(all, Destination{"spec.script.outputs.openTelemetry.endpoint", t.Endpoint})
		}
	}
	return all
}

func portOf(protocol corev1.Protocol, port int) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptr.To(intstr.FromInt(port))}
}
