package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// serverLogErrors finds errors in the logs of the target's servers while they were under load.
func serverLogErrors(r *result.Result) *result.Finding {
	var said []string
	for _, e := range r.ServerErrors {
		which := "The server"
		if len(r.Containers()) > 1 {
			which = "The server of container " + e.Container
		}
		lines := fmt.Sprintf("%d errors under load. The first", e.Lines)
		if e.Lines == 1 {
			lines = "an error under load"
		}
		said = append(said, fmt.Sprintf("%s logged %s: %q.", which, lines, e.First))
	}
	if len(said) == 0 {
		return nil
	}
	return found(ReasonServerLogErrors, result.Warns,
		"%s A server that fails does something else than what is to be measured. Resolve what it logs; retain the pods to read all of it.", strings.Join(said, " "))
}
