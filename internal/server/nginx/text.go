package nginx

import (
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

// text is a configuration without those lines for which one of the user's own files has another in the same
// context, since nginx takes most directives once, or around it, since that would have no effect. No field has set
// them, because ReadOwn refuses that.
type text struct {
	adapter.Text
	// own has the names of the user's directives by context.
	own map[string]map[string]bool
	// open are the blocks that are open, and main.
	open []string
}

// repeated are the directives that nginx takes more than once, each with an effect.
var repeated = []string{"error_log", "include", "listen", "ssl_certificate", "ssl_certificate_key", "ssl_conf_command", "proxy_set_header"}

func newText(in *adapter.Input) (*text, error) {
	c := &text{own: map[string]map[string]bool{}, open: []string{inMain}}
	for _, file := range in.FileNames() {
		if in.Own.Changes() {
			break
		}
		directives, err := parse(in.Files[file])
		if err != nil {
			return nil, err
		}
		context := contextOf(file)
		if c.own[context] == nil {
			c.own[context] = map[string]bool{}
		}
		for _, d := range directives {
			c.own[context][d.name] = true
		}
	}
	return c, nil
}

// Line adds a line, unless the user's own has another.
func (c *text) Line(format string, values ...any) {
	name, _, _ := strings.Cut(format, " ")
	context := c.open[len(c.open)-1]
	if own := c.own[context][name] || context == inServer && c.own[inHTTP][name]; !own || slices.Contains(repeated, name) {
		c.Text.Line(format, values...)
	}
}

// LineIfSet adds a line with a value, if there is one.
func (c *text) LineIfSet(format string, value *int32) {
	if value != nil {
		c.Line(format, *value)
	}
}

// Block begins a block.
func (c *text) Block(format string, values ...any) {
	c.Text.Block(format, values...)
	name, _, _ := strings.Cut(format, " ")
	c.open = append(c.open, name)
}

// End ends a block.
func (c *text) End(format string) {
	c.open = c.open[:len(c.open)-1]
	c.Text.End(format)
}

// include includes the user's own files of a context.
func (c *text) include(in *adapter.Input, context string) {
	for _, name := range in.FileNames() {
		if name != mainFile && contextOf(name) == context {
			c.Line(`include "%s/%s";`, ownDirectory, name)
		}
	}
}
