package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// room is the space of a plot, and of labels at its right, at a width of what it is in, in pixels.
type room struct{ plot, right float64 }

// label is a text of a plot that is hidden where it has no room. Labels that were added before take precedence.
type label struct {
	at, dx, y   float64 // the place as a share of the width and in pixels, and of the baseline in pixels
	text, below string
	anchor      Anchor
	color       Color
	bold, halo  bool
	// within is the share of the width that the label may take; 0 for all that it needs.
	within float64
	// tick says that the label is one of the axis, which the page's script writes anew.
	tick bool
}

// box is where a label is in a plot of a width.
type box struct{ left, right, top, bottom float64 }

func (l *label) box(plot float64) box {
	w := max(textWidth(l.text, l.bold), textWidth(l.below, l.bold))
	left := l.at*plot + l.dx
	switch l.anchor {
	case Center:
		left -= w / 2
	case End:
		left -= w
	case Start:
	}
	b := box{left, left + w, l.y - 10, l.y + 3}
	if l.below != "" {
		b.bottom += lineHeight
	}
	return b
}

func (b box) touches(c box) bool {
	const apart = 4
	return b.left < c.right+apart && c.left < b.right+apart && b.top < c.bottom && c.top < b.bottom
}

// texts returns the labels as elements, each with the class of the least width at which it has room.
func (d *drawing) texts() string {
	from := make([]int, len(d.labels))
	for i := range from {
		from[i] = -1
	}
	for at := range d.rooms {
		r := d.rooms[at]
		for _, wider := range d.rooms[at:] { // names at the right take room from the plot
			r.plot, r.right = min(r.plot, wider.plot), min(r.right, wider.right)
		}
		for i := range d.labels {
			if from[i] < 0 && d.fits(i, from, r) {
				from[i] = at
			}
		}
	}
	var ticks, others strings.Builder
	for i := range d.labels {
		l := &d.labels[i]
		to := &others
		if l.tick {
			to = &ticks
		}
		if from[i] >= 0 {
			l.write(to, from[i])
		}
	}
	if ticks.Len() == 0 {
		return others.String()
	}
	return `<g class="ticks">` + ticks.String() + "</g>" + others.String()
}

// fits reports whether a label has room beside those that are shown.
func (d *drawing) fits(i int, from []int, r room) bool {
	l := &d.labels[i]
	b := l.box(r.plot)
	if l.within > 0 {
		return b.right-b.left <= l.within*r.plot
	}
	if b.left < -edge || b.right > r.plot+r.right { // the labels of the axis of Y are at the left
		return false
	}
	for j := range d.labels {
		if from[j] >= 0 && b.touches(d.labels[j].box(r.plot)) {
			return false
		}
	}
	return true
}

func (l *label) write(to *strings.Builder, from int) {
	color := l.color
	if color == "" {
		color = Ink
	}
	class := "f-" + string(color)
	if from > 0 {
		class += fmt.Sprintf(" from%d", from)
	}
	if l.halo {
		class += " halo"
	}
	line := func(text string, y float64) {
		fmt.Fprintf(to, `<text class="%s" x="%s" y="%s"`, class, percent(l.at), decimal(y))
		if l.dx != 0 {
			fmt.Fprintf(to, ` dx="%s"`, decimal(l.dx))
		}
		if l.anchor != "" && l.anchor != Start {
			fmt.Fprintf(to, ` text-anchor="%s"`, l.anchor)
		}
		if l.bold {
			to.WriteString(` font-weight="600"`)
		}
		fmt.Fprintf(to, ">%s</text>", escape(text))
	}
	line(l.text, l.y)
	if l.below != "" {
		line(l.below, l.y+lineHeight)
	}
}

// lineHeight is the distance of the lines of a text, in pixels.
const lineHeight = 16

// spread returns heights at least gap apart and between top and bottom, each as near to its own as there is room. If there is
// too little room for all, they are as far apart as they can be.
func spread(heights []float64, gap, top, bottom float64) []float64 {
	n := len(heights)
	if n > 1 {
		gap = min(gap, (bottom-top)/float64(n-1))
	}
	by := make([]int, n) // the places of heights from the least to the largest
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	at, low := make([]float64, n), top
	for _, i := range by {
		at[i] = max(heights[i], low)
		low = at[i] + gap
	}
	high := bottom
	for _, i := range slices.Backward(by) {
		at[i] = min(at[i], high)
		high = at[i] - gap
	}
	return at
}

// wrap breaks a text between words, and words that are too long, into lines that are about width wide at most.
func wrap(text string, width float64, bold bool) (lines []string) {
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && textWidth(lines[last]+" "+word, bold) <= width {
			lines[last] += " " + word
			continue
		}
		for letters := []rune(word); len(letters) > 0; {
			n := len(letters)
			for n > 1 && textWidth(string(letters[:n]), bold) > width {
				n--
			}
			lines, letters = append(lines, string(letters[:n])), letters[n:]
		}
	}
	return lines
}

// clip returns a text that is about width wide at most; a longer one ends with "…".
func clip(text string, width float64, bold bool) string {
	if textWidth(text, bold) <= width {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && textWidth(string(letters)+"…", bold) > width {
		letters = letters[:len(letters)-1]
	}
	if len(letters) == 0 {
		return ""
	}
	return strings.TrimRight(string(letters), " ") + "…"
}

// cuts are the ways to shorten the text at a place to n letters, the most readable first.
var cuts = []func(letters []rune, n, at int) string{
	func(letters []rune, n, _ int) string { return string(letters[:n]) + "…" },
	func(letters []rune, n, _ int) string {
		return string(letters[:(n+1)/2]) + "…" + string(letters[len(letters)-n/2:])
	},
	func(letters []rune, n, _ int) string { return "…" + string(letters[len(letters)-n:]) },
	func(letters []rune, n, at int) string { return string(letters[:n]) + "…" + strconv.Itoa(at+1) },
}

// shortened returns texts that fit, of which those that were different still are: names that begin alike are cut in their middle, or where
// else they differ.
func shortened(texts []string, fits func(at int, text string) bool) []string {
	short, distinct := make([]string, len(texts)), func(texts []string) int { return len(slices.Compact(slices.Sorted(slices.Values(texts)))) }
	for _, cut := range cuts {
		for at, text := range texts {
			letters := []rune(text)
			short[at] = text
			for n := len(letters) - 1; n > 0 && !fits(at, short[at]); n-- {
				short[at] = cut(letters, n, at)
			}
		}
		if distinct(short) == distinct(texts) {
			break
		}
	}
	return short
}

// textWidth returns about how wide a text of 12 pixels is, rather too much than too little: fonts differ.
func textWidth(text string, bold bool) float64 {
	width := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlI.,:;|!'[]() \u202f", r):
			width += 0.36
		case strings.ContainsRune("ftr-/", r):
			width += 0.42
		case strings.ContainsRune("mMW%@—…", r):
			width += 0.98
		case strings.ContainsRune("=+−<>~w±×", r):
			width += 0.84
		case unicode.IsUpper(r):
			width += 0.7
		case r > 0x2fff: // full-width scripts and pictographs
			width += 1.05
		default:
			width += 0.63
		}
	}
	if bold {
		width *= 1.12
	}
	return math.Round(width*12*100) / 100
}
