package browser_test

import (
	"math"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/test/browser"
)

// TestSectionOfURL checks that a URL with the name of a section leads there, although what is below the screen is laid out late.
func TestSectionOfURL(t *testing.T) {
	b, path := start(t), filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(written(t, pages(t)["run-real-tomcat"])), 0o600); err != nil {
		t.Fatal(err)
	}
	tab, end, err := b.OpenURL((&url.URL{Scheme: "file", Path: path, Fragment: "errors"}).String(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	await(t, tab, `document.querySelector(".unpainted") === null`)
	top, err := browser.Evaluate[float64](tab, `document.querySelector("#errors").getBoundingClientRect().top`)
	if err != nil || math.Abs(top) > 1 {
		t.Errorf("the section is %v pixels below the top: %v", top, err)
	}
}
