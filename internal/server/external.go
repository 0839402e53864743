package server

import (
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// IsExternal reports whether Assay doesn't start the target.
func IsExternal(t *v1alpha1.Target) bool { return externalOf(t) != nil }

// ExternalURL returns the URL of a target that Assay doesn't start.
func ExternalURL(t *v1alpha1.Target) string { return externalOf(t).URL(&t.Server) }

// ExternalAddress returns the host and port of a target that Assay doesn't start.
func ExternalAddress(t *v1alpha1.Target) string { return externalOf(t).Address(&t.Server) }

// CertificateAuthority returns the source of the CA bundle that verifies a target that Assay doesn't
// start, or nil if there is none.
func CertificateAuthority(t *v1alpha1.Target) *v1alpha1.CertificateAuthority {
	if e := externalOf(t); e != nil {
		return e.CertificateAuthority(&t.Server)
	}
	return nil
}

// externalOf returns the adapter of a target that Assay doesn't start, or nil
// if Assay starts it.
func externalOf(t *v1alpha1.Target) adapter.External {
	e, _ := kindOf(&t.Server).(adapter.External)
	return e
}

// Host returns the Host header of requests to a run's target, or an empty string
// for the target's address. With TLS it is the name that the certificate is
// checked by.
func Host(run *v1alpha1.BenchmarkRun) string {
	t := &run.Spec.Target
	if e := externalOf(t); e != nil {
		return e.Host(&t.Server)
	}
	if s := SessionTLS(run); s != nil && s.ServerName != "" {
		return s.ServerName + ":" + strconv.Itoa(int(Port(t)))
	}
	return ""
}
