package report

import "github.com/assay-dev/assay/internal/result"

// containerJSON is what a container of the target's pod used during the
// measurement, as differences and shares. Percentages of the limit are 0 when
// the limit isn't known.
type containerJSON struct {
	// Name is "server" for the one that clients talk to.
	Name string `json:"name"`
	// CPULimitMillis is in thousandths of a CPU, 0 when it isn't known.
	CPULimitMillis        int64   `json:"cpuLimitMillis"`
	CPUPercentOfLimit     float64 `json:"cpuPercentOfLimit"`
	PeakCPUPercentOfLimit float64 `json:"peakCPUPercentOfLimit"`
	// DurationMicroseconds is the time between the two readings, in which it used
	// the CPU times.
	DurationMicroseconds  int64 `json:"durationMicroseconds"`
	UserCPUMicroseconds   int64 `json:"userCPUMicroseconds"`
	SystemCPUMicroseconds int64 `json:"systemCPUMicroseconds"`
	// ThrottledMicroseconds is -1 when it isn't known.
	ThrottledMicroseconds int64 `json:"throttledMicroseconds"`
	// PeakResidentBytes is the most during the measurement, MaxResidentBytes since
	// the start.
	PeakResidentBytes   int64 `json:"peakResidentBytes"`
	MaxResidentBytes    int64 `json:"maxResidentBytes"`
	MinorFaults         int64 `json:"minorFaults"`
	MajorFaults         int64 `json:"majorFaults"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Threads and Descriptors are those at the end; -1 when they aren't known.
	Threads     int64 `json:"threads"`
	Descriptors int64 `json:"descriptors"`
}

// containersJSON are the containers that were seen.
func containersJSON(r *result.Result) []containerJSON {
	all := []containerJSON{}
	for _, c := range r.Containers() {
		if c.Usage == nil {
			continue
		}
		spent := c.Usage.Spent()
		all = append(all, containerJSON{
			Name:                  c.Name,
			CPULimitMillis:        c.CPULimit,
			CPUPercentOfLimit:     c.Usage.CPUPercentOf(c.CPULimit),
			PeakCPUPercentOfLimit: c.Usage.PeakCPUPercentOf(c.CPULimit),
			DurationMicroseconds:  spent.At,
			UserCPUMicroseconds:   spent.UserCPU,
			SystemCPUMicroseconds: spent.SystemCPU,
			ThrottledMicroseconds: spent.Throttled,
			PeakResidentBytes:     c.Usage.PeakResident,
			MaxResidentBytes:      spent.MaxResident,
			MinorFaults:           spent.MinorFaults,
			MajorFaults:           spent.MajorFaults,
			VoluntarySwitches:     spent.VoluntarySwitches,
			InvoluntarySwitches:   spent.InvoluntarySwitches,
			Threads:               spent.Threads,
			Descriptors:           spent.Descriptors,
		})
	}
	return all
}
