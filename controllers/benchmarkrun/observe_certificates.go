package benchmarkrun

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificaterequests,verbs=list

// certificateRequestKind is the kind of a list of cert-manager's CertificateRequests
// (https://cert-manager.io/docs/reference/api-docs).
var certificateRequestKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateRequestList"}

// observeIssued reads the run's Certificates, and which Secrets this manager has made for it.
func (r *Reconciler) observeIssued(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	o.Issued, o.Issuing, o.Signed = map[string]*unstructured.Unstructured{}, map[string]string{}, map[string]bool{}
	for _, c := range manifest.Certificates(br) {
		name := types.NamespacedName{Namespace: br.Namespace, Name: c.Secret}
		if c.Spec.IssuerRef == nil {
			o.Signed[c.Secret] = r.known.get(br.UID).signed[c.Secret]
			continue
		}
		issued := &unstructured.Unstructured{}
		issued.SetGroupVersionKind(manifest.CertificateKind)
		err := r.APIReader.Get(ctx, name, issued)
		switch {
		case failure.KindMissing(err):
			o.NoCertManager = c.Field
			return nil
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err): // retrying would not help
			o.Issuing[c.Secret] = "Assay must not read it: " + err.Error()
			continue
		case err != nil:
			return fmt.Errorf("get Certificate %s: %w", c.Secret, err)
		}
		if err := r.noteIssued(ctx, br, o, issued); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) noteIssued(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run, issued *unstructured.Unstructured) error {
	name := issued.GetName()
	if own, err := r.owns(ctx, br, o, issued); !own || err != nil {
		return err
	}
	if r.WatchCertificates != nil {
		if err := r.WatchCertificates(); err != nil {
			// The planner polls them as well.
			ctrl.LoggerFrom(ctx).Error(err, "Failed to watch Certificates")
		}
	}
	o.Issued[name] = issued
	if issued.GetDeletionTimestamp() != nil {
		o.Strays = append(o.Strays, observed.Stray{Relation: ownership.Own, Kind: "Certificate", Object: issued})
		return nil
	}
	if observed.IsIssued(issued) {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(certificateRequestKind)
	// cert-manager numbers the requests of a Certificate, whose name has 52 characters at most. There may be any number of
	// others, each as large as an object may be.
	if err := r.APIReader.List(ctx, list, client.InNamespace(issued.GetNamespace()), client.MatchingFields{"metadata.name": name + "-1"}); err != nil {
		return fmt.Errorf("list the CertificateRequests of %s: %w", name, err)
	}
	var requests []unstructured.Unstructured
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], issued) {
			requests = append(requests, list.Items[i])
		}
	}
	o.Issuing[name] = observed.IssuingMessage(issued, requests)
	return nil
}
