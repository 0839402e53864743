package round

// LevelRun has the levels of a run of a load with stages.
type LevelRun struct {
	// Cell is the index of the run's cell.
	Cell int
	Run  string
	// Unit is the unit of the loads: "connections" or "requests/s".
	Unit   string
	Levels []LevelFigures
}

// LevelFigures are the figures of a level. Those that are unknown are negative.
type LevelFigures struct {
	Load int64
	// P50 and P99 are in milliseconds.
	P50, P99          float64
	RequestsPerSecond float64
	// CPUPercent is the CPU time of all of the target's containers in percent of their limits.
	CPUPercent float64
}
