package report

import (
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// writeScript writes k6's metrics, each in a line with the figures that its kind has.
func writeScript(w *paper, r *result.Result) {
	s := r.Script
	line(w, "Virtual users:", "%d", s.VirtualUsers)
	line(w, "Iterations:", "%d", s.Iterations)
	if s.DroppedIterations > 0 {
		line(w, "Dropped iterations:", "%d", s.DroppedIterations)
	}
	if s.MetricsOmitted > 0 {
		line(w, "Omitted metrics:", "%d", s.MetricsOmitted)
	}
	if a := s.Abort; a != nil {
		line(w, "Aborted:", "at second %d: %s", a.End, a)
	}
	for _, c := range s.Checks {
		group := strings.ReplaceAll(strings.TrimPrefix(c.Group, "::"), "::", " / ")
		if group != "" {
			group += " / "
		}
		line(w, "Check:", "%s%s: %d passed, %d failed", group, c.Name, c.Passes, c.Fails)
	}
	if s.ChecksOmitted > 0 {
		line(w, "Omitted check results:", "%d", s.ChecksOmitted)
	}
	writeSummaryFiles(w, s.Summary)
	w.printf("\nk6's metrics over all clients, setup() and teardown() included\n")
	width := 0
	for i := range s.Metrics {
		width = max(width, len(s.Metrics[i].Name))
	}
	for i := range s.Metrics {
		m := &s.Metrics[i]
		w.printf("  %-*s  %s\n", min(width, 60), m.Name, m.Figures())
	}
}

// writeSummaryFiles writes which files handleSummary() returned.
func writeSummaryFiles(w *paper, s *result.ScriptSummary) {
	if s == nil {
		return
	}
	if s.Error != "" {
		line(w, "handleSummary() failed:", "%s", s.Error)
	}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Omitted != "" {
			line(w, "File:", "%s (%d bytes) was not kept: %s", f.Name, f.Size, f.Omitted)
		} else {
			line(w, "File:", "%s (%d bytes)", f.Name, f.Size)
		}
	}
	if s.Omitted > 0 {
		line(w, "Omitted files:", "%d", s.Omitted)
	}
}
