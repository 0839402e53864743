// Package printable removes what a terminal would interpret from texts of unknown origin: logs of a
// server, fields of a certificate, messages of a pod.
package printable

import (
	"strings"
	"unicode"
)

// Text returns text in one line: without control characters and invisible characters, such as those that change the
// text direction. A line break or another kind of space within it becomes a space.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r != '\r' && unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.TrimFunc(text, unicode.IsControl))
}

// Clipped returns Text of the first limit bytes, with an ellipsis if text is longer.
func Clipped(text string, limit int) string {
	if len(text) <= limit {
		return Text(text)
	}
	return Text(strings.ToValidUTF8(text[:limit], "")) + "…"
}

// Bounded returns the first limit bytes of a text, without a partial character.
func Bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// WithoutPeriod returns a text without the period and the spaces at its end, to go on with.
func WithoutPeriod(text string) string { return strings.TrimRight(text, ". ") }
