package browser_test

import (
	"regexp"
	"testing"
)

// clipped matches a text of a picture that has no room, with its whole form. See picture.Clipped.
var clipped = regexp.MustCompile(`<g><title>([^<]*)</title><text[^>]*>[^<]*…</text>`)

// TestNoTextIsClipped checks that every text of every picture has room at each width, with names of usual lengths.
func TestNoTextIsClipped(t *testing.T) {
	for name, write := range pages(t) {
		seen := map[string]bool{}
		for _, text := range clipped.FindAllStringSubmatch(written(t, write), -1) {
			if !seen[text[1]] {
				seen[text[1]] = true
				t.Errorf("%s: %q is cut off", name, text[1])
			}
		}
	}
}
