package report

import (
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// document is the result as it is stored, with the metrics that a reader without a
// histogram library would miss.
type document struct {
	*result.Result
	Summary summaryJSON `json:"summary"`
}

type summaryJSON struct {
	// Valid reports whether no finding invalidates the result, ThresholdsMet whether
	// all thresholds were met; omitted without any, and if the result is not valid.
	Valid         bool  `json:"valid"`
	ThresholdsMet *bool `json:"thresholdsMet,omitempty"`
	// StartSkewMicroseconds is the time between the first client's start and the last one's.
	StartSkewMicroseconds int64         `json:"startSkewMicroseconds"`
	Merged                metricsJSON   `json:"merged"`
	Clients               []metricsJSON `json:"clients"`
	// Containers are those of the target's pod whose usage is known, the server that
	// clients talk to first.
	Containers []map[string]any `json:"containers"`
	// Levels and Steps are the levels of a load with stages and the steps between them.
	Levels []levelJSON `json:"levels,omitempty"`
	Steps  []levelJSON `json:"steps,omitempty"`
}

func writeJSON(w io.Writer, r *result.Result) error {
	d := document{Result: r, Summary: summaryJSON{
		Valid:                 validity.Valid(r.Findings),
		StartSkewMicroseconds: r.StartSkewMicroseconds(),
		Merged: metricsJSON{
			RequestsPerSecond: r.RequestsPerSecond(),
			ErrorPercent:      r.Merged.ErrorPercent(),
			Latencies:         latenciesJSON(r.Merged.Latencies, mergedSummaries(r)),
		},
		Clients:    []metricsJSON{},
		Containers: containersJSON(r),
	}}
	d.Summary.Levels, d.Summary.Steps = levelsJSON(r, levelsOf(r)), levelsJSON(r, stepsOf(r))
	if len(r.Thresholds) > 0 && d.Summary.Valid {
		met := thresholdsMet(r.Thresholds)
		d.Summary.ThresholdsMet = &met
	}
	for i := range r.Clients {
		c := &r.Clients[i]
		d.Summary.Clients = append(d.Summary.Clients, metricsJSON{
			RequestsPerSecond: c.RequestsPerSecond(),
			ErrorPercent:      c.ErrorPercent(),
			Latencies:         latenciesJSON(c.Latencies, c.Summaries),
		})
	}
	return doc.WriteJSON(w, d)
}

// mergedSummaries returns the metrics of all clients where there are no histograms of them.
func mergedSummaries(r *result.Result) result.Summaries {
	var summaries result.Summaries
	if total := r.TotalSummary(); result.Prints(r.Run.Tool) && total.Count > 0 {
		summaries[result.Total] = &total
	}
	return summaries
}

// containersJSON returns the containers of known usage for JSON: what each used
// during the measurement, as differences and shares. Percentages of the limit are 0
// if the limit is unknown. Those of the full pod are with the server.
func containersJSON(r *result.Result) []map[string]any {
	all := []map[string]any{}
	for i, c := range r.Containers() {
		if c.Usage == nil {
			continue
		}
		container := map[string]any{
			"name":                  c.Name,
			"cpuLimitMillis":        c.CPULimit,
			"cpuPercentOfLimit":     c.Usage.CPUPercentOf(c.CPULimit),
			"peakCPUPercentOfLimit": c.Usage.PeakCPUPercentOf(c.CPULimit),
			"durationMicroseconds":  c.Usage.DurationMicroseconds(),
			"peakResidentBytes":     c.Usage.PeakResident,
		}
		spent := c.Usage.Spent()
		for j := range result.ServerMetrics {
			if f := &result.ServerMetrics[j]; i == 0 || !f.PodWide {
				container[f.Name] = *f.Of(&spent)
			}
		}
		all = append(all, container)
	}
	return all
}

// tableJSON is a table of runs.
type tableJSON struct {
	Runs []rowJSON `json:"runs"`
}

// rowJSON is a row, and whether its result is valid; omitted without a result.
type rowJSON struct {
	Row
	Valid *bool `json:"valid,omitempty"`
}

// writeTableJSON writes the rows as a document with the array "runs".
func writeTableJSON(w io.Writer, rows []Row) error {
	document := tableJSON{Runs: []rowJSON{}}
	for i := range rows {
		r := rowJSON{Row: rows[i]}
		if r.Merged != nil {
			valid := r.valid()
			r.Valid = &valid
		}
		document.Runs = append(document.Runs, r)
	}
	return doc.WriteJSON(w, document)
}
