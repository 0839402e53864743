package report

import "github.com/assay-dev/assay/internal/result"

// containersJSON returns the containers of known usage for JSON: what each used
// during the measurement, as differences and shares. Percentages of the limit are 0
// if the limit is unknown. The figures of the whole pod are with the server.
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
		for j := range result.ServerFigures {
			if f := &result.ServerFigures[j]; i == 0 || !f.PodWide {
				container[f.Name] = *f.Of(&spent)
			}
		}
		all = append(all, container)
	}
	return all
}
