package roundpage

import (
	"io"
	"maps"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/round"
)

// Formats are all formats of the report of a round: those of package round, the page, and its pictures as files.
var Formats = func() doc.Formats[*round.Report] {
	all := maps.Clone(round.Formats)
	all["html"] = Write
	for _, name := range pictures {
		all["svg="+name] = func(w io.Writer, r *round.Report) error { return writeSVG(w, name, r) }
	}
	return all
}()

// ComparisonFormats are all formats of a comparison.
var ComparisonFormats = func() doc.Formats[*round.Comparison] {
	all := maps.Clone(round.ComparisonFormats)
	all["html"] = WriteComparison
	for _, name := range comparisonPictures {
		all["svg="+name] = func(w io.Writer, c *round.Comparison) error { return writeComparisonSVG(w, name, c) }
	}
	return all
}()
