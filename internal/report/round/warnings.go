package round

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// maxWarnedCells is the largest number of cells that the table of warnings names for each.
const maxWarnedCells = 4

// warned is a finding that warns in runs that count: how many of them, by cell.
type warned struct {
	reason string
	runs   int
	byCell map[int]int
}

// warningsSection has the findings that warn, those of most runs first.
func (r *Report) warningsSection() doc.Section {
	byReason, all := map[string]*warned{}, 0
	for cell := range r.Cells {
		for _, run := range r.RunsOf(cell) {
			if !run.Valid || run.Number >= r.Blocks {
				continue
			}
			all++
			for _, reason := range run.Warnings {
				if byReason[reason] == nil {
					byReason[reason] = &warned{reason: reason, byCell: map[int]int{}}
				}
				byReason[reason].runs++
				byReason[reason].byCell[cell]++
			}
		}
	}
	if len(byReason) == 0 {
		return doc.Section{}
	}
	var rows []warned
	for _, w := range byReason {
		rows = append(rows, *w)
	}
	slices.SortFunc(rows, func(a, b warned) int { return cmp.Or(b.runs-a.runs, strings.Compare(a.reason, b.reason)) })
	return doc.Section{ID: "warnings", Title: "Warnings", Question: "Which reservations do the runs have?", Blocks: []doc.Block{
		doc.Paragraph{fmt.Sprintf("Findings that warn, of the %s that count. docs/validity.md explains each.", number.Plural(all, "run"))},
		doc.TableOf("Warnings", rows, doc.Word("finding", func(w *warned) string { return w.reason }),
			doc.Number("runs", func(w *warned) string { return fmt.Sprint(w.runs) }),
			doc.Word("cells", func(w *warned) string { return r.warnedCells(w) })),
	}}
}

// warnedCells names the cells whose runs have a warning, those with most first.
func (r *Report) warnedCells(w *warned) string {
	if len(w.byCell) == len(r.Cells) && len(r.Cells) > 1 {
		return "all"
	}
	cells := slices.SortedFunc(maps.Keys(w.byCell), func(a, b int) int { return cmp.Or(w.byCell[b]-w.byCell[a], a-b) })
	var names []string
	for _, cell := range cells[:min(len(cells), maxWarnedCells)] {
		names = append(names, fmt.Sprintf("%s (%d)", r.Cells[cell].Name, w.byCell[cell]))
	}
	text := strings.Join(names, ", ")
	if more := len(cells) - maxWarnedCells; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
