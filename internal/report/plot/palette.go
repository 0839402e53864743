package plot

import (
	"fmt"
	"slices"
	"strings"
)

// Color is the name of a color that has a value on light and one on dark pages.
type Color string

// The colors of pages.
const (
	Page      Color = "page"
	Paper     Color = "plot"
	Band      Color = "band" // every second level, and tolerances
	Ink       Color = "text"
	Muted     Color = "muted"
	AxisColor Color = "axis"
	Grid      Color = "grid"
	Link      Color = "link"
)

// The colors of what is measured.
const (
	Throughput Color = "throughput"
	P50        Color = "p50"
	P90        Color = "p90"
	P99        Color = "p99"
	P999       Color = "p999" // p99.9 and maxima
	Clients    Color = "clients"
	Warmup     Color = "warmup"
)

// The colors of verdicts, which nothing else has. A word always repeats them.
const (
	Good   Color = "good"
	Bad    Color = "bad"
	Unsure Color = "unsure" // not decided
	Same   Color = "same"   // neither better nor worse
)

// The numbers of colors of which there are several.
const (
	ErrorColors  = 7
	TargetColors = 4
	Variants     = 6
	HeatColors   = 6
	EffectColors = 7
)

// ErrorColor returns the color of a kind of errors by its number.
func ErrorColor(kind int) Color { return numbered("error", kind, ErrorColors) }

// TargetColor returns the color of a container of the target by its place in the pod. Those beyond TargetColors are
// gray.
func TargetColor(container int) Color {
	if container >= TargetColors {
		return Muted
	}
	return numbered("target", container, TargetColors)
}

// VariantColor returns the color of a variant; 0 is the baseline. It repeats itself after Variants.
func VariantColor(i int) Color { return numbered("variant", i%Variants, Variants) }

// Heat returns the color of a cell of a heat map; share is from 0 (lowest) to 1 (highest).
func Heat(share float64) Color { return shadeAt("heat", share, HeatColors) }

// EffectShade returns the color of a cell of a heat map of effects; share is from 0 (better) to 1 (worse), and 0.5 is
// no difference.
func EffectShade(share float64) Color { return shadeAt("effect", share, EffectColors) }

// On returns the color of a text on a cell of a heat map: the one of Ink and Paper that contrasts more.
func On(cell Color) Color { return "on-" + cell }

func shadeAt(name string, share float64, n int) Color {
	return numbered(name, int(min(max(share, 0), 1)*float64(n)-1e-9), n)
}

func numbered(name string, i, n int) Color { return Color(fmt.Sprint(name, min(max(i, 0), n-1))) }

// shade is the value of a color on light and on dark pages, as "#rrggbb".
type shade struct{ light, dark string }

// named is a color with its value.
type named struct {
	name Color
	shade
}

// palette has all colors, in the order in which they are written.
var palette = func() []named {
	all := []named{
		{Page, shade{"#f6f7f9", "#0d1015"}}, {Paper, shade{"#ffffff", "#14181f"}}, {Band, shade{"#fafbfc", "#181d25"}},
		{Ink, shade{"#1a1f26", "#e8ebef"}}, {Muted, shade{"#57606a", "#a3adb9"}}, {AxisColor, shade{"#808a96", "#6f7a88"}}, {Grid, shade{"#e4e7eb", "#2a313b"}},
		{Link, shade{"#0063b1", "#5aa9f0"}}, {Throughput, shade{"#0067b8", "#5aa9f0"}},
		{P50, shade{"#9b7fd0", "#7f66b8"}}, {P90, shade{"#7d56bd", "#a387df"}}, {P99, shade{"#5a3399", "#c7b0f7"}}, {P999, shade{"#36145f", "#ebe3ff"}},
		{Clients, shade{"#2f3550", "#7e8794"}}, {Warmup, shade{"#f3ecd9", "#2b2718"}},
		{Good, shade{"#0a5c47", "#7ee8c7"}}, {Bad, shade{"#a11d14", "#f26355"}}, {Unsure, shade{"#9a6700", "#e6b552"}}, {Same, shade{"#66707c", "#98a2ae"}},
	}
	for _, row := range []struct{ name, light, dark string }{
		{"error", "#6b1512 #bf4f96 #902a00 #b8863f #727812 #46206e #4a5360", "#d07a76 #c24a8c #ff9f80 #ffd27f #938619 #c3a4f3 #d9e6eb"},
		{"target", "#1b8266 #245c1e #8e9322 #3f97b5", "#9af2da #57a56d #cfd26c #67c3e0"},
		{"variant", "#7b838d #c8650a #1f66a8 #561662 #143d0c #ad3053", "#98a1ac #f2943a #84cffd #a568d0 #cbf795 #d9475c"},
		{"heat", "#f3f8fc #c3dcee #93bfdf #5a9bc9 #2873ac #0b4980", "#172433 #1d3b57 #24577f #2c6e9e #56a3d3 #a5d6f5"},
		{"effect", "#0b5c7d #5fa9c4 #b9dcea #f3f4f5 #f9d8ad #dd9850 #9a4700", "#8fd3f5 #3a93bd #124b66 #262c35 #5f3e12 #b5772c #f7bd72"},
	} {
		dark := strings.Fields(row.dark)
		for i, light := range strings.Fields(row.light) {
			all = append(all, named{Color(fmt.Sprint(row.name, i)), shade{light, dark[i]}})
		}
	}
	for _, c := range all {
		if strings.HasPrefix(string(c.name), "heat") || strings.HasPrefix(string(c.name), "effect") {
			all = append(all, named{On(c.name), shade{contrasting(c.light, "#1a1f26", "#ffffff"), contrasting(c.dark, "#e8ebef", "#14181f")}})
		}
	}
	return all
}()

// contrasting returns the one of two colors that contrasts more with a surface.
func contrasting(surface, a, b string) string {
	if contrast(surface, a) >= contrast(surface, b) {
		return a
	}
	return b
}

// shadeOf returns the value of a color. It panics for one that doesn't exist.
func shadeOf(c Color) shade {
	if i := slices.IndexFunc(palette, func(n named) bool { return n.name == c }); i >= 0 {
		return palette[i].shade
	}
	panic("unknown color " + string(c)) // a mistake in the program
}
