package result

// ServerContainer is the name of the container with the server that clients talk to.
const ServerContainer = "server"

// ServerSample is a usage sample of the containers of the target's pod: what they
// have used up to one time.
type ServerSample struct {
	// Server is the usage of the server that clients talk to, with all processes that
	// are in none of the other containers.
	Server ServerUsage
	// Backends are the containers behind it, by name.
	Backends []BackendUsage
	// Node shows what happened around them; nil if that is unknown. Its counters are since any time.
	Node *NodeUsage
	// Governor is the frequency governor of the target's CPUs; empty if it is unknown.
	Governor string
	// Machine is that of the target's node.
	Machine Machine
}

// Machine is a node's machine. What is unknown is empty or 0.
type Machine struct {
	// CPUModel is the name that the CPU has for itself.
	CPUModel string `json:"cpuModel,omitempty"`
	// CPUs is the number of CPUs that are online.
	CPUs        int64 `json:"cpus,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	// MaxFrequency is the highest frequency of a CPU in kilohertz, as the driver or, without one, the CPU's description says.
	MaxFrequency int64 `json:"maxFrequencyKilohertz,omitempty"`
}

// BackendUsage is the usage of the processes of a container behind the server since they were
// first seen in it. Metrics of the whole pod are 0, since they are recorded with the server.
type BackendUsage struct {
	Name string
	ServerUsage
}

// Backend is a container behind the server that clients talk to, and what it used
// during the measurement. Metrics of the whole pod are 0.
type Backend struct {
	// Name is the container's name.
	Name string `json:"name"`
	Server
}

// BackendEnvironment holds the conditions of a container behind the server.
type BackendEnvironment struct {
	// Name is the container's name, Image its image as declared.
	Name    string `json:"name"`
	Image   string `json:"image"`
	ImageID string `json:"imageID"`
	// Configuration is the user's own of the container's server, as in Environment.
	Configuration *Configuration `json:"configuration,omitempty"`
	// CPULimit is in thousandths of a CPU.
	CPULimit int64 `json:"cpuLimitMillis"`
	// CPUs lists the CPUs that the container may run on. CPUExclusivity is Exclusive,
	// Shared or Unknown.
	CPUs           string `json:"cpus"`
	CPUExclusivity string `json:"cpuExclusivity"`
	// Cores lists all CPUs of the cores to which CPUs belong, empty if they are unknown.
	Cores string `json:"cores,omitempty"`
}

// Container is one container of the target's pod: its conditions and its usage.
type Container struct {
	// Name is ServerContainer or a backend's.
	Name string
	// CPULimit is in thousandths of a CPU.
	CPULimit int64
	// CPUs lists the CPUs that the container may run on. CPUExclusivity is Exclusive,
	// Shared or Unknown.
	CPUs, CPUExclusivity string
	// Cores lists all CPUs of the cores to which CPUs belong, empty if they are unknown.
	Cores string
	// Usage is nil if it is unknown.
	Usage *Server
}

// PodCPULimit returns the limit of all containers of the target together, in thousandths of a CPU: the shared one or
// the sum of their own. It is 0 if that of one of them is unknown.
func PodCPULimit(containers []Container, shared int64) int64 {
	sum := int64(0)
	for i := range containers {
		if containers[i].CPULimit <= 0 {
			return 0
		}
		sum += containers[i].CPULimit
	}
	if shared > 0 {
		return min(shared, sum)
	}
	return sum
}
