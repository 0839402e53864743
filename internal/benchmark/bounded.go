package benchmark

import "strings"

// bounded returns the first limit bytes of a text, without a partial character.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
