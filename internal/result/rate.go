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

// RequestsPerSecond returns the successful requests of all clients divided by the
// time from the first client's start to the last client's end.
func (r *Result) RequestsPerSecond() float64 {
	return perSecond(r.Merged.Succeeded(), r.DurationMicroseconds)
}

// RequestsPerSecond returns the successful requests divided by the time that this client measured.
func (t *Totals) RequestsPerSecond() float64 {
	return perSecond(t.Succeeded(), t.DurationMicroseconds())
}

// StartSkewMicroseconds returns the time between the first client's start and the last one's,
// computed from their distances to the common start time. It is 0 with fewer than two clients.
func (r *Result) StartSkewMicroseconds() int64 {
	if len(r.Clients) == 0 {
		return 0
	}
	least, most := r.Clients[0].StartSkewMicroseconds, r.Clients[0].StartSkewMicroseconds
	for i := range r.Clients {
		skew := r.Clients[i].StartSkewMicroseconds
		least, most = min(least, skew), max(most, skew)
	}
	return most - least
}
