package ui

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/compare"
	"github.com/assay-dev/assay/internal/report/round"
)

// comparePage compares two runs.
type comparePage struct {
	page
	Rows []*row
	Text string
}

// compare compares the two runs that the query names, the first of which is the baseline.
func (s *app) compare(w http.ResponseWriter, r *http.Request) {
	keys := r.URL.Query()["run"]
	if len(keys) != 2 {
		s.message(w, r, http.StatusBadRequest, notice{"Compare", "Tick two runs in the list to compare them. The first one is the baseline."})
		return
	}
	p := comparePage{page: s.page("Compare", "runs")}
	var clusters [2]*cluster.Cluster
	var names [2]string
	for i, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		run, err := s.read(r.Context(), namespace, name)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		clusters[i], names[i] = s.in(namespace), name
		p.Rows = append(p.Rows, rowOf(run, s.now()))
	}
	var text bytes.Buffer
	comparison, err := compare.Runs(r.Context(), clusters, names)
	if err == nil {
		err = round.WriteComparison(&text, "text", comparison)
	}
	if p.Text = text.String(); err != nil {
		p.Text = "Not compared: " + sentence(err)
	}
	render(w, r, http.StatusOK, "compare", p)
}
