package failure

import (
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// OutOfBounds fails a run that the manager's administrator does not allow. It returns nil for an
// admitted one, which was allowed.
func OutOfBounds(run *v1alpha1.BenchmarkRun, settings *manifest.Settings) *Failure {
	limit := settings.MaxActiveDeadline
	switch {
	case state.IsAdmitted(run):
		return nil
	case limit > 0 && manifest.ActiveDeadline(run) > limit:
		return newf(v1alpha1.ReasonInvalidSpec,
			"spec.activeDeadlineSeconds is %d. The administrator of this manager allows %d at most (--max-active-deadline). Decrease it in a new run.",
			int64(manifest.ActiveDeadline(run).Seconds()), int64(limit.Seconds()))
	case len(settings.Lanes) > 0 && !slices.Contains(settings.Lanes, run.Spec.Lane):
		return newf(v1alpha1.ReasonInvalidSpec,
			"spec.lane is %s. The administrator of this manager allows only %s (--lanes). Use one of these in a new run.",
			run.Spec.Lane, strings.Join(settings.Lanes, ", "))
	}
	return forbiddenIssuer(run, settings.Issuers)
}

// forbiddenIssuer fails a run with a certificate of an issuer that isn't allowed.
func forbiddenIssuer(run *v1alpha1.BenchmarkRun, allowed []string) *Failure {
	if len(allowed) == 0 {
		return nil
	}
	for _, c := range manifest.Certificates(run) {
		ref := c.Spec.IssuerRef
		if ref == nil {
			continue
		}
		kind := ref.Kind
		if ref.Group != manifest.CertificateKind.Group {
			kind += "." + ref.Group
		}
		if !slices.Contains(allowed, kind+"/"+ref.Name) && !slices.Contains(allowed, kind+"/*") {
			return newf(v1alpha1.ReasonInvalidSpec,
				"%s.issuerRef is %s/%s. The administrator of this manager allows only %s (--issuers). Use one of these, selfSigned or secretName in a new run.",
				c.Field, kind, ref.Name, strings.Join(allowed, ", "))
		}
	}
	return nil
}
