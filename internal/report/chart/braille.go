package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// Size of the curve as text, in characters. Each has two dots across and four down (Unicode's block of braille patterns).
const (
	brailleColumns = 60
	brailleRows    = 12
)

// braille has the dots of a plot.
type braille [brailleRows][brailleColumns]rune

// brailleDots are the bits of a character's dots, by row and column.
// See https://www.unicode.org/charts/PDF/U2800.pdf.
var brailleDots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// set draws a dot. Columns are counted from the left, rows from the top.
func (b *braille) set(column, row int) {
	b[row/4][column/2] |= brailleDots[row%4][column%2]
}

// PercentilesText draws the percentile curve of all clients for a terminal, with both axes on a log scale: the latency upward, and
// to the right the share of requests that take longer. It is empty if no request succeeded.
func PercentilesText(r *result.Result) string {
	const columns, rows = 2 * brailleColumns, 4 * brailleRows
	total := r.Merged.Latencies.Get(result.Total)
	if total.Count() == 0 {
		return ""
	}
	c := NewCurve("all clients", total)
	points := c.Points
	x := plot.LogarithmicExact(1, max(2, float64(c.Count)))
	y := plot.Logarithmic(points[0].Y, c.Max)
	var dots braille
	down := func(ms float64) int { return int(math.Round((rows - 1) * (1 - y.At(ms)))) }
	last := down(points[0].Y)
	for column, i := 0, 0; column < columns; column++ {
		for i+1 < len(points) && (columns-1)*x.At(points[i+1].X) <= float64(column) {
			i++
		}
		row := down(points[i].Y)
		for between := min(last, row); between <= max(last, row); between++ {
			dots.set(column, between)
		}
		last = row
	}
	labels := make([]string, brailleRows)
	for _, tick := range y.Ticks {
		labels[down(tick.Value)/4] = tick.Label
	}
	width := utf8.RuneCountInString(slices.MaxFunc(labels, func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) }))
	var text strings.Builder
	fmt.Fprintf(&text, "%s, ms, log scale, by percentile: %s\n", report.LatencyName(&r.Run), c.Name)
	for row := range dots {
		axis := "│"
		if labels[row] != "" {
			axis = "┤"
		}
		line := strings.Map(func(bits rune) rune {
			if bits == 0 {
				return ' '
			}
			return 0x2800 + bits
		}, string(dots[row][:]))
		text.WriteString(strings.TrimRight(fmt.Sprintf("%*s %s%s", width, labels[row], axis, line), " ") + "\n")
	}
	fmt.Fprintf(&text, "%*s └%s\n", width, "", strings.Repeat("─", brailleColumns))
	text.WriteString(strings.Repeat(" ", width+2) + c.percentileLabels(&x) + "\n")
	return text.String()
}

// percentileLabels are those of the x axis, each centered below its place where there is room.
func (c *Curve) percentileLabels(x *plot.Scale) string {
	line := ""
	for _, tick := range []struct {
		oneIn float64
		label string
	}{{1, "0"}, {2, "50"}, {10, "90"}, {100, "99"}, {1000, "99.9"}, {1e4, "99.99"}, {1e5, "99.999"}, {1e6, "99.9999"}} {
		if tick.oneIn > float64(c.Count) {
			break
		}
		at := int(math.Round((2*brailleColumns-1)*x.At(tick.oneIn)))/2 - len(tick.label)/2
		at = min(max(at, 0), brailleColumns-len(tick.label))
		if line == "" || at > len(line) {
			line += strings.Repeat(" ", at-len(line)) + tick.label
		}
	}
	return line + " %"
}
