package validity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// clientLimit is a limit of a client's own machine, as causes of errors name it.
type clientLimit struct {
	errno, text string // text is the kernel's, as other load generators print it
	remedy      string
}

const (
	moreDescriptors = "Increase the limit of open files (ulimit -n, or the container runtime's)"
	morePorts       = "Reuse connections (load.client.keepAlive), spread the load over more clients, or widen net.ipv4.ip_local_port_range"
	moreMemory      = "Give the client's machine more memory, or lower the connections"
)

var clientLimits = []clientLimit{
	{"EMFILE", "too many open files", moreDescriptors},
	{"ENFILE", "too many open files in system", moreDescriptors},
	{"EADDRNOTAVAIL", "cannot assign requested address", morePorts},
	{"ENOBUFS", "no buffer space available", moreMemory},
	{"ENOMEM", "cannot allocate memory", moreMemory},
	{"EAGAIN", "resource temporarily unavailable", morePorts},
}

// ownErrors returns the number of requests that failed for a limit of the clients themselves, and the limit for which most did.
func ownErrors(r *result.Result) (all int64, most clientLimit) {
	var count int64
	for kind, causes := range r.Causes {
		for i := range causes {
			c := &causes[i]
			limit := slices.IndexFunc(clientLimits, func(l clientLimit) bool {
				return strings.Contains(c.Text, l.errno) || strings.Contains(strings.ToLower(c.Text), l.text)
			})
			if limit < 0 || clientLimits[limit].errno == "EAGAIN" && result.ErrorKind(kind) != result.ErrorConnect {
				continue
			}
			if all += c.Count; c.Count > count {
				count, most = c.Count, clientLimits[limit]
			}
		}
	}
	return all, most
}

// clientLimited finds requests that failed for a limit of the clients' own machines: descriptors, ports or memory. The target never saw
// them.
func clientLimited(r *result.Result) *result.Finding {
	failed, limit := ownErrors(r)
	if failed == 0 {
		return nil
	}
	severity := result.Warns
	if 100*float64(failed) >= errorsWarnPercent*float64(r.Merged.Requests) {
		severity = result.Invalidates
	}
	return found(ReasonClientLimited, severity, "%d of %d requests failed for a limit of the client's own machine (%s: %s). The target did not see them. %s.",
		failed, r.Merged.Requests, limit.errno, limit.text, limit.remedy)
}

// errorsRemedy says what to do about many failed requests.
func errorsRemedy(r *result.Result) string {
	if own, limit := ownErrors(r); 2*own >= r.Merged.Errors.Total() && own > 0 {
		return fmt.Sprintf("Most failed for the client's own limit (%s): see %s.", limit.errno, ReasonClientLimited)
	}
	return "Fix the cause of the errors, or lower the load until the target can serve it."
}
