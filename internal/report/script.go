package report

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// script returns k6's metrics, each in a line with the metrics that its kind has.
func script(r *result.Result) doc.Section {
	s := r.Script
	if s == nil {
		return doc.Section{}
	}
	f := ScriptFacts(s)
	metrics := doc.List{}
	width := 0
	for i := range s.Metrics {
		width = max(width, len(s.Metrics[i].Name))
	}
	for i := range s.Metrics {
		m := &s.Metrics[i]
		metrics = append(metrics, fmt.Sprintf("%-*s  %s", min(width, 60), m.Name, m.Values()))
	}
	return doc.Section{ID: "script", Title: "Script", Question: "What did the script measure?", Blocks: []doc.Block{f, doc.Paragraph{"k6's metrics over all clients, setup() and teardown() included"}, metrics}}
}

// ScriptFacts returns what a script did besides its metrics.
func ScriptFacts(s *result.Script) doc.Facts {
	var f facts
	f.add("Virtual users", "%d", s.VirtualUsers)
	f.add("Iterations", "%d", s.Iterations)
	if s.DroppedIterations > 0 {
		f.add("Dropped iterations", "%d", s.DroppedIterations)
	}
	if s.InterruptedIterations > 0 {
		f.add("Interrupted iterations", "%d: k6 ended them, and their requests under way are not counted", s.InterruptedIterations)
	}
	if s.ThrownIterations > 0 {
		f.add("Iterations that threw", "%d", s.ThrownIterations)
	}
	if s.MetricsOmitted > 0 {
		f.add("Omitted metrics", "%d", s.MetricsOmitted)
	}
	if a := s.Abort; a != nil {
		f.add("Aborted", "at second %d: %s", a.End, a)
	}
	for _, c := range s.Checks {
		group := strings.ReplaceAll(strings.TrimPrefix(c.Group, "::"), "::", " / ")
		if group != "" {
			group += " / "
		}
		f.add("Check", "%s%s: %d passed, %d failed", group, c.Name, c.Passes, c.Fails)
	}
	if s.ChecksOmitted > 0 {
		f.add("Omitted check results", "%d", s.ChecksOmitted)
	}
	addSummaryFiles(&f, s.Summary)
	return f.block()
}

// addSummaryFiles adds which files handleSummary() returned.
func addSummaryFiles(f *facts, s *result.ScriptSummary) {
	if s == nil {
		return
	}
	if s.Error != "" {
		f.add("handleSummary() failed", "%s", s.Error)
	}
	for i := range s.Files {
		file := &s.Files[i]
		if file.Omitted != "" {
			f.add("File", "%s (%d bytes) was not kept: %s", file.Name, file.Size, file.Omitted)
		} else {
			f.add("File", "%s (%d bytes)", file.Name, file.Size)
		}
	}
	if s.Omitted > 0 {
		f.add("Omitted files", "%d", s.Omitted)
	}
}
