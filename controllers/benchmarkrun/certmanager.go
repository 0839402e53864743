package benchmarkrun

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificaterequests,verbs=list

// certificateRequestKind is the kind of a list of cert-manager's CertificateRequests
// (https://cert-manager.io/docs/reference/api-docs).
var certificateRequestKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateRequestList"}

// certificatePause is how soon a certificate that isn't ready is looked at
// again, should its change not be noticed.
const certificatePause = 2 * time.Second

// observeIssued reads the Certificates that cert-manager has for a run, by the
// names of their Secrets.
func (r *Reconciler) observeIssued(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) error {
	o.issued, o.issuing = map[string]*unstructured.Unstructured{}, map[string]string{}
	for _, c := range manifest.Certificates(run) {
		if c.Spec.IssuerRef == nil {
			continue
		}
		issued := &unstructured.Unstructured{}
		issued.SetGroupVersionKind(manifest.CertificateKind)
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: run.Namespace, Name: c.Secret}, issued)
		if meta.IsNoMatchError(err) {
			o.noCertManager = c.Field
			return nil
		}
		if apierrors.IsNotFound(err) {
			continue
		}
		if apierrors.IsForbidden(err) { // to wait for that would be for ever
			o.issuing[c.Secret] = "nothing that Assay may read: " + err.Error()
			continue
		}
		if err != nil {
			return fmt.Errorf("get Certificate %s: %w", c.Secret, err)
		}
		if err := r.noteIssued(ctx, run, o, issued); err != nil {
			return err
		}
	}
	return nil
}

// noteIssued takes in a Certificate that has the name of one of the run's.
func (r *Reconciler) noteIssued(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed, issued *unstructured.Unstructured) error {
	name := issued.GetName()
	if whose := whose(issued, run); whose != ours {
		o.note(whose, "Certificate "+name)
		return nil
	}
	if r.WatchCertificates != nil {
		if err := r.WatchCertificates(); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "can't watch Certificates, and looks at them again and again instead")
		}
	}
	o.issued[name] = issued
	if issued.GetDeletionTimestamp() != nil {
		o.leftover = "Certificate " + name
		return nil
	}
	if isIssued(issued) {
		return nil
	}
	var err error
	o.issuing[name], err = r.issuing(ctx, issued)
	return err
}

// isIssued is whether cert-manager has issued a certificate as it is asked for.
func isIssued(issued *unstructured.Unstructured) bool {
	status, _ := conditionOf(issued, "Ready")
	return status == string(metav1.ConditionTrue)
}

// issuing says in cert-manager's own words why a certificate isn't ready.
func (r *Reconciler) issuing(ctx context.Context, issued *unstructured.Unstructured) (string, error) {
	var said []string
	for _, kind := range []string{"Ready", "Issuing"} {
		if _, message := conditionOf(issued, kind); message != "" {
			said = append(said, message)
		}
	}
	requests := &unstructured.UnstructuredList{}
	requests.SetGroupVersionKind(certificateRequestKind)
	if err := r.Live.List(ctx, requests, client.InNamespace(issued.GetNamespace())); err != nil {
		return "", fmt.Errorf("list the CertificateRequests of %s: %w", issued.GetName(), err)
	}
	for i := range requests.Items {
		request := &requests.Items[i]
		if !metav1.IsControlledBy(request, issued) {
			continue
		}
		if status, message := conditionOf(request, "Ready"); status != string(metav1.ConditionTrue) && message != "" {
			said = append(said, message)
		}
	}
	if len(said) == 0 {
		return "cert-manager hasn't said anything yet", nil
	}
	return strings.Join(said, "; "), nil
}

// conditionOf is the status of a condition, and its reason with its message.
func conditionOf(obj *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		text := func(key string) string { s, _ := condition[key].(string); return s }
		if text("type") == kind {
			return text("status"), strings.Trim(text("reason")+": "+text("message"), ": ")
		}
	}
	return "", ""
}

// request has cert-manager issue a certificate. The Secret is made before it,
// empty: so it belongs to the run and goes with it, which cert-manager's own
// wouldn't.
func (r *Reconciler) request(ctx context.Context, run *v1alpha1.BenchmarkRun, c *manifest.Certificate) (*failure, error) {
	empty := &certificate.Bundle{Certificate: []byte{}, Key: []byte{}}
	if failed, err := r.createSecret(ctx, run, c.Secret, empty); failed != nil || err != nil {
		return failed, err
	}
	failed, err := r.createChild(ctx, run, manifest.IssuedCertificate(run, c))
	if meta.IsNoMatchError(err) {
		return certManagerMissing(c.Field), nil
	}
	return failed, err
}

func certManagerMissing(field string) *failure {
	return failuref(v1alpha1.ReasonCertManagerMissing,
		"%s.issuerRef needs cert-manager, which this cluster doesn't have: install it, or use selfSigned or secretName", field)
}

// certificatesReady is whether cert-manager has issued what it was asked for.
// Until then it plans to wait, or the run's end.
func (p *planner) certificatesReady() bool {
	for _, c := range manifest.Certificates(p.run) {
		issued := p.observed.issued[c.Secret]
		if c.Spec.IssuerRef == nil || issued != nil && isIssued(issued) {
			continue
		}
		said := cmp.Or(p.observed.issuing[c.Secret], "nothing, its Certificate isn't there yet")
		seconds := readinessSeconds(p.run)
		by := p.status.AdmissionTime.Add(time.Duration(seconds) * time.Second)
		if p.now.After(by) {
			p.fail(failuref(v1alpha1.ReasonCertificateNotReady,
				"the certificate of %s wasn't issued within %d s (spec.target.readiness.timeoutSeconds); cert-manager says: %s", c.Field, seconds, said))
			return false
		}
		p.requeueAt(by)
		p.requeueAfter = sooner(p.requeueAfter, certificatePause)
		message := fmt.Sprintf("waiting for the certificate of %s; cert-manager says: %s", c.Field, said)
		p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonCertificateNotReady, message)
		p.state(v1alpha1.ReasonStarting, message, nil)
		return false
	}
	return true
}
