package runpage

import (
	"fmt"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func invalid(r *result.Result) bool { return !validity.Valid(r.Findings) }

// verdict returns the verdict in words, with its mark, and whether thresholds were met.
func verdict(r *result.Result) doc.Verdict {
	if invalid(r) {
		return doc.Verdict{Tone: doc.Bad, Text: "✕ " + report.Headline(r)}
	}
	v, missed := doc.Verdict{Tone: doc.Good, Text: "✓ " + report.Headline(r)}, 0
	for _, o := range r.Thresholds {
		if !o.Met {
			missed++
		}
	}
	switch {
	case missed > 0:
		v.Addendum = doc.Sentence{Tone: doc.Bad, Text: fmt.Sprintf("· thresholds MISSED (%d of %d)", missed, len(r.Thresholds))}
	case len(r.Thresholds) > 0:
		v.Addendum = doc.Sentence{Tone: doc.Good, Text: "· thresholds met"}
	}
	return v
}
