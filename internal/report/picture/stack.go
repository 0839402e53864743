package picture

import (
	"fmt"
	"slices"
)

// Stack returns a picture of several below each other, each under its title. Its own title is that of the first.
func Stack(pictures ...*Picture) *Picture {
	if len(pictures) == 1 {
		return pictures[0]
	}
	const head, gap = 28, 16
	width, height := 0.0, 0.0
	for _, p := range pictures {
		width, height = max(width, p.Width), height+head+p.Height+gap
	}
	all := New(width, height)
	y := 0.0
	for i, p := range pictures {
		if i == 0 {
			all.title = p.title
		} else {
			all.description += " "
		}
		all.description += p.description
		for _, c := range p.used {
			all.use(c)
		}
		for _, c := range p.hatches {
			if !slices.Contains(all.hatches, c) {
				all.hatches = append(all.hatches, c)
			}
		}
		all.Clipped(0, y+16, p.title, width, TextStyle{Size: 13, Bold: true})
		fmt.Fprintf(&all.body, `<g transform="translate(0 %s)">%s</g>`, number(y+head), p.body.String())
		y += head + p.Height + gap
	}
	return all
}
