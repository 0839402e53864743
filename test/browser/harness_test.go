package browser_test

import (
	"os"
	"strings"
	"testing"

	"github.com/assay-dev/assay/test/browser"
)

// faulty is a page with a fault for each check.
const faulty = `<!DOCTYPE html><html lang="en"><head><title>faults</title><style>
a:focus { outline: none } p.gray { color: #aaa; background: #bbb }
</style></head><body>
<a href="#x">a link whose focus can't be seen</a>
<p class="gray">a text without contrast</p>
<section id="s"><div style="width: 5000px; height: 1px">wide</div>
<svg role="img" aria-label="texts" width="200" height="60"><text x="10" y="20">one text</text><text x="30" y="22">over another</text><text x="180" y="50">cut off here</text></svg>
<figure><svg role="img" aria-label="nothing" width="200" height="60"></svg></figure>
<div class="timeline"><div class="panel"><svg role="img" aria-label="a" width="300" height="20"><g/></svg></div><div class="panel"><svg role="img" aria-label="b" width="290" height="20"><g/></svg></div>
<div class="panel"><svg role="img" aria-label="c" width="300" height="20" stroke="#777"><path class="s-grid" d="M10 5H290"/></svg></div><div class="panel"><svg role="img" aria-label="d" width="300" height="20" stroke="#777"><path class="s-grid" d="M12 5H290"/></svg></div></div>
<svg role="img" aria-label="pale" width="200" height="60"><rect width="150" height="40" fill="#fefefe"/><text x="10" y="20" fill="#ddd">pale text</text></svg>
<svg onload="0"></svg>
</section>
<main><section id="unseen" style="display: none"></section></main>
<img src="http://127.0.0.1:9/elsewhere.png" alt="elsewhere">
<script>console.error("an error"); throw new Error("an exception")</script>
</body></html>`

// sound is a page without any.
const sound = `<!DOCTYPE html><html lang="en"><head><title>no faults</title><style>a:focus { outline: 2px solid }</style></head><body>
<main><h1>No faults</h1><a href="#x">a link</a>
<svg role="img" aria-label="texts" width="200" height="60"><text x="10" y="20">one text</text><text x="10" y="40">below it</text></svg></main>
</body></html>`

// TestChecks shows that each check finds what it is for, and nothing where there is nothing.
func TestChecks(t *testing.T) {
	b := start(t)
	checks := map[string]struct {
		check func(*browser.Tab) ([]string, error)
		want  string
	}{
		"messages":   {func(tab *browser.Tab) ([]string, error) { return tab.Messages(), nil }, "an exception"},
		"errors":     {func(tab *browser.Tab) ([]string, error) { return tab.Messages(), nil }, "an error"},
		"requests":   {func(tab *browser.Tab) ([]string, error) { return tab.Foreign(), nil }, "elsewhere.png"},
		"scrolling":  {(*browser.Tab).Scrolling, "wide"},
		"overlaps":   {(*browser.Tab).Overlaps, `"one text" and "over another"`},
		"cut":        {(*browser.Tab).Cut, "cut off here"},
		"undrawn":    {(*browser.Tab).Undrawn, "0 elements"},
		"unseen":     {(*browser.Tab).Undrawn, "unseen isn't shown"},
		"misaligned": {(*browser.Tab).Misaligned, "a picture from"},
		"plots":      {(*browser.Tab).Misaligned, "a plot from"},
		"pale text":  {(*browser.Tab).Pale, "pale text"},
		"pale mark":  {(*browser.Tab).Pale, "rect"},
		"injected":   {(*browser.Tab).Injected, "onload"},
		"focus":      {(*browser.Tab).Unfocusable, "can't be seen"},
		"axe":        {func(tab *browser.Tab) ([]string, error) { return tab.Inaccessible(axe(t)) }, "color-contrast"},
	}
	bad, good := open(t, b, "faulty", faulty, true), open(t, b, "sound", sound, true)
	for name, tc := range checks {
		found, err := tc.check(bad)
		if err != nil || !strings.Contains(strings.Join(found, "\n"), tc.want) {
			t.Errorf("%s: found %q, %v; want %q", name, found, err, tc.want)
		}
		if found, err := tc.check(good); err != nil || len(found) > 0 {
			t.Errorf("%s: found %q, %v in a page without faults", name, found, err)
		}
	}
}

func start(t *testing.T) *browser.Browser {
	t.Helper()
	b, end, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return b
}

// open opens a page with scripts or without.
func open(t *testing.T, b *browser.Browser, name, text string, scripts bool) *browser.Tab {
	t.Helper()
	path, err := browser.Write(t.TempDir(), name, func(f *os.File) error { _, err := f.WriteString(text); return err })
	if err != nil {
		t.Fatal(err)
	}
	tab, end, err := b.Open(path, scripts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	look(t, tab, browser.View{Width: 1280})
	return tab
}

// axe returns the source of axe-core, which hack/axe.sh fetches.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("AXE")
	if path == "" {
		t.Fatal("AXE is not set to the path of axe-core: run `make test-browser`, or AXE=$(hack/axe.sh) go test")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}
