package ui

import (
	"bytes"
	"cmp"
	"html/template"
	"io"
	"net/http"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
)

// reportPolicy is that of a page with a report, whose texts are those of servers and users. Its script and its style are files of the
// program's: nothing in the page itself can run, and no script can make markup of a text. The page has no form and
// no token, and it loads and sends nothing.
const reportPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// filePolicy is that of a report to keep, should a browser show it nevertheless: it is an origin of its own.
const filePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

// document answers with a report below the bar.
func document(w http.ResponseWriter, p page, a *actions, d *doc.Document) {
	var text bytes.Buffer
	bar, err := execute("framed", struct {
		page
		Actions *actions
	}{p, a})
	if err == nil {
		frame := &html.Frame{Bar: template.HTML(bar), Style: "/assets/report.css", Script: "/assets/timeline.js"} //nolint:gosec // a template's
		err = html.WriteIn(&text, d, frame)
	}
	if err != nil {
		http.Error(w, "The page can't be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = text.WriteTo(w) // the browser may have gone
}

// fileTypes are the types of reports to keep by their formats. Others aren't served: one of them writes files where the program is.
var fileTypes = map[string]string{"html": "text/html", "json": "application/json", "csv": "text/csv", "csv=series": "text/csv"}

// file answers with a report to keep, in the format of the request.
func (s *App) file(w http.ResponseWriter, r *http.Request, name string, write func(format string, out io.Writer) error) {
	format := cmp.Or(r.URL.Query().Get("format"), "html")
	kind, known := fileTypes[format]
	if !known {
		s.message(w, http.StatusUnprocessableEntity, notice{"No file", "Reports are here as html, json and csv. kubectl assay report has all formats."})
		return
	}
	var text bytes.Buffer
	if err := write(format, &text); err != nil {
		s.message(w, http.StatusUnprocessableEntity, notice{"No file", sentence(err)})
		return
	}
	extension, _, _ := strings.Cut(format, "=")
	w.Header().Set("Content-Security-Policy", filePolicy)
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+"."+extension+`"`)
	_, _ = text.WriteTo(w) // the browser may have gone
}
