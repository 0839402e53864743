// Package printable makes texts from outside fit to be shown: what a server, a
// certificate or a pod says of itself may hold anything.
package printable

import (
	"strings"
	"unicode"
)

// Text is the text without what a terminal would obey rather than show: control
// characters, line breaks among them, and invisible ones such as those that
// change the direction of writing.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// Clipped is Text of at most limit bytes, and an ellipsis where it was longer.
func Clipped(text string, limit int) string {
	if len(text) <= limit {
		return Text(text)
	}
	return Text(strings.ToValidUTF8(text[:limit], "")) + "…"
}
