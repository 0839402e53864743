package result

// ServerUsage is the usage of the processes of one container of the target's pod
// since they started. ServerMetrics describes each metric.
type ServerUsage struct {
	// At is the time of the sample: microseconds since the Unix epoch by the manager's clock.
	At                  int64 `json:"atMicroseconds"`
	UserCPU             int64 `json:"userCPUMicroseconds" help:"CPU time in user mode"`
	SystemCPU           int64 `json:"systemCPUMicroseconds" help:"CPU time in kernel mode"`
	Resident            int64 `json:"residentBytes" unit:"memory" merging:"last" help:"resident set"`
	MaxResident         int64 `json:"maxResidentBytes" unit:"memory" merging:"max" help:"largest resident set since the start"`
	Throttled           int64 `json:"throttledMicroseconds" optional:"true" label:"Throttled" help:"time for which the server was throttled by its CPU limit"`
	MinorFaults         int64 `json:"minorFaults" label:"Page faults" part:"minor" help:"page faults without I/O"`
	MajorFaults         int64 `json:"majorFaults" label:"Page faults" part:"major" help:"page faults with I/O"`
	VoluntarySwitches   int64 `json:"voluntarySwitches" label:"Context switches" part:"voluntary" help:"context switches of threads that wait"`
	InvoluntarySwitches int64 `json:"involuntarySwitches" label:"Context switches" part:"involuntary" help:"context switches of threads that were preempted"`
	BytesReceived       int64 `json:"bytesReceived" unit:"bytes" pod:"true" label:"Pod network" part:"in" help:"bytes received by the pod's interfaces, without loopback"`
	BytesSent           int64 `json:"bytesSent" unit:"bytes" pod:"true" label:"Pod network" part:"out" help:"bytes sent by the pod's interfaces, without loopback"`
	Threads             int64 `json:"threads" merging:"last" optional:"true" label:"Threads" help:"threads"`
	Descriptors         int64 `json:"descriptors" merging:"last" optional:"true" label:"Open descriptors" help:"open file descriptors"`
	GCPauses            int64 `json:"gcPauses" optional:"true" help:"pauses of the container's Java virtual machines for garbage collections"`
	GCPause             int64 `json:"gcPauseMicroseconds" optional:"true" help:"total duration of the GC pauses"`
	GCPauseMax          int64 `json:"gcPauseMaxMicroseconds" merging:"max" optional:"true" help:"longest GC pause since the previous sample; of a measurement, the longest in it"`
	HeapUsed            int64 `json:"heapUsedBytes" unit:"memory" merging:"last" optional:"true" help:"memory in use in the heap after the last garbage collection, in whole units of the log, most often MiB"`
	DescriptorLimit     int64 `json:"descriptorLimit" merging:"last" optional:"true" label:"Descriptor limit" help:"open file descriptors that the container's first process may have (RLIMIT_NOFILE)"`
	CompilerCPU         int64 `json:"compilerCPUMicroseconds" optional:"true" help:"CPU time of the threads in which the container's Java virtual machines compile"`
	// CPUs lists the CPUs that the server may run on, as in "0-3,8".
	CPUs string `json:"cpus"`
	// Cores lists all CPUs of the cores to which those belong: more than CPUs has if a core has several threads
	// (SMT). It is empty if that is unknown.
	Cores string `json:"cores,omitempty"`
	// AgentCPUs lists the CPUs that the agent may run on: those that the server
	// shares with others, if it shares any.
	AgentCPUs string `json:"agentCPUs"`
}

// ServerErrors are the errors in the log of a server while it was under load.
type ServerErrors struct {
	// Container is the server's.
	Container string `json:"container"`
	// Lines is the number of lines that the server marks as errors, First the first of them.
	Lines int64  `json:"lines"`
	First string `json:"first"`
}

// ServerMetrics is the table of ServerUsage, but for At.
var ServerMetrics = tableOf[ServerUsage]()

// CPU returns the CPU time in microseconds.
func (u *ServerUsage) CPU() int64 { return u.UserCPU + u.SystemCPU }

// WithoutPod returns the usage without the metrics of the whole pod.
func (u ServerUsage) WithoutPod() ServerUsage {
	for i := range ServerMetrics {
		if f := &ServerMetrics[i]; f.PodWide {
			*f.Of(&u) = 0
		}
	}
	return u
}

// Server is the usage of a container of the target's pod between two samples: the
// last before the measurement began and the first after it ended.
type Server struct {
	Begin ServerUsage `json:"begin"`
	End   ServerUsage `json:"end"`
	// PeakCPUPercent is the largest CPU time of any second, in percent of one CPU.
	PeakCPUPercent float64 `json:"peakCPUPercent"`
	// PeakResident is the largest resident set during the measurement, in bytes.
	PeakResident int64 `json:"peakResidentBytes"`
}

// DurationMicroseconds returns the time between the two samples.
func (s *Server) DurationMicroseconds() int64 { return s.End.At - s.Begin.At }

// Spent returns what the server used between the two samples: the differences of all that only
// grows, and all else as it was at the end. At is the time between the samples.
func (s *Server) Spent() ServerUsage {
	spent := s.End
	ServerMetrics.Since(&spent, &s.Begin)
	spent.At = s.DurationMicroseconds()
	return spent
}

// CPUPercent returns the server's mean CPU time in percent of one CPU.
func (s *Server) CPUPercent() float64 {
	return ratio(s.End.CPU()-s.Begin.CPU(), s.DurationMicroseconds(), 100)
}

// CPUPercentOf returns the server's mean CPU time in percent of a limit in
// thousandths of a CPU; 0 if there is no limit.
func (s *Server) CPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(s.CPUPercent(), limitMillis)
}

// PeakCPUPercentOf returns PeakCPUPercent in percent of a limit in thousandths of
// a CPU; 0 if there is no limit.
func (s *Server) PeakCPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(s.PeakCPUPercent, limitMillis)
}
