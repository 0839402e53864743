package browser_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/browser"
)

// maxBytes is the largest page: that of an hour with ten clients is smaller.
const maxBytes = 1_000_000

// maxSheets returns the number of sheets of paper that a page takes at most. That of 40 clients has panels and rows of each.
func maxSheets(page string) int {
	if page == "run-many-clients" {
		return 60
	}
	return 30
}

// layouts are how each page is laid out. 1,000 pixels are the width of a printed page.
var layouts = []browser.View{{Width: 390}, {Width: 768}, {Width: 1280}, {Width: 1920}, {Width: 2560}, {Width: 1000, Print: true}}

// colors are how each page is colored.
var colors = []browser.View{{Width: 1280}, {Width: 1280, Dark: true}}

// pages are the pages of reports by name.
func pages(t *testing.T) map[string]func(io.Writer) error {
	t.Helper()
	all := map[string]func(io.Writer) error{}
	for name, r := range runs(t) {
		all["run-"+name] = func(w io.Writer) error {
			return runpage.Write(w, r, "load:\n  closed:\n    connections: 25\n")
		}
	}
	for name, r := range roundtest.All(t) {
		all["benchmark-"+name] = func(w io.Writer) error { return roundpage.Write(w, r) }
	}
	for name, c := range comparisons(t) {
		all["compare-"+name] = func(w io.Writer) error { return roundpage.WriteComparison(w, c) }
	}
	return all
}

// TestPages checks each page in each view.
func TestPages(t *testing.T) {
	b, all := start(t), pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := written(t, all[name])
			if len(text) > maxBytes {
				t.Errorf("%d bytes, want at most %d", len(text), maxBytes)
			}
			tab := open(t, b, name, text, true)
			checkKeyboard(t, tab)
			checkWithoutScripts(t, tab, open(t, b, name, text, false))
			if n, err := tab.Print(); err != nil || n == 0 || n > maxSheets(name) {
				t.Errorf("printed %d sheets, want at most %d: %v", n, maxSheets(name), err)
			}
			checkLayouts(t, tab)
			checkColors(t, tab)
			expectNothing(t, browser.View{}, checks{
				"messages": func() ([]string, error) { return tab.Messages(), nil },
				"requests": func() ([]string, error) { return tab.Foreign(), nil },
			})
		})
	}
}

func checkKeyboard(t *testing.T, tab *browser.Tab) {
	t.Helper()
	view := browser.View{Width: 1280}
	look(t, tab, view)
	expectNothing(t, view, checks{"keyboard": tab.Unfocusable})
}

// checkWithoutScripts checks that scripts add nothing that is missing without them.
func checkWithoutScripts(t *testing.T, with, without *browser.Tab) {
	t.Helper()
	var texts, pictures [2]string
	for i, tab := range []*browser.Tab{with, without} {
		look(t, tab, browser.View{Width: 1280})
		var err error
		if texts[i], err = tab.Text(); err != nil {
			t.Fatal(err)
		}
		if pictures[i], err = tab.Pictures(); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("without scripts the text is\n%s\nand with them\n%s", texts[1], texts[0])
	}
	if pictures[0] != pictures[1] {
		t.Errorf("without scripts the pictures are\n%s\nand with them\n%s", pictures[1], pictures[0])
	}
	expectNothing(t, browser.View{Width: 1280}, checks{"messages without scripts": func() ([]string, error) { return without.Messages(), nil }})
}

// checkLayouts checks what lies where, with all folded parts open.
func checkLayouts(t *testing.T, tab *browser.Tab) {
	t.Helper()
	if err := tab.Unfold(); err != nil {
		t.Fatal(err)
	}
	for _, view := range layouts {
		look(t, tab, view)
		expectNothing(t, view, checks{
			"wider than the page": tab.Scrolling, "texts over each other": tab.Overlaps, "texts cut off": tab.Cut,
			"axes of time that differ": tab.Misaligned, "pictures without content": tab.Undrawn,
		})
	}
}

// checkColors checks that all is seen in each theme, and with the colors of the user.
func checkColors(t *testing.T, tab *browser.Tab) {
	t.Helper()
	for _, view := range colors {
		look(t, tab, view)
		expectNothing(t, view, checks{"axe-core": func() ([]string, error) { return tab.Inaccessible(axe(t)) }, "pale": tab.Pale})
	}
	view := browser.View{Width: 1280, ForcedColors: true}
	look(t, tab, view)
	expectNothing(t, view, checks{"pale": tab.Pale})
}

// TestHostilePages checks that no text of users, servers or clients is executed, or becomes an element.
func TestHostilePages(t *testing.T) {
	b, all := start(t), hostileRounds(t)
	for name, r := range hostile() {
		all[name] = func(w io.Writer) error { return runpage.Write(w, r, "image: "+payload) }
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, b, name, written(t, all[name]), true)
			look(t, tab, browser.View{Width: 390})
			if err := tab.Unfold(); err != nil {
				t.Fatal(err)
			}
			if text, err := tab.Text(); err != nil || !strings.Contains(text, "<script>document.title='executed'</script>") {
				t.Errorf("the texts aren't on the page: %v", err)
			}
			expectNothing(t, browser.View{Width: 390}, checks{
				"elements":            tab.Injected,
				"wider than the page": tab.Scrolling,
				"messages":            func() ([]string, error) { return tab.Messages(), nil },
				"requests":            func() ([]string, error) { return tab.Foreign(), nil },
			})
		})
	}
}

// checks are what to look for in a page, by what to call it.
type checks map[string]func() ([]string, error)

func expectNothing(t *testing.T, view browser.View, all checks) {
	t.Helper()
	for _, about := range slices.Sorted(maps.Keys(all)) {
		found, err := all[about]()
		if err != nil {
			t.Fatalf("%s: %s: %v", view, about, err)
		}
		if len(found) > 0 {
			const shown = 6
			t.Errorf("%s: %s (%d):\n  %s", view, about, len(found), strings.Join(found[:min(len(found), shown)], "\n  "))
		}
	}
}

func look(t *testing.T, tab *browser.Tab, view browser.View) {
	t.Helper()
	if err := tab.Look(view); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// read returns the result in a file of JSON.
func read(t *testing.T, path string) *result.Result {
	t.Helper()
	encoded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Result{}
	if err := json.Unmarshal(encoded, r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}
