package browser_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/browser"
)

var screenshots = flag.String("screenshots", "", "Directory to which to write screenshots of the pages, instead of checking them.")

// maxBytes is the largest page: that of an hour with ten clients is smaller.
const maxBytes = 1 << 20

// views are how each page is looked at.
var views = []browser.View{
	{Width: 390}, {Width: 768}, {Width: 1280}, {Width: 1920}, {Width: 2560},
	{Width: 390, Dark: true}, {Width: 1280, Dark: true}, {Width: 1280, ForcedColors: true},
}

// pages are the pages of reports by name.
func pages(t *testing.T) map[string]func(io.Writer) error {
	t.Helper()
	all := map[string]func(io.Writer) error{}
	for name, r := range roundtest.All(t) {
		all["benchmark-"+name] = func(w io.Writer) error { return roundpage.Write(w, r) }
	}
	for _, name := range []string{"tomcat", "failing", "forwarding", "nothing", "open", "stages", "standalone"} {
		r := golden(t, name)
		all["run-"+name] = func(w io.Writer) error { return runpage.Write(w, r, runpage.Extras{}) }
	}
	// Results of real runs on the local cluster, which have all that there is.
	for _, name := range []string{"keep-alive", "tls"} {
		r := read(t, filepath.Join("testdata", name+".json"))
		all["run-"+name] = func(w io.Writer) error { return runpage.Write(w, r, runpage.Extras{}) }
	}
	return all
}

// golden returns the result of a golden file of package report.
func golden(t *testing.T, name string) *result.Result {
	t.Helper()
	return read(t, filepath.Join("..", "..", "internal", "report", "testdata", name+".json.golden"))
}

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

// TestPages checks each page in each view.
func TestPages(t *testing.T) {
	b := start(t)
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			var page bytes.Buffer
			if err := all[name](&page); err != nil {
				t.Fatal(err)
			}
			if page.Len() > maxBytes {
				t.Errorf("%d bytes, want at most %d", page.Len(), maxBytes)
			}
			tab := open(t, b, name, page.String())
			for _, view := range views {
				if err := tab.Look(view); err != nil {
					t.Fatal(err)
				}
				expectNothing(t, view, map[string]func() ([]string, error){
					"wider than the page": tab.Scrolling, "texts over each other": tab.Overlaps, "texts cut off": tab.Cut,
					"axes of time that differ": tab.Misaligned, "pictures without content": tab.Undrawn,
				})
				if view.Width == 1280 && !view.ForcedColors {
					expectNothing(t, view, map[string]func() ([]string, error){"axe-core": func() ([]string, error) { return tab.Inaccessible(axe(t)) }})
				}
			}
			if err := tab.Look(browser.View{Width: 1280}); err != nil {
				t.Fatal(err)
			}
			expectNothing(t, browser.View{Width: 1280}, map[string]func() ([]string, error){
				"keyboard": tab.Unfocusable,
				"messages": func() ([]string, error) { return tab.Messages(), nil },
				"requests": func() ([]string, error) { return tab.Foreign(), nil },
			})
			if n, err := tab.Print(); err != nil || n == 0 {
				t.Errorf("printed %d bytes: %v", n, err)
			}
		})
	}
}

func expectNothing(t *testing.T, view browser.View, checks map[string]func() ([]string, error)) {
	t.Helper()
	for _, about := range slices.Sorted(maps.Keys(checks)) {
		found, err := checks[about]()
		if err != nil {
			t.Fatalf("%s: %s: %v", view, about, err)
		}
		if len(found) > 0 {
			const shown = 6
			t.Errorf("%s: %s (%d):\n  %s", view, about, len(found), strings.Join(found[:min(len(found), shown)], "\n  "))
		}
	}
}

// TestPagesWithoutScripts shows that scripts add nothing that is missing without them.
func TestPagesWithoutScripts(t *testing.T) {
	b := start(t)
	for name, write := range pages(t) {
		path, err := browser.Write(t.TempDir(), name, func(f *os.File) error { return write(f) })
		if err != nil {
			t.Fatal(err)
		}
		var texts [2]string
		for i, scripts := range []bool{true, false} {
			tab, end, err := b.Open(path, scripts)
			if err != nil {
				t.Fatal(err)
			}
			if err := tab.Look(browser.View{Width: 1280}); err != nil {
				t.Fatal(err)
			}
			if texts[i], err = tab.Text(); err != nil {
				t.Fatal(err)
			}
			end()
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: the text differs without scripts:\n%s\nwith:\n%s", name, texts[1], texts[0])
		}
	}
}

// TestScreenshots writes a screenshot of each page if it is asked to.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		return
	}
	b := start(t)
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var page bytes.Buffer
		if err := all[name](&page); err != nil {
			t.Fatal(err)
		}
		tab := open(t, b, name, page.String())
		for _, view := range []browser.View{{Width: 1280}, {Width: 1280, Dark: true}, {Width: 390}} {
			if err := tab.Look(view); err != nil {
				t.Fatal(err)
			}
			const maxHeight = 6000
			image, err := tab.Screenshot(maxHeight)
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("%s-%d", name, view.Width)
			if view.Dark {
				file += "-dark"
			}
			if err := os.WriteFile(filepath.Join(*screenshots, file+".png"), image, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
