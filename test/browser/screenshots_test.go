package browser_test

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assay-dev/assay/test/browser"
)

var (
	screenshots = flag.String("screenshots", "", "Directory to which TestScreenshots writes images of the pages.")
	everyPage   = flag.Bool("every-page", false, "Have TestScreenshots write every page in each view, instead of those for the documentation.")
)

// documented are the pages and views for the documentation.
var documented = map[string][]browser.View{
	"run-real-tomcat": {{Width: 1280}, {Width: 1280, Dark: true}, {Width: 390}}, "run-real-tls": {{Width: 1280}}, "run-real-small-clients": {{Width: 1280}},
	"run-real-open-rate": {{Width: 1280}}, "run-real-users": {{Width: 1280}, {Width: 390}},
	"run-hour": {{Width: 1280}}, "run-full": {{Width: 1280}}, "run-script": {{Width: 1280}},
	"benchmark-failed": {{Width: 1280}, {Width: 1280, Dark: true}, {Width: 390}}, "benchmark-inconclusive": {{Width: 1280}}, "benchmark-connectors": {{Width: 1280}},
	"benchmark-sizes": {{Width: 1280}}, "benchmark-trend": {{Width: 1280}}, "benchmark-levels": {{Width: 1280}},
	"compare-runs": {{Width: 1280}}, "compare-sets": {{Width: 1280}}, "compare-refused": {{Width: 1280}},
}

// TestScreenshots writes images of pages if it is asked to; TestPages checks the pages.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		return
	}
	b, all := start(t), pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		views := documented[name]
		if *everyPage {
			views = []browser.View{{Width: 390}, {Width: 768}, {Width: 1280}, {Width: 1280, Dark: true}, {Width: 1920}}
		}
		if len(views) == 0 {
			continue
		}
		tab := open(t, b, name, written(t, all[name]), true)
		take(t, tab, name, views, "true", maxHeight)
		if name == inReadme {
			take(t, tab, "report", []browser.View{{Width: 1280}, {Width: 1280, Dark: true}}, "true", readmeHeight)
		}
	}
	address := serveUI(t, 30)
	views := []browser.View{{Width: 1280}}
	for _, page := range uiPages {
		tab, end, err := b.OpenURL(address+page.path, true)
		if err != nil {
			t.Fatal(err)
		}
		await(t, tab, page.complete)
		take(t, tab, "ui-"+page.name, views, page.complete, maxHeight)
		end()
	}
}

// The heights of images at most, in pixels: a page's, and that of the beginning of inReadme, which the README shows.
const (
	maxHeight    = 6000
	inReadme     = "run-real-tomcat"
	readmeHeight = 1832
)

// take writes an image of a page in each view, as high as it may be, when complete is true.
func take(t *testing.T, tab *browser.Tab, name string, views []browser.View, complete string, height float64) {
	t.Helper()
	for _, view := range views {
		look(t, tab, view)
		await(t, tab, complete)
		shot, err := tab.Screenshot(height)
		if err != nil {
			t.Fatal(err)
		}
		small, err := reduced(shot)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+"-"+view.File()+".png"), small, 0o644); err != nil { //nolint:gosec // documentation
			t.Fatal(err)
		}
	}
}

// reduced returns a PNG with the most frequent of its colors, none of which is near another one: a third of the bytes. It
// differs from the first in the edges of letters.
func reduced(shot []byte) ([]byte, error) {
	decoded, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	of := image.NewRGBA(decoded.Bounds())
	draw.Draw(of, of.Rect, decoded, of.Rect.Min, draw.Src)
	counts := map[[4]byte]int{}
	for pixel := range slices.Chunk(of.Pix, 4) {
		counts[[4]byte(pixel)]++
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b [4]byte) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), bytes.Compare(a[:], b[:]))
	})
	const colors = 256
	var palette color.Palette
	var taken [][4]byte
	for _, c := range frequent {
		if len(taken) < colors && !slices.ContainsFunc(taken, func(other [4]byte) bool { return near(c, other) }) {
			taken, palette = append(taken, c), append(palette, rgba(c))
		}
	}
	nearest := map[[4]byte]uint8{}
	for c := range counts {
		nearest[c] = uint8(palette.Index(rgba(c))) //nolint:gosec // below 256
	}
	small := image.NewPaletted(of.Rect, palette)
	for i := range small.Pix {
		small.Pix[i] = nearest[[4]byte(of.Pix[4*i:])]
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, small)
	return out.Bytes(), err
}

// near reports whether two colors look alike next to each other.
func near(a, b [4]byte) bool {
	const most = 7
	for i := range a {
		if d := int(a[i]) - int(b[i]); d > most || d < -most {
			return false
		}
	}
	return a != b
}

func rgba(c [4]byte) color.RGBA { return color.RGBA{c[0], c[1], c[2], c[3]} }
