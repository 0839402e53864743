package result

// Arrivals is how well an open load kept its rate. ArrivalFigures says what each
// figure is.
type Arrivals struct {
	Due                 int64 `json:"due"`
	PlannedMicroseconds int64 `json:"plannedMicroseconds"`
	StartedMicroseconds int64 `json:"startedMicroseconds"`
}

// ArrivalFigures is the table of Arrivals.
var ArrivalFigures = Table[Arrivals]{
	{
		Name: "due", Of: func(a *Arrivals) *int64 { return &a.Due },
		Help: "requests to be made, dropped ones included",
	},
	{
		Name: "plannedMicroseconds", Of: func(a *Arrivals) *int64 { return &a.PlannedMicroseconds },
		Unit: Microseconds, Merging: Max, Help: "time from the start in which they were to start",
	},
	{
		Name: "startedMicroseconds", Of: func(a *Arrivals) *int64 { return &a.StartedMicroseconds },
		Unit: Microseconds, Merging: Max, Help: "time from the start until the last one really started, or was dropped",
	},
}

// TargetRatePerSecond returns the target rate: the rate at which requests were to start.
func (a *Arrivals) TargetRatePerSecond() float64 { return perSecond(a.Due, a.PlannedMicroseconds) }

// AchievedPerSecond returns the rate at which requests really started: those that
// were not dropped, divided by the time planned or, if they took longer to start,
// by that.
func (a *Arrivals) AchievedPerSecond(dropped int64) float64 {
	return perSecond(a.Due-dropped, max(a.PlannedMicroseconds, a.StartedMicroseconds))
}

// mergeArrivals merges the arrivals of all clients; nil if none has any.
func mergeArrivals(clients []Client) *Arrivals {
	var merged *Arrivals
	for i := range clients {
		if a := clients[i].Arrivals; a != nil {
			if merged == nil {
				merged = &Arrivals{}
			}
			ArrivalFigures.Merge(merged, a)
		}
	}
	return merged
}
