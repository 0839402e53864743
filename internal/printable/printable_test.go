package printable

import (
	"strings"
	"testing"
)

func TestClipped(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":              {"nginx/1.27 (Ünïx)", "nginx/1.27 (Ünïx)"},
		"what is obeyed":     {"a\x1b[2J\u009b1m\u202eb\r\nc\x00", "a[2J1mb c"},
		"lines of a log":     {"\nfirst\n\tsecond\n", "first  second"},
		"as long as allowed": {strings.Repeat("x", 20), strings.Repeat("x", 20)},
		"longer":             {strings.Repeat("x", 21), strings.Repeat("x", 20) + "…"},
		"cut within a rune":  {strings.Repeat("x", 19) + "ü", strings.Repeat("x", 19) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clipped(test.text, 20); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
