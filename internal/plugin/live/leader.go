package live

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/live"
)

// leader is the manager that leads.
type leader struct {
	namespace, pod string
	endpoint       live.Endpoint
}

// leaseReader finds the leader by its Lease. Only who may write to the operator's namespace could forge it.
type leaseReader struct {
	client          coordination.LeasesGetter
	namespace, name string
}

func newLeaseReader(config *rest.Config, namespace, name string) (leaseReader, error) {
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return leaseReader{}, fmt.Errorf("create a client for Leases: %w", err)
	}
	return leaseReader{client, namespace, name}, nil
}

// leader returns the leader as the Lease has it. The error is an Unavailable.
func (l leaseReader) leader(ctx context.Context) (*leader, error) {
	lease, err := l.client.Leases(l.namespace).Get(ctx, l.name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil, &Unavailable{Denied: true, Reason: fmt.Sprintf(
			"You may not get leases in namespace %s, by which the leader is found. Ask for the Role with live-viewer in its name there.", l.namespace)}
	case apierrors.IsNotFound(err):
		return nil, unavailable("Lease %s not found in namespace %s. Set --operator-namespace and --operator-lease to those of your installation.", l.name, l.namespace)
	case err != nil:
		return nil, unavailable("The leader can't be found: %s.", err)
	}
	found := &leader{namespace: l.namespace, pod: ptr.Deref(lease.Spec.HolderIdentity, "")}
	announced := lease.Annotations[live.EndpointAnnotation]
	switch {
	case found.pod == "":
		return nil, unavailable("No manager leads at present.")
	case announced == "":
		return nil, unavailable("The leader, pod %s, doesn't stream figures: it is starting, older than this plugin, or has live.enabled=false.", found.pod)
	}
	if found.endpoint, err = live.ParseEndpoint(announced); err != nil {
		return nil, unavailable("The annotation %s of Lease %s is damaged: %s.", live.EndpointAnnotation, l.name, err)
	}
	return found, nil
}
