package manifest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// clientTLSVolumeName is the volume with what a pod needs to connect to the target by TLS.
	clientTLSVolumeName = "tls-client"
	// caKey is the key of a Secret or ConfigMap with its CA bundle.
	caKey = "ca.crt"
)

// CertificateKind is the kind of cert-manager's Certificates
// (https://cert-manager.io/docs/reference/api-docs). They are built without cert-manager's Go
// types, which would add its whole dependencies for one object.
var CertificateKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}

// Certificate is a certificate that a run needs.
type Certificate struct {
	// Field is the path of the field that asks for it.
	Field string
	Spec  *v1alpha1.Certificate
	// Secret is the name of the Secret that holds it.
	Secret string
	// Client reports whether it is a client certificate.
	Client bool
}

// OwnSecret reports whether the Secret is made for the run. Otherwise it is the user's.
func (c *Certificate) OwnSecret() bool { return c.Spec.SecretName == "" }

// Certificates returns those that a run needs. The name of a Secret that is made for the run
// contains the run's UID: the manager may not read Secrets, so it can't check the owner of an
// existing one.
func Certificates(run *v1alpha1.BenchmarkRun) []Certificate {
	t := run.Spec.Target.TLS
	if t == nil {
		return nil
	}
	var all []Certificate
	add := func(field, suffix string, spec *v1alpha1.Certificate, client bool) {
		c := Certificate{Field: field, Spec: spec, Secret: spec.SecretName, Client: client}
		if c.Secret == "" {
			c.Secret = run.Name + suffix + "-" + string(run.UID)[:min(8, len(run.UID))]
		}
		all = append(all, c)
	}
	if t.Certificate != nil {
		add("spec.target.tls.certificate", "-tls", t.Certificate, false)
	}
	if t.ClientAuthentication != nil {
		add("spec.target.tls.clientAuthentication.certificate", "-client-tls", &t.ClientAuthentication.Certificate, true)
	}
	return all
}

// Secret returns a TLS Secret of the run with the given bundle.
func Secret(run *v1alpha1.BenchmarkRun, name string, b *certificate.Bundle) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: objectMeta(run, name),
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: b.Certificate, corev1.TLSPrivateKeyKey: b.Key},
	}
	if b.CA != nil {
		secret.Data[caKey] = b.CA
	}
	return secret
}

// IssuedCertificate returns cert-manager's Certificate for c.
func IssuedCertificate(run *v1alpha1.BenchmarkRun, c *Certificate) *unstructured.Unstructured {
	algorithm, size := server.Key(c.Spec.PrivateKey)
	names := []any{}
	for _, name := range server.DNSNames(run, c.Spec) {
		names = append(names, name)
	}
	usages := []any{"digital signature", "server auth"}
	if c.Client {
		usages[1] = "client auth"
	}
	if algorithm == v1alpha1.KeyRSA {
		usages = append(usages, "key encipherment")
	}
	ref := c.Spec.IssuerRef
	obj := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"secretName": c.Secret,
			"issuerRef":  map[string]any{"name": ref.Name, "kind": ref.Kind, "group": ref.Group},
			"dnsNames":   names,
			"privateKey": map[string]any{"algorithm": string(algorithm), "size": int64(size), "encoding": "PKCS8", "rotationPolicy": "Always"},
			"usages":     usages,
		},
	}}
	obj.SetGroupVersionKind(CertificateKind)
	m := objectMeta(run, c.Secret)
	obj.SetName(m.Name)
	obj.SetNamespace(m.Namespace)
	obj.SetLabels(m.Labels)
	obj.SetOwnerReferences(m.OwnerReferences)
	return obj
}

// serverTLSVolume returns the volume with the server's certificate and key, and the CA bundle that
// verifies clients. It returns nil if the server needs none.
func serverTLSVolume(run *v1alpha1.BenchmarkRun) *corev1.Volume {
	var sources []corev1.VolumeProjection
	for _, c := range Certificates(run) {
		files := map[string]string{corev1.TLSCertKey: server.CertificateKey, corev1.TLSPrivateKeyKey: server.PrivateKeyKey}
		if c.Client {
			files = map[string]string{caKey: server.ClientCAKey}
		}
		sources = append(sources, secretFiles(c.Secret, files))
	}
	return projected(server.TLSVolume, sources...)
}

// clientTLSVolume returns the volume with what a pod needs to connect to the target by TLS, or nil
// if it needs nothing. It never holds the server's key.
func clientTLSVolume(run *v1alpha1.BenchmarkRun) *corev1.Volume {
	var sources []corev1.VolumeProjection
	if ca := server.CertificateAuthority(&run.Spec.Target); ca != nil {
		if name := ca.ConfigMapName; name != "" {
			sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: name},
				Items:                []corev1.KeyToPath{{Key: caKey, Path: caKey}},
			}})
		} else {
			sources = append(sources, secretFiles(ca.SecretName, map[string]string{caKey: caKey}))
		}
	}
	for _, c := range Certificates(run) {
		if c.Client {
			sources = append(sources, secretFiles(c.Secret, map[string]string{
				corev1.TLSCertKey: "client.crt", corev1.TLSPrivateKeyKey: "client.key",
			}))
			continue
		}
		ca := secretFiles(c.Secret, map[string]string{caKey: caKey})
		ca.Secret.Optional = new(true)
		sources = append(sources, ca, secretFiles(c.Secret, map[string]string{corev1.TLSCertKey: "server.crt"}))
	}
	return projected(clientTLSVolumeName, sources...)
}

func mountClientTLS(run *v1alpha1.BenchmarkRun, spec *corev1.PodSpec, container *corev1.Container) {
	if volume := clientTLSVolume(run); volume != nil {
		mount(spec, container, volume, session.TLSDirectory)
	}
}
