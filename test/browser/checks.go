package browser

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed checks.js
var checksJS string

// inPage returns an expression that calls a function of checks.js.
func inPage(function string) string {
	return "(() => {" + checksJS + "\nreturn " + function + "();})()"
}

// list evaluates a function of checks.js, which returns what it objects to.
func (t *Tab) list(function string) ([]string, error) {
	return Evaluate[[]string](t, inPage(function))
}

// Scrolling returns what is wider than the page, which it then scrolls sideways.
func (t *Tab) Scrolling() ([]string, error) { return t.list("scrolling") }

// Overlaps returns the texts of pictures that lie over each other.
func (t *Tab) Overlaps() ([]string, error) { return t.list("overlaps") }

// Cut returns the texts of pictures that reach beyond their picture.
func (t *Tab) Cut() ([]string, error) { return t.list("cut") }

// Misaligned returns the plots over time whose axes differ from those of the first.
func (t *Tab) Misaligned() ([]string, error) { return t.list("misaligned") }

// Undrawn returns the pictures that have no size or no content although their part of the page is shown, and sections that aren't shown.
func (t *Tab) Undrawn() ([]string, error) { return t.list("undrawn") }

// Pale returns the texts and marks of pictures that are hard to tell from what they are on.
func (t *Tab) Pale() ([]string, error) { return t.list("pale") }

// Injected returns the elements and attributes that no page of a report has.
func (t *Tab) Injected() ([]string, error) { return t.list("injected") }

// Unfold opens all parts of the page that are folded.
func (t *Tab) Unfold() error {
	_, err := Evaluate[int](t, inPage("unfold"))
	return err
}

// Pictures returns the texts of the pictures that are shown, a line for each picture.
func (t *Tab) Pictures() (string, error) { return Evaluate[string](t, inPage("drawn")) }

// Table is a table of the page, with its head as the first row.
type Table struct {
	Caption string
	Rows    [][]string
}

// Tables returns all tables, those in folded parts included.
func (t *Tab) Tables() ([]Table, error) { return Evaluate[[]Table](t, inPage("tables")) }

// Unfocusable walks through the page with the tab key and returns what has a focus that can't be seen, and what the
// keyboard doesn't reach.
func (t *Tab) Unfocusable() ([]string, error) {
	wanted, err := Evaluate[int](t, inPage("focusables"))
	if err != nil {
		return nil, err
	}
	var found []string
	reached := 0
	for range wanted {
		if err := t.Press(kb.Tab); err != nil {
			return nil, err
		}
		state, err := Evaluate[struct{ Name, Problem string }](t, inPage("focused"))
		if err != nil {
			return nil, err
		}
		if state.Name == "" {
			break
		}
		reached++
		if state.Problem != "" {
			found = append(found, state.Name+": "+state.Problem)
		}
	}
	if reached < wanted {
		found = append(found, fmt.Sprintf("the tab key reaches %d of %d", reached, wanted))
	}
	return found, nil
}

// violation is what axe-core objects to.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Where  string `json:"where"`
}

// Inaccessible returns the serious and critical objections of axe-core, whose source is given.
func (t *Tab) Inaccessible(axe string) ([]string, error) {
	if _, err := Evaluate[bool](t, axe+"\n;true"); err != nil {
		return nil, err
	}
	violations, err := Evaluate[[]violation](t, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => ({
		id: v.id, impact: v.impact, help: v.help, where: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')})))`)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, v := range violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			found = append(found, fmt.Sprintf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, v.Where))
		}
	}
	return found, nil
}

// Text returns the text of the page that is shown, without what only works with scripts.
func (t *Tab) Text() (string, error) { return Evaluate[string](t, inPage("text")) }

// sheet matches a page of a PDF, and not its tree of pages.
var sheet = regexp.MustCompile(`/Type\s*/Page\b`)

// Print prints the page and returns how many sheets it takes.
func (t *Tab) Print() (int, error) {
	document, err := chromedp.Run(t.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize()))
	if err == nil && !strings.HasPrefix(string(document), "%PDF") {
		err = errors.New("what was printed is no PDF")
	}
	return len(sheet.FindAll(document, -1)), err
}

// Screenshot returns an image of the page in PNG, from its top to its end or to that number of pixels.
func (t *Tab) Screenshot(maxHeight float64) ([]byte, error) {
	const painted = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))"
	if _, err := Evaluate[bool](t, painted); err != nil {
		return nil, err
	}
	metrics, err := chromedp.Call(t.ctx, page.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	size := metrics.CSSContentSize
	beyond := true
	image, err := chromedp.Call(t.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &beyond,
		Clip:                  &page.Viewport{Width: size.Width, Height: min(size.Height, maxHeight), Scale: 1},
	})
	return image.Data, err
}
