package conclusion

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/validity"
)

// The annotations by which a network plugin limits what a pod's network carries
// (https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins/#support-traffic-shaping).
const (
	ingressBandwidth = "kubernetes.io/ingress-bandwidth"
	egressBandwidth  = "kubernetes.io/egress-bandwidth"
)

// bandwidth returns what the network of the target may carry, as far as its annotations say so.
func bandwidth(t *v1alpha1.Target) validity.Link {
	of := func(annotation string) int64 {
		q, err := resource.ParseQuantity(t.Annotations[annotation])
		if err != nil {
			return 0
		}
		return max(q.Value(), 0)
	}
	return validity.Link{Sent: of(egressBandwidth), Received: of(ingressBandwidth)}
}
