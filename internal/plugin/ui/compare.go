package ui

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/compare"
)

// comparePage compares two runs.
type comparePage struct {
	page
	Rows []*row
	// Report is the path of the comparison.
	Report string
}

// compare shows the comparison of the two runs that the query names, the first of which is the baseline.
func (s *App) compare(w http.ResponseWriter, r *http.Request) {
	keys := r.URL.Query()["run"]
	if len(keys) != 2 {
		s.message(w, r, http.StatusBadRequest, notice{"Compare", "Tick two runs in the list to compare them. The first one is the baseline."})
		return
	}
	p := comparePage{page: s.page("Compare", "runs"), Report: "/compare/report?" + url.Values{"run": keys}.Encode()}
	for _, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		run, err := s.read(r.Context(), namespace, name)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		p.Rows = append(p.Rows, rowOf(run, s.now()))
	}
	render(w, r, http.StatusOK, "compare", p)
}

// comparison answers with the comparison of two runs, as the content of a frame.
func (s *App) comparison(w http.ResponseWriter, r *http.Request) {
	keys := r.URL.Query()["run"]
	if len(keys) != 2 {
		frame(w, r, "A comparison is of two runs.")
		return
	}
	var clusters [2]*cluster.Cluster
	var names [2]string
	for i, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		clusters[i], names[i] = s.in(namespace), name
	}
	var text bytes.Buffer
	if err := compare.WritePage(r.Context(), clusters, names, &text); err != nil {
		frame(w, r, "Not compared: "+sentence(err))
		return
	}
	document(w, text.Bytes())
}
