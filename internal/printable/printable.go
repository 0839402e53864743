// Package printable removes what a terminal would interpret from texts of unknown origin: logs of a
// server, fields of a certificate, messages of a pod.
package printable

import (
	"strings"
	"unicode"
)

// Text returns text without control characters (including line breaks) and invisible characters,
// such as those that change the text direction.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// Clipped returns Text of the first limit bytes, with an ellipsis if text is longer.
func Clipped(text string, limit int) string {
	if len(text) <= limit {
		return Text(text)
	}
	return Text(strings.ToValidUTF8(text[:limit], "")) + "…"
}
