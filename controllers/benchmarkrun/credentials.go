package benchmarkrun

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
)

// ofClient says what keeps a client from starting. The operator may not read
// Secrets: that the one with the credentials is missing, or lacks a key, the
// kubelet says, which doesn't know what field asks for it.
func (t *trouble) ofClient(run *v1alpha1.BenchmarkRun) string {
	a := run.Spec.Load.Authentication
	if a == nil || !t.missing() || !strings.Contains(t.message, `volume "`+manifest.CredentialsVolume+`"`) {
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
