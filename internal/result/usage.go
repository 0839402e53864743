package result

// percentOfLimit turns percent of one CPU into percent of a limit in
// thousandths of a CPU; 0 when there is no limit.
func percentOfLimit(percent float64, limitMillis int64) float64 {
	if limitMillis <= 0 {
		return 0
	}
	return percent * 1000 / float64(limitMillis)
}

// CPUPercent is the client's mean CPU time in percent of one CPU.
func (t *Totals) CPUPercent() float64 {
	elapsed := t.DurationMicroseconds()
	if elapsed <= 0 {
		return 0
	}
	return 100 * float64(t.Usage.UserCPU+t.Usage.SystemCPU) / float64(elapsed)
}

// CPUPercentOf is the client's mean CPU time in percent of a limit in
// thousandths of a CPU; 0 when there is no limit.
func (t *Totals) CPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(t.CPUPercent(), limitMillis)
}

// CPUPercentOf is the server's mean CPU time in percent of a limit in
// thousandths of a CPU; 0 when there is no limit.
func (s *Server) CPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(s.CPUPercent(), limitMillis)
}

// PeakCPUPercentOf is PeakCPUPercent in percent of a limit in thousandths of a
// CPU; 0 when there is no limit.
func (s *Server) PeakCPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(s.PeakCPUPercent, limitMillis)
}

// DurationMicroseconds is the time between the two readings.
func (s *Server) DurationMicroseconds() int64 { return s.End.At - s.Begin.At }

// Spent is what the server used between the two readings: the differences of
// all that only grows, and the levels (Resident, MaxResident, Threads,
// Descriptors, CPUs) as they were at the end. At is the time between the
// readings. Throttled is -1 when either reading lacks it.
func (s *Server) Spent() ServerUsage {
	spent := s.End
	spent.At -= s.Begin.At
	spent.UserCPU -= s.Begin.UserCPU
	spent.SystemCPU -= s.Begin.SystemCPU
	spent.MinorFaults -= s.Begin.MinorFaults
	spent.MajorFaults -= s.Begin.MajorFaults
	spent.VoluntarySwitches -= s.Begin.VoluntarySwitches
	spent.InvoluntarySwitches -= s.Begin.InvoluntarySwitches
	spent.BytesReceived -= s.Begin.BytesReceived
	spent.BytesSent -= s.Begin.BytesSent
	if s.Begin.Throttled < 0 || s.End.Throttled < 0 {
		spent.Throttled = -1
	} else {
		spent.Throttled -= s.Begin.Throttled
	}
	return spent
}
