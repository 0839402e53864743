package plot

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// The names of rows have at least and at most so many characters in a text.
const minRowName, maxRowName = 8, 20

// Text returns a plot for a terminal: lines of characters, of which columns are for what is between the ends of the axis of X.
// With rows it draws rules, intervals and dots in a line for each; without, it draws lines in braille patterns, height
// lines high. Other marks aren't drawn.
func (p *Plot) Text(columns, height int) []string {
	if len(p.Rows) > 0 {
		return p.textRows(columns)
	}
	area := brailleArea(make([][]rune, height))
	for row := range area {
		area[row] = make([]rune, columns)
	}
	for _, m := range p.Marks {
		if line, is := m.(Line); is && len(line.Points) > 0 {
			area.line(line.Points, &p.X, &p.Y)
		}
	}
	labels, width := make([]string, height), 0
	for _, tick := range p.Y.Ticks {
		labels[area.down(p.Y.At(tick.Value))/4] = tick.Label
		width = max(width, utf8.RuneCountInString(tick.Label))
	}
	var lines []string
	for row, label := range labels {
		axis := "│"
		if label != "" {
			axis = "┤"
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%*s %s%s", width, label, axis, area.text(row)), " "))
	}
	return append(lines, fmt.Sprintf("%*s └%s", width, "", strings.Repeat("─", columns)),
		strings.TrimRight(strings.Repeat(" ", width+2)+p.X.text(columns), " "))
}

// column returns the column of a value.
func (s *Scale) column(value float64, columns int) int {
	return int(math.Round(s.At(value) * float64(columns-1)))
}

// text returns the labels of an axis, each centered at its place where it has room.
func (s *Scale) text(columns int) string {
	line := []rune(strings.Repeat(" ", columns))
	free := 0
	for _, t := range s.Ticks {
		label := []rune(t.Label)
		from := max(0, min(s.column(t.Value, columns)-len(label)/2, columns-len(label)))
		if from < free {
			continue
		}
		copy(line[from:], label)
		free = from + len(label) + 1
	}
	return string(line)
}

func (p *Plot) textRows(columns int) []string {
	width := minRowName
	for i := range p.Rows {
		width = max(width, min(utf8.RuneCountInString(p.Rows[i].Name), maxRowName))
	}
	names := make([]string, len(p.Rows))
	for i := range p.Rows {
		names[i] = p.Rows[i].Name
	}
	names = shortened(names, func(_ int, text string) bool { return utf8.RuneCountInString(text) <= width })
	lines := []string{strings.Repeat(" ", width+2) + p.X.text(columns) + "  " + p.Axis}
	for i := range p.Rows {
		row := &p.Rows[i]
		line := fmt.Sprintf("%-*s  %s", width, names[i], row.text(&p.X, columns))
		for _, text := range row.Texts {
			line += "  " + text.Text
		}
		lines = append(lines, line)
	}
	return lines
}

// text draws the marks of a row in their order: a rule as a bar, or a colon if it is dashed, an interval as a line with ends, which are arrows
// where it is infinite, and a dot.
func (r *Row) text(x *Scale, columns int) string {
	line := []rune(strings.Repeat(" ", columns))
	for _, m := range r.Marks {
		switch m := m.(type) {
		case Rule:
			c := '|'
			if m.Dash != "" {
				c = ':'
			}
			line[x.column(m.X, columns)] = c
		case Interval:
			from, to, left, right := x.column(m.From.X, columns), x.column(m.To.X, columns), '├', '┤'
			if math.IsInf(m.From.X, -1) {
				left = '←'
			}
			if math.IsInf(m.To.X, 1) {
				right = '→'
			}
			for i := from; i <= to; i++ {
				line[i] = '─'
			}
			line[from], line[to] = left, right
		case Dot:
			c := '●'
			if m.Hollow {
				c = '○'
			}
			line[x.column(m.At.X, columns)] = c
		}
	}
	return string(line)
}

// brailleArea has the dots of lines of characters, each of which has two dots across and four down (Unicode's block of braille patterns).
type brailleArea [][]rune

// brailleDots are the bits of a character's dots, by row and column.
// See https://www.unicode.org/charts/PDF/U2800.pdf.
var brailleDots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// down returns the row of dots of a place on the axis of Y.
func (a brailleArea) down(place float64) int {
	return int(math.Round(float64(4*len(a)-1) * (1 - place)))
}

// line draws a line whose points are in the order of X, as steps.
func (a brailleArea) line(points []Point, x, y *Scale) {
	columns := 2 * len(a[0])
	last := a.down(y.At(points[0].Y))
	for column, i := 0, 0; column < columns; column++ {
		for i+1 < len(points) && float64(columns-1)*x.At(points[i+1].X) <= float64(column) {
			i++
		}
		row := a.down(y.At(points[i].Y))
		for between := min(last, row); between <= max(last, row); between++ {
			a[between/4][column/2] |= brailleDots[between%4][column%2]
		}
		last = row
	}
}

// text returns a line of characters.
func (a brailleArea) text(row int) string {
	return strings.Map(func(bits rune) rune {
		if bits == 0 {
			return ' '
		}
		return 0x2800 + bits
	}, string(a[row]))
}
