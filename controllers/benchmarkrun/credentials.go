package benchmarkrun

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// credentialsVolume is the volume with the credentials of load.authentication.
const credentialsVolume = "credentials"

// mountCredentials adds what a client authenticates its requests by.
func mountCredentials(run *v1alpha1.BenchmarkRun, spec *corev1.PodSpec, container *corev1.Container) {
	a := run.Spec.Load.Authentication
	if a == nil {
		return
	}
	keys := map[string]string{}
	for _, key := range session.CredentialKeys(string(a.Scheme)) {
		keys[key] = key
	}
	spec.Volumes = append(spec.Volumes, *projected(credentialsVolume, []corev1.VolumeProjection{secretFiles(a.SecretName, keys)}))
	container.VolumeMounts = append(container.VolumeMounts,
		corev1.VolumeMount{Name: credentialsVolume, MountPath: session.CredentialsFolder, ReadOnly: true})
}

// ofClient says what keeps a client from starting. The operator may not read
// Secrets: that the one with the credentials is missing, or lacks a key, the
// kubelet says, which doesn't know what field asks for it.
func (t *trouble) ofClient(run *v1alpha1.BenchmarkRun) string {
	a := run.Spec.Load.Authentication
	if a == nil || !t.missing() || !strings.Contains(t.message, `volume "`+credentialsVolume+`"`) {
		return t.String()
	}
	keys := session.CredentialKeys(string(a.Scheme))
	noun := "key"
	if len(keys) > 1 {
		noun = "keys"
	}
	return fmt.Sprintf("spec.load.authentication.secretName: there must be a Secret %s in namespace %s with the %s %s for the scheme %s (%s)",
		a.SecretName, run.Namespace, noun, strings.Join(keys, " and "), a.Scheme, t)
}
