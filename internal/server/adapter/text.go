package adapter

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Text builds the text of a configuration file line by line.
type Text struct {
	strings.Builder
	depth int
}

// Line adds a line.
func (c *Text) Line(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if text != "" {
		text = strings.Repeat("    ", c.depth) + text
	}
	c.WriteString(text + "\n")
}

// Block begins a block.
func (c *Text) Block(format string, values ...any) {
	c.Line(format, values...)
	c.depth++
}

// End ends a block.
func (c *Text) End(format string) {
	c.depth--
	c.Line("%s", format)
}

// LineIfSet adds a line with a value, if there is one.
func (c *Text) LineIfSet(format string, value *int32) {
	if value != nil {
		c.Line(format, *value)
	}
}

// OnOff returns a switch as httpd, nginx and Tomcat write it. An empty one is Disabled.
func OnOff(s v1alpha1.Switch) string {
	if s == v1alpha1.Enabled {
		return "on"
	}
	return "off"
}
