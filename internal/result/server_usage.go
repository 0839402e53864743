package result

// ServerUsage is what the processes of one container of the target's pod have
// used since they started. ServerFigures says what each figure is.
type ServerUsage struct {
	// At is the time of the sample: microseconds since the Unix epoch by the
	// manager's clock.
	At                  int64 `json:"atMicroseconds"`
	UserCPU             int64 `json:"userCPUMicroseconds"`
	SystemCPU           int64 `json:"systemCPUMicroseconds"`
	Resident            int64 `json:"residentBytes"`
	MaxResident         int64 `json:"maxResidentBytes"`
	MinorFaults         int64 `json:"minorFaults"`
	MajorFaults         int64 `json:"majorFaults"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	Threads             int64 `json:"threads"`
	Descriptors         int64 `json:"descriptors"`
	BytesReceived       int64 `json:"bytesReceived"`
	BytesSent           int64 `json:"bytesSent"`
	Throttled           int64 `json:"throttledMicroseconds"`
	// CPUs lists the CPUs that the server may run on, as in "0-3,8".
	CPUs string `json:"cpus"`
	// AgentCPUs lists the CPUs that the agent may run on: those that the server
	// shares with others, if it shares any.
	AgentCPUs string `json:"agentCPUs"`
}

// ServerFigures is the table of ServerUsage, but for At.
var ServerFigures = Table[ServerUsage]{
	{
		Name: "userCPUMicroseconds", Of: func(u *ServerUsage) *int64 { return &u.UserCPU },
		Unit: Microseconds, Help: "CPU time in user mode",
	},
	{
		Name: "systemCPUMicroseconds", Of: func(u *ServerUsage) *int64 { return &u.SystemCPU },
		Unit: Microseconds, Help: "CPU time in kernel mode",
	},
	{
		Name: "residentBytes", Of: func(u *ServerUsage) *int64 { return &u.Resident },
		Unit: Memory, Merging: Last, Help: "resident set",
	},
	{
		Name: "maxResidentBytes", Of: func(u *ServerUsage) *int64 { return &u.MaxResident },
		Unit: Memory, Merging: Max, Help: "largest resident set since the start",
	},
	{
		Name: "throttledMicroseconds", Of: func(u *ServerUsage) *int64 { return &u.Throttled },
		Unit: Microseconds, Optional: true, Label: "Throttled", Help: "time for which the server was throttled by its CPU limit",
	},
	{
		Name: "minorFaults", Of: func(u *ServerUsage) *int64 { return &u.MinorFaults },
		Label: "Page faults", Part: "minor", Help: "page faults without I/O",
	},
	{
		Name: "majorFaults", Of: func(u *ServerUsage) *int64 { return &u.MajorFaults },
		Label: "Page faults", Part: "major", Help: "page faults with I/O",
	},
	{
		Name: "voluntarySwitches", Of: func(u *ServerUsage) *int64 { return &u.VoluntarySwitches },
		Label: "Context switches", Part: "voluntary", Help: "context switches of threads that wait",
	},
	{
		Name: "involuntarySwitches", Of: func(u *ServerUsage) *int64 { return &u.InvoluntarySwitches },
		Label: "Context switches", Part: "involuntary", Help: "context switches of threads that were preempted",
	},
	{
		Name: "bytesReceived", Of: func(u *ServerUsage) *int64 { return &u.BytesReceived },
		Unit: Bytes, PodWide: true, Label: "Pod network", Part: "in", Help: "bytes received by the pod's interfaces, without loopback",
	},
	{
		Name: "bytesSent", Of: func(u *ServerUsage) *int64 { return &u.BytesSent },
		Unit: Bytes, PodWide: true, Label: "Pod network", Part: "out", Help: "bytes sent by the pod's interfaces, without loopback",
	},
	{
		Name: "threads", Of: func(u *ServerUsage) *int64 { return &u.Threads },
		Merging: Last, Optional: true, Label: "Threads", Help: "threads",
	},
	{
		Name: "descriptors", Of: func(u *ServerUsage) *int64 { return &u.Descriptors },
		Merging: Last, Optional: true, Label: "Open descriptors", Help: "open file descriptors",
	},
}

// CPU returns the CPU time in microseconds.
func (u *ServerUsage) CPU() int64 { return u.UserCPU + u.SystemCPU }

// WithoutPod returns the usage without the figures of the whole pod.
func (u ServerUsage) WithoutPod() ServerUsage {
	for i := range ServerFigures {
		if f := &ServerFigures[i]; f.PodWide {
			*f.Of(&u) = 0
		}
	}
	return u
}

// Server is what a container of the target's pod used between two samples: the
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

// Spent returns what the server used between the two samples: the differences of
// all that only grows, and all else as it was at the end. At is the time between
// the samples.
func (s *Server) Spent() ServerUsage {
	spent := s.End
	ServerFigures.Since(&spent, &s.Begin)
	spent.At = s.DurationMicroseconds()
	return spent
}

// CPUPercent returns the server's mean CPU time in percent of one CPU.
func (s *Server) CPUPercent() float64 {
	elapsed := s.DurationMicroseconds()
	if elapsed <= 0 {
		return 0
	}
	return 100 * float64(s.End.CPU()-s.Begin.CPU()) / float64(elapsed)
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
