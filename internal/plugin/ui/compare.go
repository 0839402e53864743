package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/compare"
	"github.com/assay-dev/assay/internal/report/round"
)

// compare shows the comparison of the runs that the query names, the first of which is the baseline.
func (s *App) compare(w http.ResponseWriter, r *http.Request) {
	keys := r.URL.Query()["run"]
	if len(keys) < 2 || len(keys) > round.MaxSides {
		s.message(w, http.StatusBadRequest, notice{"Compare", "Tick two to six runs in the list to compare them. The first one is the baseline."})
		return
	}
	clusters, names := make([]*cluster.Cluster, len(keys)), make([]string, len(keys))
	a := &actions{}
	for i, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		clusters[i], names[i] = s.in(namespace), name
		a.add(true, "Run "+name, pathOf("runs", namespace, name))
	}
	d, err := compare.Page(r.Context(), clusters, names)
	if err != nil {
		s.message(w, http.StatusUnprocessableEntity, notice{"Not compared", sentence(err)})
		return
	}
	if !slices.ContainsFunc(clusters, func(c *cluster.Cluster) bool { return c.Namespace != clusters[0].Namespace }) {
		a.Command = fmt.Sprintf("kubectl assay compare %s --namespace %s", strings.Join(names, " "), clusters[0].Namespace)
	}
	document(w, s.page("Compare", "runs"), a, d)
}
