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
	if a := run.Spec.Alternation; a != nil && settings.MaxActiveRuns > 0 && int(a.Variants) > settings.MaxActiveRuns {
		return newf(v1alpha1.ReasonInvalidSpec,
			"spec.alternation.variants is %d. The administrator of this manager allows %d active runs of a namespace at most (--max-active-runs). Compare fewer variants.",
			a.Variants, settings.MaxActiveRuns)
	}
	if size := manifest.ContentBytes(run); settings.MaxContentBytes > 0 && size > settings.MaxContentBytes {
		return newf(v1alpha1.ReasonInvalidSpec,
			"spec.target.content has %d bytes. The administrator of this manager allows %d at most (--max-content). Decrease sizeBytes in a new run.",
			size, settings.MaxContentBytes)
	}
	if failure := unreachable(run, settings); failure != nil {
		return failure
	}
	return forbiddenIssuer(run, settings.Issuers)
}

// unreachable fails a run that names a host which the NetworkPolicy of its pods doesn't open. Without it, each request
// would time out.
func unreachable(run *v1alpha1.BenchmarkRun, settings *manifest.Settings) *Failure {
	if !settings.NetworkPolicies {
		return nil
	}
	for _, d := range manifest.Destinations(run) {
		if !settings.Allowed(d.Address) {
			return newf(v1alpha1.ReasonInvalidSpec,
				"%s is at %s, which the network policies of this manager don't let the pods of runs reach (--network-policy-egress). "+
					"Use a target within the run, or ask the administrator to allow it by networkPolicies.egress of the chart.",
				d.Field, d.Address)
		}
	}
	return nil
}

// forbiddenIssuer fails a run with a certificate of an issuer that isn't allowed.
func forbiddenIssuer(run *v1alpha1.BenchmarkRun, allowed []string) *Failure {
	allows := "no issuers"
	if len(allowed) > 0 {
		allows = "only " + strings.Join(allowed, ", ")
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
				"%s.issuerRef is %s/%s. The administrator of this manager allows %s (--issuers). Use another, selfSigned or secretName in a new run.",
				c.Field, kind, ref.Name, allows)
		}
	}
	return nil
}
