package result

// Arrivals is how well an open load kept its rate.
type Arrivals struct {
	// Due is the number of requests that were meant to be made, dropped ones
	// included.
	Due int64 `json:"due"`
	// PlannedMicroseconds is the time from the start instant in which they were
	// meant to start; StartedMicroseconds the time from there until the last one
	// really started, or had to be dropped.
	PlannedMicroseconds int64 `json:"plannedMicroseconds"`
	StartedMicroseconds int64 `json:"startedMicroseconds"`
}

// add pools the arrivals of another client.
func (a *Arrivals) add(other *Arrivals) {
	a.Due += other.Due
	a.PlannedMicroseconds = max(a.PlannedMicroseconds, other.PlannedMicroseconds)
	a.StartedMicroseconds = max(a.StartedMicroseconds, other.StartedMicroseconds)
}

// AskedPerSecond is the rate at which requests were meant to start.
func (a *Arrivals) AskedPerSecond() float64 { return perSecond(a.Due, a.PlannedMicroseconds) }

// AchievedPerSecond is the rate at which requests really started: those that
// weren't dropped, by the time planned or, when they took longer to start, by
// that.
func (a *Arrivals) AchievedPerSecond(dropped int64) float64 {
	return perSecond(a.Due-dropped, max(a.PlannedMicroseconds, a.StartedMicroseconds))
}

// mergeArrivals pools the arrivals of all clients; nil when none has any.
func mergeArrivals(clients []Client) *Arrivals {
	var merged *Arrivals
	for i := range clients {
		if a := clients[i].Arrivals; a != nil {
			if merged == nil {
				merged = &Arrivals{}
			}
			merged.add(a)
		}
	}
	return merged
}
