package result

// Warmup holds the counts of the warm-up, over all clients. No other metric includes it.
type Warmup struct {
	Counts
	// DurationMicroseconds is the longest warm-up of a client.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// Steady reports whether the target became steady; nil for a warm-up of a number of
	// requests or a duration.
	Steady *Steadiness `json:"steady,omitempty"`
}

// Steadiness is the outcome of a warm-up that lasts until the target is steady.
type Steadiness struct {
	// Reached reports whether it became steady. Otherwise the warm-up timed out.
	Reached bool `json:"reached"`
	// ThroughputPercent and P99Percent are the bounds of the spreads.
	ThroughputPercent int64 `json:"throughputPercent"`
	P99Percent        int64 `json:"p99Percent"`
	// Windows are the last ones that were compared, in their order.
	Windows []WarmupWindow `json:"windows"`
}

// WarmupWindow holds the metrics of some seconds of a warm-up, over all clients.
type WarmupWindow struct {
	// Second is the first second from the warm-up's start, Seconds their number.
	Second  int64 `json:"second"`
	Seconds int64 `json:"seconds"`
	// Succeeded is the number of successful requests, P99 the 99th percentile of their
	// total time in microseconds.
	Succeeded int64 `json:"succeeded"`
	P99       int64 `json:"p99Microseconds"`
}

// PerSecond returns the window's throughput: successful requests per second.
func (w WarmupWindow) PerSecond() float64 { return perSecond(w.Succeeded, w.Seconds*1_000_000) }

// ThroughputSpread returns the spread of the throughputs of the windows, P99Spread
// that of their 99th percentiles: the difference between the largest and the
// smallest in percent of their mean; 0 without windows.
func (s *Steadiness) ThroughputSpread() float64 {
	return spread(s.Windows, func(w WarmupWindow) float64 { return w.PerSecond() })
}

// P99Spread is described at ThroughputSpread.
func (s *Steadiness) P99Spread() float64 {
	return spread(s.Windows, func(w WarmupWindow) float64 { return float64(w.P99) })
}

func spread(windows []WarmupWindow, metric func(WarmupWindow) float64) float64 {
	if len(windows) == 0 {
		return 0
	}
	least, most, sum := metric(windows[0]), metric(windows[0]), 0.0
	for _, w := range windows {
		f := metric(w)
		least, most, sum = min(least, f), max(most, f), sum+f
	}
	if sum == 0 {
		return 0
	}
	return 100 * (most - least) * float64(len(windows)) / sum
}
