package result

// ClientUsage is what a client used of its machine over some span of time.
// ClientFigures says what each figure is.
type ClientUsage struct {
	UserCPU              int64 `json:"userCPUMicroseconds"`
	SystemCPU            int64 `json:"systemCPUMicroseconds"`
	Throttled            int64 `json:"throttledMicroseconds"`
	MaxResident          int64 `json:"maxResidentBytes"`
	SchedulingLatencyP99 int64 `json:"schedulerLagP99Microseconds"`
	GCPause              int64 `json:"gcPauseMicroseconds"`
	GCPauseMax           int64 `json:"gcPauseMaxMicroseconds"`
}

// ClientFigures is the table of ClientUsage.
var ClientFigures = Table[ClientUsage]{
	{
		Name: "userCPUMicroseconds", Of: func(u *ClientUsage) *int64 { return &u.UserCPU },
		Unit: Microseconds, Help: "CPU time in user mode",
	},
	{
		Name: "systemCPUMicroseconds", Of: func(u *ClientUsage) *int64 { return &u.SystemCPU },
		Unit: Microseconds, Help: "CPU time in kernel mode",
	},
	{
		Name: "throttledMicroseconds", Of: func(u *ClientUsage) *int64 { return &u.Throttled },
		Unit: Microseconds, Optional: true, Label: "Throttled", Column: "throttled",
		Help: "time for which the client was throttled by its CPU limit",
	},
	{
		Name: "maxResidentBytes", Of: func(u *ClientUsage) *int64 { return &u.MaxResident },
		Unit: Memory, Merging: Max, Label: "Memory", Part: "peak RSS", Column: "peak RSS",
		Help: "largest resident set since the client's start",
	},
	{
		Name: "schedulerLagP99Microseconds", Of: func(u *ClientUsage) *int64 { return &u.SchedulingLatencyP99 },
		Unit: Microseconds, Merging: Max, Label: "Scheduling latency", Part: "p99", Column: "sched p99", CSV: "client_scheduler_lag_p99_ms",
		Help: "99th percentile of the time that runnable goroutines waited for a CPU, to within a quarter; the largest of several seconds or clients",
	},
	{
		Name: "gcPauseMicroseconds", Of: func(u *ClientUsage) *int64 { return &u.GCPause },
		Unit: Microseconds, Label: "GC pauses", Part: "total", Column: "GC",
		Help: "time for which garbage collections stopped the client",
	},
	{
		Name: "gcPauseMaxMicroseconds", Of: func(u *ClientUsage) *int64 { return &u.GCPauseMax },
		Unit: Microseconds, Merging: Max, Label: "GC pauses", Part: "longest", Column: "GC max", CSV: "client_gc_pause_max_ms",
		Help: "longest GC pause",
	},
}

// Add adds the usage of a later span of time, or of another client.
func (u *ClientUsage) Add(other ClientUsage) { ClientFigures.Merge(u, &other) }

// CPU returns the CPU time in microseconds.
func (u *ClientUsage) CPU() int64 { return u.UserCPU + u.SystemCPU }

// CPUPercent returns the client's mean CPU time in percent of one CPU.
func (t *Totals) CPUPercent() float64 {
	elapsed := t.DurationMicroseconds()
	if elapsed <= 0 {
		return 0
	}
	return 100 * float64(t.Usage.CPU()) / float64(elapsed)
}

// CPUPercentOf returns the client's mean CPU time in percent of a limit in
// thousandths of a CPU; 0 if there is no limit.
func (t *Totals) CPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(t.CPUPercent(), limitMillis)
}

// percentOfLimit converts percent of one CPU to percent of a limit in thousandths
// of a CPU; 0 if there is no limit.
func percentOfLimit(percent float64, limitMillis int64) float64 {
	if limitMillis <= 0 {
		return 0
	}
	return percent * 1000 / float64(limitMillis)
}
