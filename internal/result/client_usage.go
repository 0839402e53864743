package result

// ClientUsage is the usage of a client's machine by the client over some span of time.
type ClientUsage struct {
	UserCPU              int64 `json:"userCPUMicroseconds" help:"CPU time in user mode"`
	SystemCPU            int64 `json:"systemCPUMicroseconds" help:"CPU time in kernel mode"`
	Throttled            int64 `json:"throttledMicroseconds" optional:"true" label:"Throttled" column:"throttled" help:"time for which the client was throttled by its CPU limit"`
	MaxResident          int64 `json:"maxResidentBytes" unit:"memory" merging:"max" label:"Memory" part:"peak RSS" column:"peak RSS" help:"largest resident set since the client's start"`
	SchedulingLatencyP99 int64 `json:"schedulingLatencyP99Microseconds" merging:"max" label:"Scheduling latency" part:"p99" column:"sched p99" csv:"client_scheduler_lag_p99_ms" help:"99th percentile of the scheduling latency of what times responses, to within a quarter"`
	GCPause              int64 `json:"gcPauseMicroseconds" label:"GC pauses" part:"total" column:"GC" help:"time for which garbage collections stopped the client"`
	GCPauseMax           int64 `json:"gcPauseMaxMicroseconds" merging:"max" label:"GC pauses" part:"longest" column:"GC max" csv:"client_gc_pause_max_ms" help:"longest GC pause"`
	Naps                 int64 `json:"naps" help:"number of times that the client slept for a moment whatever arrived, so that the server didn't have to wake it up for each response"`
}

// ClientMetrics is the table of ClientUsage.
var ClientMetrics = tableOf[ClientUsage]()

// Add adds the usage of a later span of time, or of another client.
func (u *ClientUsage) Add(other ClientUsage) { ClientMetrics.Merge(u, &other) }

// CPU returns the CPU time in microseconds.
func (u *ClientUsage) CPU() int64 { return u.UserCPU + u.SystemCPU }
