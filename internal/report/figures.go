package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// line writes a line with a name, its text aligned with that of other lines.
func line(w *paper, name, format string, args ...any) {
	w.line(name, fmt.Sprintf(format, args...))
}

// writeFigures writes the figures that have a label, those with the same label on
// one line. Figures of the whole pod are only written if podWide is set.
func writeFigures[T any](w *paper, table result.Table[T], figures *T, podWide bool) {
	writeKnown(w, table, figures, podWide, "unknown")
}

// writeKnown is like writeFigures. Figures that are unknown have the given text, or are omitted if it is
// empty.
func writeKnown[T any](w *paper, table result.Table[T], figures *T, podWide bool, unknown string) {
	for i := 0; i < len(table); {
		label := table[i].Label
		var texts []string
		for ; i < len(table) && table[i].Label == label; i++ {
			if f := &table[i]; podWide || !f.PodWide {
				if text := valueOf(f, figures, unknown, true); text != "" {
					texts = append(texts, strings.TrimSpace(text+" "+f.Part))
				}
			}
		}
		if label != "" && len(texts) > 0 {
			line(w, label+":", "%s", strings.Join(texts, ", "))
		}
	}
}

// units are the units in which reports write figures, and how many decimals they then have.
var units = map[result.Unit]struct {
	size     float64
	name     string
	decimals int
}{
	result.Number:       {1, "", 0},
	result.Bytes:        {1, "bytes", 0},
	result.Memory:       {1 << 20, "MiB", 1},
	result.Microseconds: {1000, "ms", 3},
}

// valueOf returns the value of a figure in the unit of reports, which follows it if
// withUnit is set, or unknown if it is.
func valueOf[T any](f *result.Figure[T], figures *T, unknown string, withUnit bool) string {
	value, unit := *f.Of(figures), units[f.Unit]
	if f.Optional && value == result.Unknown {
		return unknown
	}
	text := decimals(float64(value)/unit.size, unit.decimals)
	if withUnit && unit.name != "" {
		text += " " + unit.name
	}
	return text
}

func decimals(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

func ms(microseconds int64) float64 { return float64(microseconds) / 1000 }

// msText returns a duration in microseconds as milliseconds with three decimals,
// or a dash if there is none.
func msText(microseconds int64, exists bool) string {
	return orDash(exists, decimals(ms(microseconds), 3))
}

func secondsText(microseconds int64) string { return decimals(float64(microseconds)/1e6, 3) + "s" }

func orDash(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// CPUs returns thousandths of a CPU as CPUs: "2", "1.5", "unknown".
func CPUs(millis int64) string {
	if millis <= 0 {
		return "unknown"
	}
	return strconv.FormatFloat(float64(millis)/1000, 'f', -1, 64)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
