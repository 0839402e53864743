package webserver

import (
	"strings"
	"testing"
)

func TestMIMETypes(t *testing.T) {
	types := map[string]string{}
	for _, m := range mimeTypes {
		for _, extension := range strings.Fields(m.extensions) {
			if other, taken := types[extension]; taken {
				t.Errorf("%s is both %s and %s", extension, other, m.name)
			}
			types[extension] = m.name
		}
	}
	if lines := strings.Count(MIMETypes("%s %s;\n"), ";\n"); lines != len(mimeTypes) {
		t.Errorf("%d lines for %d types", lines, len(mimeTypes))
	}
}
