package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestPaletteCanBeRead checks the contrast of texts and marks with the surfaces that they stand on: WCAG 2.2, success
// criteria 1.4.3 (texts) and 1.4.11 (graphics).
func TestPaletteCanBeRead(t *testing.T) {
	const text, mark = 4.5, 3
	check := func(c, surface Color, least float64) {
		t.Helper()
		of, on := shadeOf(c), shadeOf(surface)
		for theme, ratio := range map[string]float64{"light": contrast(of.light, on.light), "dark": contrast(of.dark, on.dark)} {
			if ratio < least {
				t.Errorf("%s on %s of the %s theme: contrast %.2f, must be at least %.1f", c, surface, theme, ratio, least)
			}
		}
	}
	for _, surface := range []Color{Page, Paper, Band} {
		for _, c := range []Color{Ink, Muted, Link, Good, Bad, Unsure, Same} {
			check(c, surface, text)
		}
	}
	marks := append([]Color{AxisColor, Throughput, P50, P90, P99, P999, Clients}, row("error", ErrorColors)...)
	marks = append(append(marks, row("target", TargetColors)...), row("variant", Variants)...)
	for _, surface := range []Color{Paper, Band} {
		for _, c := range marks {
			check(c, surface, mark)
		}
	}
	for _, c := range append(row("heat", HeatColors), row("effect", EffectColors)...) {
		check(On(c), c, text)
	}
}

// TestPaletteCanBeToldApart checks the colors that stand next to each other, as eyes with all cones see them and as
// those see them that lack one kind.
func TestPaletteCanBeToldApart(t *testing.T) {
	const least = 7.5
	rows := map[string][]Color{
		"latency": {P50, P90, P99, P999}, "errors": row("error", ErrorColors), "target": row("target", TargetColors),
		"verdicts": {Good, Bad, Unsure, Same}, "variants": row("variant", Variants),
	}
	pairs := map[string][][2]Color{}
	for name, colors := range rows {
		for i, a := range colors {
			for _, b := range colors[:i] {
				pairs[name] = append(pairs[name], [2]Color{a, b})
			}
		}
	}
	for name, colors := range map[string][]Color{"heat map": row("heat", HeatColors), "effects": row("effect", EffectColors)} {
		for i := 1; i < len(colors); i++ {
			pairs[name] = append(pairs[name], [2]Color{colors[i-1], colors[i]})
		}
	}
	effects := row("effect", EffectColors)
	for i := range EffectColors / 2 {
		pairs["effects"] = append(pairs["effects"], [2]Color{effects[i], effects[EffectColors-1-i]})
	}
	for name, all := range pairs {
		for _, pair := range all {
			for eyes, matrix := range cones {
				a, b := shadeOf(pair[0]), shadeOf(pair[1])
				for theme, d := range map[string]float64{"light": distance(a.light, b.light, matrix), "dark": distance(a.dark, b.dark, matrix)} {
					if d < least {
						t.Errorf("%s: %s and %s of the %s theme are %.1f apart for %s eyes, must be at least %.1f", name, pair[0], pair[1], theme, d, eyes, least)
					}
				}
			}
		}
	}
}

// row returns numbered colors.
func row(name string, n int) (colors []Color) {
	for i := range n {
		colors = append(colors, numbered(name, i, n))
	}
	return colors
}

type matrix [3][3]float64

func (m matrix) of(v [3]float64) (product [3]float64) {
	for i := range m {
		for j, x := range v {
			product[i] += m[i][j] * x
		}
	}
	return product
}

// cones simulate how eyes see linear RGB: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based
// Model for Simulation of Color Vision Deficiency", 2009, severity 1.0.
var cones = map[string]matrix{
	"usual":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// distance returns the distance of two colors in OKLab, times 100, as eyes see them.
func distance(a, b string, eyes matrix) float64 {
	la, lb := oklab(eyes.of(channels(a))), oklab(eyes.of(channels(b)))
	sum := 0.0
	for i := range la {
		sum += (la[i] - lb[i]) * (la[i] - lb[i])
	}
	return 100 * math.Sqrt(sum)
}

// oklab converts linear RGB to OKLab (B. Ottosson, "A perceptual color space for image processing", 2020).
func oklab(rgb [3]float64) [3]float64 {
	for i := range rgb {
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	lms := matrix{
		{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005},
	}.of(rgb)
	for i := range lms {
		lms[i] = math.Cbrt(lms[i])
	}
	return matrix{
		{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660},
	}.of(lms)
}

func TestStyleSheetHasEachColorOnce(t *testing.T) {
	sheet := StyleSheet()
	for _, c := range palette {
		for _, class := range []string{"f-", "s-"} {
			if n := strings.Count(sheet, fmt.Sprintf(".%s%s{", class, c.name)); n != 1 {
				t.Errorf("class %s%s is defined %d times", class, c.name, n)
			}
		}
	}
}
