package failure

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// Failure is why a run has no result: a reason of Succeeded, and the evidence and what to do.
type Failure struct {
	Reason  string
	Message string
}

// newf returns a failure with a reason and a formatted message.
func newf(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NameConflict returns the failure of a run whose object has a name that another object has.
func NameConflict(name string) *Failure {
	return newf(v1alpha1.ReasonNameConflict, "%s already exists and does not belong to this run. Delete it, or give the run another name.", name)
}

// CertManagerMissing returns the failure of a run that needs cert-manager in a cluster without it, because of a field.
func CertManagerMissing(field string) *Failure {
	return newf(v1alpha1.ReasonCertManagerMissing,
		"%s.issuerRef needs cert-manager, which is not installed in this cluster. Install it, or use selfSigned or secretName.", field)
}

// NotDeleted returns the failure of a run for whose name an object is in the way for too long after its deletion.
func NotDeleted(what string, finalizers []string) *Failure {
	why := ""
	if len(finalizers) > 0 {
		why = " Its finalizers are " + strings.Join(finalizers, ", ") + "."
	}
	return newf(v1alpha1.ReasonNameConflict, "%s still exists %ds after its deletion.%s Give the run another name, or see why the object isn't deleted.",
		what, int(lane.ReleaseTimeout.Seconds()), why)
}

// InputMissing returns the failure of a run whose inputs don't exist in time.
func InputMissing(missing []string) *Failure {
	return newf(v1alpha1.ReasonConfigurationMissing, "%s. Create it, then create a new run.", strings.Join(missing, "; "))
}

// InputWrong returns the failure of a run whose inputs can't be used.
func InputWrong(err error) *Failure {
	return newf(v1alpha1.ReasonInvalidSpec, "%s. Fix it, then create a new run.", err)
}

// SpecUnusable returns the failure of a run from whose spec its objects can't be made.
func SpecUnusable(err error) *Failure { return newf(v1alpha1.ReasonInvalidSpec, "%s", err) }

// CertificateNotIssued returns the failure of a run whose certificate cert-manager did not issue in time.
func CertificateNotIssued(field string, timeout time.Duration, reported string) *Failure {
	return newf(v1alpha1.ReasonCertificateNotReady,
		"The certificate of %s was not issued within %ds (spec.target.readiness.timeoutSeconds). cert-manager: %s", field, int(timeout.Seconds()), reported)
}

// ResultUnusable returns the failure of a run whose result can't be merged or encoded.
func ResultUnusable(step string, err error) *Failure {
	return newf(v1alpha1.ReasonArtifactNotStored, "The result can't be %s: %s", step, err)
}

// ArtifactInvalid returns why a run can't end with the result in its artifact, or nil. Anybody who may
// create ConfigMaps in the run's namespace can create one of that name. Only a manager writes the
// status, which has the digest of what it was about to store.
func ArtifactInvalid(run *v1alpha1.BenchmarkRun, stored *observed.Stored) *Failure {
	name, announced := manifest.ArtifactName(run), run.Status.Artifact
	switch {
	case announced == nil:
		return newf(v1alpha1.ReasonArtifactInvalid,
			"ConfigMap %s existed before the run had a result. Find out what created it, and create a new run.", name)
	case announced.SHA256 != stored.SHA256:
		return newf(v1alpha1.ReasonArtifactInvalid,
			"ConfigMap %s does not hold the run's result: its SHA-256 is %s, but that of the result is %s. Find out what created it, and create a new run.",
			name, cmp.Or(stored.SHA256, "unknown"), announced.SHA256)
	case stored.Err != nil:
		return newf(v1alpha1.ReasonArtifactInvalid, "ConfigMap %s can't be read: %s. Create a new run.", name, stored.Err)
	}
	return nil
}

// withoutTeardown adds to a failure that the script's teardown() may not run, if setup() has returned and client 0 is
// lost: no other client runs it.
func (s *seen) withoutTeardown(f *Failure) *Failure {
	leader := s.o.Sessions.Clients[session.ScriptLeader]
	if !state.RunsScript(s.run) || !s.wasSetUp() || leader.Connected || leader.Totals != nil {
		return f
	}
	return newf(f.Reason, "%s. Client 0 is lost, and may not have run the script's teardown(): what that removes may still be there.", printable.WithoutPeriod(f.Message))
}

// wasSetUp reports whether setup() of the script has returned.
func (s *seen) wasSetUp() bool {
	if s.run.Status.MeasurementTime != nil {
		return true
	}
	for _, c := range s.o.Sessions.Clients {
		if c.Script.SetupEnded {
			return true
		}
	}
	return false
}

// seen is what the failures of a run show in.
type seen struct {
	run *v1alpha1.BenchmarkRun
	o   *observed.Run
	now time.Time
	// logged are the differences between the spec and what the servers logged.
	logged []server.Mismatch
}

// anyKind is the kind of a pod's failure that has no reason of its own.
const anyKind = session.FailureKind(0)
