package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// certificateInterval is how often a certificate that isn't ready is read again, in case its
	// change isn't noticed.
	certificateInterval = 2 * time.Second
	// certificateMargin is added to the run's deadline for the lifetime of its certificates.
	certificateMargin = 24 * time.Hour
)

// IsIssued reports whether cert-manager has issued a Certificate.
func IsIssued(issued *unstructured.Unstructured) bool {
	status, _ := certManagerCondition(issued, "Ready")
	return status == string(metav1.ConditionTrue)
}

// IssuingMessage says in cert-manager's words why a Certificate isn't ready. requests are its
// CertificateRequests.
func IssuingMessage(issued *unstructured.Unstructured, requests []unstructured.Unstructured) string {
	var messages []string
	for _, kind := range []string{"Ready", "Issuing"} {
		if _, message := certManagerCondition(issued, kind); message != "" {
			messages = append(messages, message)
		}
	}
	for i := range requests {
		if status, message := certManagerCondition(&requests[i], "Ready"); status != string(metav1.ConditionTrue) && message != "" {
			messages = append(messages, message)
		}
	}
	if len(messages) == 0 {
		return "no status yet"
	}
	return strings.Join(messages, "; ")
}

// certManagerCondition returns the status of a condition, and its reason with its message.
func certManagerCondition(obj *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return "", err.Error()
	}
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		text := func(key string) string { s, _ := condition[key].(string); return s }
		if text("type") == kind {
			return text("status"), strings.Trim(text("reason")+": "+text("message"), ": ")
		}
	}
	return "", ""
}

// createCertificates plans the Secrets of a run's certificates, and cert-manager's Certificates.
func (p *planner) createCertificates() {
	for _, c := range manifest.Certificates(p.run) {
		secret := Creation{
			Object:     manifest.Secret(p.run, c.Secret, &certificate.Bundle{Certificate: []byte{}, Key: []byte{}}),
			Unreadable: true, Reason: v1alpha1.ReasonInvalidSpec,
		}
		switch {
		case c.Spec.SelfSigned != nil && !p.observed.Signed[c.Secret]:
			algorithm, size := server.Key(c.Spec.PrivateKey)
			secret.Certificate = &certificate.Request{
				Algorithm: string(algorithm), Size: size, DNSNames: server.DNSNames(p.run, c.Spec), Client: c.Client,
				Lifetime: activeDeadline(p.run) + certificateMargin,
			}
			p.Create = append(p.Create, secret)
		case c.Spec.IssuerRef != nil && p.observed.Issued[c.Secret] == nil:
			// The empty Secret comes before the Certificate: so it belongs to the run and is
			// deleted with it, which one that cert-manager creates isn't.
			p.Create = append(p.Create, secret)
			p.create(manifest.IssuedCertificate(p.run, &c))
		}
	}
}

// certificatesReady reports whether cert-manager has issued the run's certificates. Otherwise it
// plans to wait, or fails the run.
func (p *planner) certificatesReady() bool {
	for _, c := range manifest.Certificates(p.run) {
		issued := p.observed.Issued[c.Secret]
		if c.Spec.IssuerRef == nil || issued != nil && IsIssued(issued) {
			continue
		}
		reported := cmp.Or(p.observed.Issuing[c.Secret], "the Certificate does not exist yet")
		timeout := readinessTimeout(p.run)
		by := p.Status.AdmissionTime.Add(timeout)
		if p.now.After(by) {
			p.fail(failuref(v1alpha1.ReasonCertificateNotReady,
				"The certificate of %s was not issued within %ds (spec.target.readiness.timeoutSeconds). cert-manager: %s", c.Field, int(timeout.Seconds()), reported))
			return false
		}
		p.requeueAt(by)
		p.requeueIn(certificateInterval)
		message := fmt.Sprintf("Waiting for the certificate of %s. cert-manager: %s", c.Field, reported)
		p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonCertificateNotReady, message)
		p.state(v1alpha1.ReasonStarting, message, nil)
		return false
	}
	return true
}
