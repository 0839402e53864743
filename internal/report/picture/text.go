package picture

import (
	"fmt"
	"strings"
	"unicode"
)

// Anchor says which part of a text is at its place.
type Anchor string

// The anchors.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// TextStyle is how a text looks. The zero value is 12 pixels high, in Text, and begins at its place.
type TextStyle struct {
	Size   float64
	Color  Color
	Anchor Anchor
	Bold   bool
}

func (s *TextStyle) size() float64 {
	if s.Size == 0 {
		return 12
	}
	return s.Size
}

// Text writes a text whose baseline is at y.
func (p *Picture) Text(x, y float64, text string, style TextStyle) {
	color := style.Color
	if color == "" {
		color = Text
	}
	fmt.Fprintf(&p.body, `<text class="%s" x="%s" y="%s"`, p.fill(color), number(x), number(y))
	if style.size() != 12 {
		fmt.Fprintf(&p.body, ` font-size="%s"`, number(style.size()))
	}
	if style.Anchor != "" && style.Anchor != Start {
		fmt.Fprintf(&p.body, ` text-anchor="%s"`, style.Anchor)
	}
	if style.Bold {
		p.body.WriteString(` font-weight="600"`)
	}
	fmt.Fprintf(&p.body, ">%s</text>", escape(text))
}

// Clipped writes a text that is at most width wide. A longer one ends with "…" and has the whole text as its
// tip. Nothing is written where there is no room for a letter.
func (p *Picture) Clipped(x, y float64, text string, width float64, style TextStyle) {
	short := Clip(text, width, style)
	if short == text {
		p.Text(x, y, text, style)
		return
	}
	if short == "" {
		return
	}
	fmt.Fprintf(&p.body, "<g><title>%s</title>", escape(text))
	p.Text(x, y, short, style)
	p.body.WriteString("</g>")
}

// OnPlot is like Clipped, but hides what is behind the text, such as lines that would cross it.
func (p *Picture) OnPlot(x, y float64, text string, width float64, style TextStyle) {
	short := Clip(text, width, style)
	w, left := TextWidth(short, style), x
	switch style.Anchor {
	case End:
		left -= w
	case Middle:
		left -= w / 2
	case Start:
	}
	if short != "" {
		p.Rect(left-1, y-style.size(), w+2, style.size()+4, Plot)
	}
	p.Clipped(x, y, text, width, style)
}

// Centered writes a text around x, or as near to it as the picture has room, and clipped if it has too little.
func (p *Picture) Centered(x, y float64, text string, style TextStyle) {
	style.Anchor = Middle
	half := min(TextWidth(text, style), p.Width) / 2
	p.Clipped(min(max(x, half), p.Width-half), y, text, p.Width, style)
}

// LineHeight is the distance of the lines of a text of more than one, in pixels.
const LineHeight = 15

// Lines writes the lines of a text below each other, the first one's baseline at y. Each is clipped where it is wider
// than width, which only a word can be that Wrap didn't break.
func (p *Picture) Lines(x, y float64, lines []string, width float64, style TextStyle) {
	for i, line := range lines {
		p.Clipped(x, y+LineHeight*float64(i), line, width, style)
	}
}

// Wrap breaks a text between words into lines that are about width wide at most.
func Wrap(text string, width float64, style TextStyle) (lines []string) {
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && TextWidth(lines[last]+" "+word, style) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// Fitted is like Clipped, but writes a text that is too wide in smaller letters if it has room then.
func (p *Picture) Fitted(x, y float64, text string, width float64, style TextStyle) {
	if small := (TextStyle{Bold: style.Bold, Size: 10}); TextWidth(text, style) > width && TextWidth(text, small) <= width {
		style.Size = small.Size
	}
	p.Clipped(x, y, text, width, style)
}

// Clip returns a text that is about width wide at most; a longer one ends with "…". It returns "" if there is no room for a
// letter.
func Clip(text string, width float64, style TextStyle) string {
	if TextWidth(text, style) <= width {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && TextWidth(string(letters)+"…", style) > width {
		letters = letters[:len(letters)-1]
	}
	if len(letters) == 0 {
		return ""
	}
	return strings.TrimRight(string(letters), " ") + "…"
}

// TextWidth returns about how wide a text is, rather too much than too little: fonts differ.
func TextWidth(text string, style TextStyle) float64 {
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
	if style.Bold {
		width *= 1.12
	}
	return width * style.size()
}
