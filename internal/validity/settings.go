package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// minClosed is the smallest number of closed connections whose requests are compared with the limit, and
	// closedEarlyShare of the limit what they had if it isn't in effect.
	minClosed        = 10
	closedEarlyShare = 0.9
	// resumedShare of the connections that could have resumed a TLS session is where most of them did not.
	resumedShare = 0.5
)

// settingsNotInEffect finds settings that the run declares and the measurement contradicts. What a server's log
// or its first handshake contradicts has failed the run before.
func settingsNotInEffect(r *result.Result, d Declared) *result.Finding {
	var said []string
	for _, contradiction := range []func(*result.Result, Declared) string{backlogLimited, closedEarly, notResumed} {
		if text := contradiction(r, d); text != "" {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return nil
	}
	return found(ReasonSettingsNotInEffect, result.Warns, "%s The result is one of what is in effect.", strings.Join(said, " "))
}

// backlogLimited compares the accept queue's limit with what is declared. If the target listens on several
// sockets the result has the largest limit of those whose queues are alike.
func backlogLimited(r *result.Result, d Declared) string {
	u := r.NodeUsage
	if u == nil || u.AcceptQueueLimit <= 0 || u.AcceptQueueLimit >= d.Backlog.Value {
		return ""
	}
	return fmt.Sprintf("%s is %d, but the accept queue has only %d places: increase net.core.somaxconn of the pods of its node, which is up to its administrator, or decrease %s.",
		d.Backlog.Setting, d.Backlog.Value, u.AcceptQueueLimit, d.Backlog.Setting)
}

// closedEarly compares the requests of the connections that the server closed with what is declared. Requests of
// other connections count as theirs, so that it is never too few.
func closedEarly(r *result.Result, d Declared) string {
	closed := closedByLimit(r)
	if closed < minClosed || !r.Run.KeepAlive || d.KeepAlive.Value == 0 {
		return ""
	}
	most := float64(r.Merged.Requests) / float64(closed)
	if d.KeepAlive.Value > 0 && most >= closedEarlyShare*float64(d.KeepAlive.Value) {
		return ""
	}
	allowed := fmt.Sprint(d.KeepAlive.Value)
	if d.KeepAlive.Value < 0 {
		allowed = "unlimited"
	}
	return fmt.Sprintf("%s is %s, but the server closed %d connections after at most %.0f requests each on average: see whether something else limits them, such as too few threads for the connections.",
		d.KeepAlive.Setting, allowed, closed, most)
}

// notResumed compares the TLS sessions that were resumed with what is declared. The first connections have none
// to resume.
func notResumed(r *result.Result, d Declared) string {
	able := r.Merged.Connections - r.Merged.Errors[result.ErrorConnect] - r.Merged.Errors[result.ErrorTLS] - connectionsOf(r)
	if !d.TLSResumption || r.Run.Load == result.LoadScript || able < minClosed || float64(r.Merged.TLSResumed) >= resumedShare*float64(able) {
		return ""
	}
	return fmt.Sprintf("sessionResumption is Enabled, but only %d of %d connections resumed a TLS session: enable tickets or a session cache in the server.",
		r.Merged.TLSResumed, r.Merged.Connections)
}
