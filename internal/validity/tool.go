package validity

import (
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// foreignTool says what can't be known of a result whose load another load generator made. Rules about
// percentiles, the seconds of the load and the client's runtime have nothing to judge there.
func foreignTool(r *result.Result) *result.Finding {
	if r.Run.Tool == "" {
		return nil
	}
	name := r.Run.Tool
	for i := range r.Clients {
		if t := r.Clients[i].Tool; t != nil && t.Version != "" {
			name += " " + t.Version
			break
		}
	}
	if !result.Prints(r.Run.Tool) {
		meaning := ""
		if r.Run.Load == result.LoadOpen {
			meaning = " They are not measured from the intended start times: compare them with the service times of Assay's own clients, and requests that were dropped with theirs."
		}
		return found(ReasonForeignTool, result.Warns,
			"The load was made by %s. Latencies are service times as k6 measures them, by the wall clock and without waiting for a virtual user.%s Omit clients.tool to measure by Assay's own clients, or accept it.", name, meaning)
	}
	missing := []string{"the requests of each second", "when each request started", "the client's scheduling latency"}
	if len(r.Clients) > 1 {
		missing = append(missing, "percentiles over all clients")
	}
	return found(ReasonForeignTool, result.Warns,
		"The load was made by %s. All metrics of requests are those that it printed, to within what it prints: unknown are %s and %s. "+
			"Omit clients.tool to measure them, or accept it.", name, strings.Join(missing[:len(missing)-1], ", "), missing[len(missing)-1])
}
