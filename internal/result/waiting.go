package result

// WaitingUsage counts the use of a target whose load alternates with others, while those were loaded: between usage samples from which on
// others were loaded until the next one.
type WaitingUsage struct {
	// Microseconds is the length of that time.
	Microseconds int64 `json:"microseconds"`
	// CPU is the CPU time of all containers.
	CPU int64 `json:"cpuMicroseconds"`
}
