package benchmarkrun

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/target"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;delete

const (
	// podTLSVolume is the volume, in the pods that ask the target, with what they
	// need for it.
	podTLSVolume = "tls-client"
	// authorityKey is the key of a Secret with the certificates that vouch for its
	// own.
	authorityKey = "ca.crt"
	// certificateReserve is added to the time that a run may take, for the life of
	// its certificates.
	certificateReserve = 24 * time.Hour
)

// certificateOf is one certificate of a run, and the Secret that it is in.
type certificateOf struct {
	field  string
	spec   *v1alpha1.Certificate
	secret string
	client bool
}

// certificates are the certificates that a run needs. The Secrets that are made
// for it have names that nobody else has: the manager may not read Secrets, so
// that it couldn't tell whose one is.
func certificates(run *v1alpha1.BenchmarkRun) []certificateOf {
	t := run.Spec.Target.TLS
	if t == nil {
		return nil
	}
	var all []certificateOf
	add := func(field, suffix string, spec *v1alpha1.Certificate, client bool) {
		c := certificateOf{field: field, spec: spec, secret: spec.SecretName, client: client}
		if c.secret == "" {
			c.secret = run.Name + suffix + "-" + string(run.UID)[:min(8, len(run.UID))]
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

// madeForRun is whether the Secret is the run's own.
func (c *certificateOf) madeForRun() bool { return c.spec.SecretName == "" }

// createCertificates makes the Secrets of a run's certificates, and has
// cert-manager issue those that it is to. It may be called again.
func (r *Reconciler) createCertificates(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (*failure, error) {
	for _, c := range certificates(run) {
		var failed *failure
		var err error
		switch {
		case c.spec.SelfSigned != nil:
			failed, err = r.sign(ctx, run, &c)
		case c.spec.IssuerRef != nil && o.issued[c.secret] == nil:
			failed, err = r.request(ctx, run, &c)
		}
		if failed != nil || err != nil {
			return failed, err
		}
	}
	return nil, nil
}

// sign makes a certificate by the operator itself. One that is there already,
// from before the manager was restarted, stands. What this manager has made it
// doesn't make again: a key takes a second.
func (r *Reconciler) sign(ctx context.Context, run *v1alpha1.BenchmarkRun, c *certificateOf) (*failure, error) {
	name := types.NamespacedName{Namespace: run.Namespace, Name: c.secret}
	if _, known := r.signed.Load(name); known {
		return nil, nil
	}
	algorithm, size := target.Key(c.spec.PrivateKey)
	made, err := certificate.Make(certificate.Request{
		Algorithm: string(algorithm), Size: size, DNSNames: target.DNSNames(run, c.spec), Client: c.client,
		Lifetime: time.Duration(activeDeadline(run))*time.Second + certificateReserve,
	}, r.Clock.Now())
	if err != nil {
		return nil, fmt.Errorf("make the certificate of %s: %w", c.field, err)
	}
	failed, err := r.createSecret(ctx, run, c.secret, made)
	if failed == nil && err == nil {
		r.signed.Store(name, run.UID)
	}
	return failed, err
}

// createSecret makes a Secret that goes with its run. Whose one is that is there
// already can't be read, but nobody else uses such a name.
func (r *Reconciler) createSecret(ctx context.Context, run *v1alpha1.BenchmarkRun, name string, b *certificate.Bundle) (*failure, error) {
	secret := &corev1.Secret{
		ObjectMeta: objectMeta(run, name),
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: b.Certificate, corev1.TLSPrivateKeyKey: b.Key},
	}
	if b.Authority != nil {
		secret.Data[authorityKey] = b.Authority
	}
	err := r.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return nil, nil
	}
	return r.created(run, secret, err)
}

// removeCertificates deletes what was made for a run's TLS. While there are
// Certificates it deletes no more than them, and returns false: cert-manager
// would make their Secrets anew, as nobody's. Without the ConfigMap nothing
// would tell the next look that there are Secrets.
func (r *Reconciler) removeCertificates(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (removed bool, err error) {
	if !o.remains() {
		return true, nil
	}
	for name, issued := range o.issued {
		uid := issued.GetUID()
		if err := r.Delete(ctx, issued, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("delete Certificate %s: %w", name, err)
		}
	}
	if len(o.issued) > 0 && o.config != nil {
		return false, nil
	}
	for _, c := range certificates(run) {
		if !c.madeForRun() {
			continue
		}
		r.signed.Delete(types.NamespacedName{Namespace: run.Namespace, Name: c.secret})
		secret := &corev1.Secret{ObjectMeta: objectMeta(run, c.secret)}
		if err := r.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("delete Secret %s: %w", c.secret, err)
		}
	}
	return true, nil
}

// serverTLSVolume is what the server presents, and checks clients by.
func serverTLSVolume(run *v1alpha1.BenchmarkRun) *corev1.Volume {
	var sources []corev1.VolumeProjection
	for _, c := range certificates(run) {
		if c.client {
			sources = append(sources, secretFiles(c.secret, map[string]string{authorityKey: target.ClientAuthorityKey}))
		} else {
			sources = append(sources, secretFiles(c.secret, map[string]string{
				corev1.TLSCertKey: target.CertificateKey, corev1.TLSPrivateKeyKey: target.PrivateKeyKey,
			}))
		}
	}
	return projected(target.TLSVolume, sources)
}

// clientTLSVolume is what a pod needs that asks the target; nil for nothing. It
// never has the server's key.
func clientTLSVolume(run *v1alpha1.BenchmarkRun) *corev1.Volume {
	var sources []corev1.VolumeProjection
	if e := run.Spec.Target.Server.External; e != nil && e.CertificateAuthority != nil {
		if name := e.CertificateAuthority.ConfigMapName; name != "" {
			sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: name},
				Items:                []corev1.KeyToPath{{Key: authorityKey, Path: authorityKey}},
			}})
		} else {
			sources = append(sources, secretFiles(e.CertificateAuthority.SecretName, map[string]string{authorityKey: authorityKey}))
		}
	}
	for _, c := range certificates(run) {
		if c.client {
			sources = append(sources, secretFiles(c.secret, map[string]string{
				corev1.TLSCertKey: "client.crt", corev1.TLSPrivateKeyKey: "client.key",
			}))
			continue
		}
		authority := secretFiles(c.secret, map[string]string{authorityKey: authorityKey})
		authority.Secret.Optional = new(true)
		sources = append(sources, authority, secretFiles(c.secret, map[string]string{corev1.TLSCertKey: "server.crt"}))
	}
	return projected(podTLSVolume, sources)
}

// mountClientTLS adds what a container needs to ask the target.
func mountClientTLS(run *v1alpha1.BenchmarkRun, spec *corev1.PodSpec, container *corev1.Container) {
	if volume := clientTLSVolume(run); volume != nil {
		spec.Volumes = append(spec.Volumes, *volume)
		container.VolumeMounts = append(container.VolumeMounts,
			corev1.VolumeMount{Name: volume.Name, MountPath: session.TLSFolder, ReadOnly: true})
	}
}

func projected(name string, sources []corev1.VolumeProjection) *corev1.Volume {
	if len(sources) == 0 {
		return nil
	}
	return &corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}}
}

// secretFiles are some keys of a Secret, as files.
func secretFiles(name string, files map[string]string) corev1.VolumeProjection {
	projection := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	for _, key := range sortedKeys(files) {
		projection.Items = append(projection.Items, corev1.KeyToPath{Key: key, Path: files[key]})
	}
	return corev1.VolumeProjection{Secret: projection}
}
