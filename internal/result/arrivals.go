package result

// Arrivals shows how well an open load kept its rate. ArrivalMetrics describes each metric.
type Arrivals struct {
	Due                 int64 `json:"due" help:"requests to be made, dropped ones included"`
	PlannedMicroseconds int64 `json:"plannedMicroseconds" merging:"max" help:"time from the start in which they were to start"`
	StartedMicroseconds int64 `json:"startedMicroseconds" merging:"max" help:"time from the start until the last one really started, or was dropped"`
	NotStarted          int64 `json:"notStarted,omitempty" help:"those of them that were due when the load was stopped, and never started"`
}

// ArrivalMetrics is the table of Arrivals.
var ArrivalMetrics = tableOf[Arrivals]()

// TargetRatePerSecond returns the target rate: the rate at which requests were to start.
func (a *Arrivals) TargetRatePerSecond() float64 { return perSecond(a.Due, a.PlannedMicroseconds) }

// AchievedPerSecond returns the rate at which requests really started: those that were not dropped
// and did not wait when the load was stopped, divided by the time planned or, if they took longer to start, by that.
func (a *Arrivals) AchievedPerSecond(dropped int64) float64 {
	return perSecond(a.Due-dropped-a.NotStarted, max(a.PlannedMicroseconds, a.StartedMicroseconds))
}
