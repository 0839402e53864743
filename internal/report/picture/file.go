package picture

import (
	"fmt"
	"slices"
	"strings"
)

// Caption says what a picture that stands alone is of.
type Caption struct {
	// Subject is the run or round, Verdict its verdict in words, Date when it was measured. Empty ones are omitted.
	Subject, Verdict, Date string
	// VerdictColor is Good, Bad, Unsure or Same.
	VerdictColor Color
	// Invalid hatches the picture, whose figures are no result.
	Invalid bool
}

// SVG returns the picture as a file of its own, with its title and caption above it.
func (p *Picture) SVG(c Caption) string {
	const head, margin = 56, 16
	whole := New(p.Width+2*margin, p.Height+head+margin)
	whole.Describe(p.title, strings.TrimSpace(fmt.Sprintf("%s. %s. %s", c.Subject, c.Verdict, p.description)))
	whole.hatches, whole.used = slices.Clone(p.hatches), slices.Clone(p.used)
	whole.Rect(0, 0, whole.Width, whole.Height, Plot)
	whole.Clipped(margin, 24, p.title, p.Width, TextStyle{Size: 15, Bold: true})
	x := float64(margin)
	for _, part := range []struct {
		text  string
		style TextStyle
	}{{c.Verdict, TextStyle{Size: 13, Bold: true, Color: c.VerdictColor}}, {strings.Trim(c.Subject+", "+c.Date, ", "), TextStyle{Size: 13, Color: Muted}}} {
		if part.text != "" {
			whole.Clipped(x, 44, part.text, p.Width+margin-x, part.style)
			x += TextWidth(part.text, part.style) + 12
		}
	}
	fmt.Fprintf(&whole.body, `<g transform="translate(%d %d)">%s</g>`, margin, head, p.body.String())
	if c.Invalid {
		whole.Hatched(0, head-4, whole.Width, 6, Bad, "not a result")
		whole.Text(whole.Width/2, head+18, "not a result", TextStyle{Size: 15, Bold: true, Color: Bad, Anchor: Middle})
	}
	style := `<style>text{font-family:system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}` + ownStyleSheet(whole.used) + "</style>"
	return whole.head("") + style + whole.definitions() + whole.body.String() + "</svg>\n"
}
