package report

import (
	"encoding/json"

	"github.com/assay-dev/assay/internal/result"
)

// containerJSON is what a container of the target's pod used during the
// measurement, as differences and shares. Percentages of the limit are 0 if the
// limit is unknown.
type containerJSON struct {
	// Name is "server" for the one that clients talk to.
	Name string `json:"name"`
	// CPULimitMillis is in thousandths of a CPU, 0 if it is unknown.
	CPULimitMillis        int64   `json:"cpuLimitMillis"`
	CPUPercentOfLimit     float64 `json:"cpuPercentOfLimit"`
	PeakCPUPercentOfLimit float64 `json:"peakCPUPercentOfLimit"`
	// DurationMicroseconds is the time between the two samples.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// PeakResidentBytes is the largest resident set during the measurement.
	PeakResidentBytes int64 `json:"peakResidentBytes"`
	// spent is written by the names of its figures.
	spent result.ServerUsage
}

// MarshalJSON writes the fields and, between them, the figures of spent.
func (c containerJSON) MarshalJSON() ([]byte, error) {
	type fields containerJSON
	encoded, err := json.Marshal(fields(c))
	if err != nil {
		return nil, err
	}
	merged := map[string]json.RawMessage{}
	if err := json.Unmarshal(encoded, &merged); err != nil {
		return nil, err
	}
	for i := range result.ServerFigures {
		f := &result.ServerFigures[i]
		if f.PodWide && c.Name != result.ServerContainer {
			continue
		}
		if merged[f.Name], err = json.Marshal(f.Of(&c.spent)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(merged)
}

// containersJSON returns the containers whose usage is known.
func containersJSON(r *result.Result) []containerJSON {
	all := []containerJSON{}
	for _, c := range r.Containers() {
		if c.Usage == nil {
			continue
		}
		all = append(all, containerJSON{
			Name:                  c.Name,
			CPULimitMillis:        c.CPULimit,
			CPUPercentOfLimit:     c.Usage.CPUPercentOf(c.CPULimit),
			PeakCPUPercentOfLimit: c.Usage.PeakCPUPercentOf(c.CPULimit),
			DurationMicroseconds:  c.Usage.DurationMicroseconds(),
			PeakResidentBytes:     c.Usage.PeakResident,
			spent:                 c.Usage.Spent(),
		})
	}
	return all
}
