package result

// ratio returns a divided by b, times scale: 100 for percent; 0 unless b is positive.
func ratio(a, b int64, scale float64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) * scale / float64(b)
}

// perSecond returns a count divided by a time in microseconds as a rate per second.
func perSecond(count, microseconds int64) float64 { return ratio(count, microseconds, 1e6) }

// percentOfLimit converts percent of one CPU to percent of a limit in thousandths
// of a CPU; 0 if there is no limit.
func percentOfLimit(percent float64, limitMillis int64) float64 {
	if limitMillis <= 0 {
		return 0
	}
	return percent * 1000 / float64(limitMillis)
}
