package browser_test

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/test/browser"
)

// TestZoom reads the plots over time and zooms into them by keyboard.
func TestZoom(t *testing.T) {
	b, r := start(t), clean()
	tab := open(t, b, "clean", written(t, func(w io.Writer) error { return runpage.Write(w, r, "") }), true)
	evaluate[bool](t, tab, `(document.querySelector('[data-panel="latency"]').focus(), true)`)
	press(t, tab, kb.Home)
	read := evaluate[string](t, tab, `document.querySelector('[data-readout]').textContent`)
	p99 := regexp.MustCompile(`p99 ([\d.,]+)`).FindStringSubmatch(read)
	if !strings.HasPrefix(read, "at 0") || p99 == nil || !agrees(p99[1], float64(r.Series[0].P99)/1000) {
		t.Errorf("%q, want a p99 of %d µs", read, r.Series[0].P99)
	}
	before := plots(t, tab)
	if before.Zoomed != 0 || before.Pictures == 0 {
		t.Fatalf("%+v before zooming", before)
	}
	press(t, tab, "+")
	zoomed := plots(t, tab)
	if zoomed.Zoomed < 4 || zoomed.Span > 0.3 || zoomed.Texts == before.Texts || !strings.Contains(zoomed.Texts, "p99") {
		t.Errorf("%+v after zooming", zoomed)
	}
	for _, name := range []string{"p50", "p90", "p99", "max"} { // at the ends of the lines
		if !slices.Contains(strings.Fields(zoomed.Texts), name) {
			t.Errorf("the line %s has lost its name: %s", name, zoomed.Texts)
		}
	}
	if hash := evaluate[string](t, tab, `location.hash`); !strings.HasPrefix(hash, "#zoom=") {
		t.Errorf("the URL has %q", hash)
	}
	reload(t, tab, `document.querySelectorAll('.timeline .zoomed').length > 0`)
	if again := plots(t, tab); again != zoomed {
		t.Errorf("%+v after loading the page again, %+v before", again, zoomed)
	}
	evaluate[bool](t, tab, `(document.querySelector('[data-panel="latency"]').focus(), true)`)
	press(t, tab, "0")
	if after := plots(t, tab); after != before {
		t.Errorf("%+v after zooming, %+v before", after, before)
	}
	if hash := evaluate[string](t, tab, `location.hash`); hash != "" {
		t.Errorf("the URL has %q without a zoom", hash)
	}
	if found := tab.Messages(); len(found) > 0 {
		t.Error(found)
	}
}

// plotted says how the plots over time look: how many are zoomed, how many are shown, by how many pixels their places differ at
// most, and the names and labels of the axes of latency.
type plotted struct {
	Zoomed, Pictures int
	Span             float64
	Texts            string
}

func plots(t *testing.T, tab *browser.Tab) plotted {
	t.Helper()
	of, err := browser.Evaluate[plotted](tab, `(() => {
		const boxes = [...document.querySelectorAll('.timeline .panel .fit > svg')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
		const span = (all) => all.length > 0 ? Math.max(...all) - Math.min(...all) : 0;
		const texts = [...document.querySelectorAll('[data-panel="latency"] text')].filter((e) => e.checkVisibility()).map((e) => e.textContent);
		return {Zoomed: document.querySelectorAll('.timeline .zoomed').length, Pictures: boxes.length, Texts: texts.join(' '),
			Span: Math.max(span(boxes.map((b) => b.left)), span(boxes.map((b) => b.right)))};
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func evaluate[T any](t *testing.T, tab *browser.Tab, expression string) T {
	t.Helper()
	value, err := browser.Evaluate[T](tab, expression)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func press(t *testing.T, tab *browser.Tab, keys string) {
	t.Helper()
	if err := tab.Press(keys); err != nil {
		t.Fatal(err)
	}
}
