package nginx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzParse checks that a file of the user's own that is accepted stays in its block: around it, nothing else is read.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"gzip on;", "server { listen 80; }", "}", "{", "a {", `set $a "}"; set $b '{';`, `a ${b}c; d \{;`, "# }\na b;", "content_by_lua_block { t = {} }", "a;b;{", "a\\", `a "b`, ";",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		alone, err := parse(text)
		if err != nil {
			return
		}
		within, err := parse("server {\n" + text + "\n}")
		if err != nil {
			t.Fatalf("alone %v, within a block: %v", alone, err)
		}
		if diff := cmp.Diff([]directive{{name: "server", block: alone}}, within, cmp.AllowUnexported(directive{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-alone +within a block:\n%s", diff)
		}
	})
}
