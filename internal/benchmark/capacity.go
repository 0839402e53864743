package benchmark

import (
	"github.com/assay-dev/assay/api/v1alpha1"
)

// Capacity is the largest load that a cell sustains, as far as its search has come.
type Capacity struct {
	Cell int `json:"cell"`
	// Sustained is the largest load that was sustained, Failed the smallest above it that wasn't; 0 for
	// none. Both are in the unit of the field that is searched for.
	Sustained int64 `json:"sustained,omitempty"`
	Failed    int64 `json:"failed,omitempty"`
	// Limit says what ended the search; empty while it goes on.
	Limit v1alpha1.CapacityLimit `json:"limit,omitempty"`
	// Trials is the number of valid trials.
	Trials int `json:"trials"`
	// AchievedPerSecond is the rate over all clients at Sustained: the median of the trials that passed. The
	// metrics below are medians of the same trials; 0 if they are unknown.
	AchievedPerSecond float64 `json:"achievedPerSecond,omitempty"`
	// RequestsPerDay is that rate over 24 hours.
	RequestsPerDay float64 `json:"requestsPerDay,omitempty"`
	// BytesPerSecond is the bandwidth that the clients received.
	BytesPerSecond float64 `json:"bytesPerSecond,omitempty"`
	// CPUSecondsPerMillionRequests is the CPU time of the target.
	CPUSecondsPerMillionRequests float64 `json:"cpuSecondsPerMillionRequests,omitempty"`
	// BytesPerConnection is the largest memory of the target divided by the connections of closed load.
	BytesPerConnection float64 `json:"bytesPerConnection,omitempty"`
}
