//go:build docs

package browser_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/test/browser"
)

// site serves the documentation as make docs builds it, and returns its address and the paths of its pages.
func site(t *testing.T) (string, []string) {
	t.Helper()
	directory := os.Getenv("DOCS")
	if directory == "" {
		t.Fatal("DOCS must be the directory of the site that make docs builds; make test-docs sets it")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(directory)))
	t.Cleanup(server.Close)
	var pages []string
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "index.html" {
			return err
		}
		below, err := filepath.Rel(directory, filepath.Dir(path))
		pages = append(pages, strings.TrimPrefix("/"+filepath.ToSlash(below)+"/", "/."))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, pages
}

// TestDocs checks the documentation as a site: every page loads without a request to elsewhere, and those with a layout of
// their own can be read on a phone, in the dark and by a screen reader. make docs checks the links.
func TestDocs(t *testing.T) {
	address, pages := site(t)
	b := start(t)
	tab, end, err := b.OpenURL(address, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	if len(pages) < 60 {
		t.Errorf("only %d pages: %v", len(pages), pages)
	}
	for _, page := range pages {
		if err := tab.Navigate(address + page); err != nil {
			t.Fatal(err)
		}
		if !evaluate[bool](t, tab, `document.querySelector('.md-content h1') !== null`) {
			t.Errorf("%s has no heading", page)
		}
	}
	expectNothing(t, browser.View{}, checks{
		"messages": func() ([]string, error) { return tab.Messages(), nil },
		"requests": func() ([]string, error) { return tab.Foreign(address), nil },
	})
	// The largest page, the widest code, diagrams, pictures.
	for _, page := range []string{"/", "/api/", "/gitops/", "/architecture/", "/screenshots/"} {
		t.Run(page, func(t *testing.T) {
			tab, end, err := b.OpenURL(address+page, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(end)
			for _, view := range []browser.View{{Width: 390}, {Width: 390, Dark: true}, {Width: 1280}, {Width: 1280, Dark: true}} {
				look(t, tab, view)
				// The drawer with the navigation moves for a moment when the width changes.
				await(t, tab, fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, view.Width), "")
				scheme := map[bool]string{false: "default", true: "slate"}[view.Dark]
				await(t, tab, `document.body.dataset.mdColorScheme === '`+scheme+`'`, "")
				// The rules of pages with 140 tables take a minute.
				if page != "/api/" {
					expectNothing(t, view, checks{"axe-core": func() ([]string, error) { return tab.Inaccessible(axe(t)) }})
				}
			}
		})
	}
	t.Run("diagrams", func(t *testing.T) {
		if err := tab.Navigate(address + "/architecture/"); err != nil {
			t.Fatal(err)
		}
		await(t, tab, `[...document.querySelectorAll('.mermaid')].filter((e) => e.tagName === 'DIV' && e.offsetHeight > 30).length === 2`, "")
	})
	t.Run("search", func(t *testing.T) {
		if err := tab.Navigate(address + "/?q=ClientSaturated"); err != nil {
			t.Fatal(err)
		}
		await(t, tab, `document.querySelector('.md-search-result__item a[href*="validity"]') !== null`, "")
	})
	expectNothing(t, browser.View{}, checks{"requests": func() ([]string, error) { return tab.Foreign(address), nil }})
}
