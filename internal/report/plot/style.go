package plot

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed plot.css
var pageStyle string

// StyleSheet returns the CSS of a page with figures: a variable for each color ("--p99"), and classes: "f-p99" fills with a color and
// "s-p99" draws lines with it. Print has the light colors. With forced colors, text and axes have those of the system.
func StyleSheet() string {
	var light, dark, classes strings.Builder
	for _, c := range palette {
		fmt.Fprintf(&light, "--%s:%s;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", c.name, c.dark)
		fmt.Fprintf(&classes, ".f-%[1]s{fill:var(--%[1]s)}.s-%[1]s{stroke:var(--%[1]s)}\n", c.name)
	}
	for i, least := range widths[1:] {
		fmt.Fprintf(&classes, "@container (max-width:%gpx){.from%d{display:none}}\n", least-0.02, i+1)
	}
	return ":root{color-scheme:light dark;" + light.String() + "}\n" +
		"@media screen and (prefers-color-scheme:dark){:root{" + dark.String() + "}}\n" +
		"@media (forced-colors:active){:root{--page:Canvas;--plot:Canvas;--band:Canvas;--text:CanvasText;--muted:CanvasText;--axis:CanvasText;--grid:GrayText;--link:LinkText}}\n" +
		classes.String() + pageStyle
}

// ownStyleSheet returns the CSS of a file, with the colors that its elements use.
func ownStyleSheet(elements string) string {
	var light, dark strings.Builder
	for _, c := range palette {
		for _, kind := range []struct{ class, property string }{{"f", "fill"}, {"s", "stroke"}} {
			class := fmt.Sprintf("%s-%s", kind.class, c.name)
			if strings.Contains(elements, class+`"`) || strings.Contains(elements, class+` `) {
				fmt.Fprintf(&light, ".%s{%s:%s}", class, kind.property, c.light)
				fmt.Fprintf(&dark, ".%s{%s:%s}", class, kind.property, c.dark)
			}
		}
	}
	paper := shadeOf(Paper)
	halo := "text.halo{paint-order:stroke;stroke-width:3px;stroke:%s}"
	return light.String() + fmt.Sprintf(halo, paper.light) + "@media screen and (prefers-color-scheme:dark){" + dark.String() + fmt.Sprintf(halo, paper.dark) + "}"
}
