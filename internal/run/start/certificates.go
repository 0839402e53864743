package start

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// certificateInterval is the interval at which a certificate that isn't ready is read again.
	certificateInterval = 2 * time.Second
	// certificateMargin is added to the run's deadline for the lifetime of its certificates.
	certificateMargin = 24 * time.Hour
)

// createCertificates plans the Secrets of a run's certificates, and cert-manager's Certificates.
func createCertificates(p *step.Planner) {
	for _, c := range manifest.Certificates(p.Run) {
		secret := observed.Creation{
			Object:     manifest.Secret(p.Run, c.Secret, &certificate.Bundle{Certificate: []byte{}, Key: []byte{}}),
			Unreadable: true, Reason: v1alpha1.ReasonInvalidSpec,
		}
		switch {
		case c.Spec.SelfSigned != nil && !p.Observed.Signed[c.Secret]:
			algorithm, size := server.Key(c.Spec.PrivateKey)
			secret.Certificate = &certificate.Request{
				Algorithm: string(algorithm), Size: size, DNSNames: server.DNSNames(p.Run, c.Spec), Client: c.Client,
				Lifetime: manifest.ActiveDeadline(p.Run) + certificateMargin,
			}
			p.Create = append(p.Create, secret)
		case c.Spec.IssuerRef != nil && p.Observed.Issued[c.Secret] == nil:
			// The empty Secret comes before the Certificate: so it belongs to the run and is
			// deleted with it, which one that cert-manager creates isn't.
			p.Create = append(p.Create, secret)
			p.AddCreation(manifest.IssuedCertificate(p.Run, &c))
		}
	}
}

// certificatesReady reports whether cert-manager has issued all. Else it waits, or fails the run.
func certificatesReady(p *step.Planner) bool {
	for _, c := range manifest.Certificates(p.Run) {
		issued := p.Observed.Issued[c.Secret]
		if c.Spec.IssuerRef == nil || issued != nil && observed.IsIssued(issued) {
			continue
		}
		reported := cmp.Or(p.Observed.Issuing[c.Secret], "the Certificate does not exist yet")
		timeout := state.ReadinessTimeout(p.Run)
		by := p.Observed.Deadline(p.Status.AdmissionTime.Time, timeout)
		if p.Now.After(by) {
			p.Fail(failure.CertificateNotIssued(c.Field, timeout, reported))
			return false
		}
		p.RequeueAt(by)
		p.RequeueIn(certificateInterval)
		message := fmt.Sprintf("Waiting for the certificate of %s. cert-manager: %s", c.Field, reported)
		p.SetCondition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonCertificateNotReady, message)
		p.SetState(v1alpha1.ReasonStarting, message, nil)
		return false
	}
	return true
}
