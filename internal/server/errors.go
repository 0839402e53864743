package server

import (
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// LoggedErrors are the errors in a part of a server's log.
type LoggedErrors struct {
	// Container is the server's.
	Container string
	// Lines is the number of lines that the server marks as errors, First the first of them.
	Lines int64
	First string
}

// ReadErrors returns the errors in the logs of a target's servers, of those that have any. The logs may begin and
// end anywhere.
func ReadErrors(t *v1alpha1.Target, logs map[string]string) []LoggedErrors {
	var found []LoggedErrors
	all, _ := declaredBy(t, nil, nil)
	for _, s := range all {
		verifiable, ok := s.Server.(adapter.Verifiable)
		if !ok {
			continue
		}
		e := LoggedErrors{Container: s.in.Name}
		for line := range strings.Lines(logs[s.in.Name]) {
			if verifiable.IsError(line) {
				if e.Lines++; e.Lines == 1 {
					e.First = printable.Clipped(line, maxTextBytes)
				}
			}
		}
		if e.Lines > 0 {
			found = append(found, e)
		}
	}
	return found
}
