package report

import "github.com/assay-dev/assay/internal/result"

// levelJSON holds the metrics of a level, or of a step between levels, for a reader without a histogram library.
type levelJSON struct {
	// Load is the number of connections or the rate of all clients. LoadFrom is that at the start of
	// a step.
	Load     int64  `json:"load"`
	LoadFrom *int64 `json:"loadFrom,omitempty"`
	metricsJSON
	// BytesPerSecond counts the bytes of responses.
	BytesPerSecond float64 `json:"bytesPerSecond"`
	// CPUPercentOfLimit holds the CPU usage of the target's containers in percent of their limits by
	// name, PodCPUPercentOfLimit that of all in percent of the sum of these.
	CPUPercentOfLimit    map[string]float64 `json:"cpuPercentOfLimit"`
	PodCPUPercentOfLimit *float64           `json:"podCPUPercentOfLimit,omitempty"`
	// IdlePercent is the time in percent for which the CPUs that the target may use were idle.
	IdlePercent *float64 `json:"idlePercent,omitempty"`
}

func levelsJSON(r *result.Result, parts []part) []levelJSON {
	containers := r.Containers()
	var all []levelJSON
	for i := range parts {
		p := &parts[i]
		l := levelJSON{
			Load: p.Load(), BytesPerSecond: p.BytesPerSecond(), CPUPercentOfLimit: map[string]float64{},
			metricsJSON: metricsJSON{
				RequestsPerSecond: p.RequestsPerSecond(), ErrorPercent: p.ErrorPercent(), Latencies: latenciesJSON(p.Latencies, p.Summaries),
			},
		}
		if p.step {
			l.LoadFrom = &p.from
		}
		for _, c := range containers {
			if percent := p.CPUPercent(p.CPUOf(c.Name), c.CPULimit); percent >= 0 {
				l.CPUPercentOfLimit[c.Name] = percent
			}
		}
		if percent := p.PodCPUPercent(containers, r.Environment.SharedCPULimit); percent >= 0 {
			l.PodCPUPercentOfLimit = &percent
		}
		if p.Node != nil {
			if percent := p.Node.CPUPercent(p.Node.Idle); percent >= 0 {
				l.IdlePercent = &percent
			}
		}
		all = append(all, l)
	}
	return all
}
