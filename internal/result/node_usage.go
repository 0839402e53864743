package result

import "encoding/json"

// NodeUsage shows what happened around the processes of a pod: on the CPUs that its measured
// processes may run on ("the pod's CPUs"), on its node, and in its network namespace. A metric that
// the kernel doesn't have is Unknown, and absent in JSON. NodeMetrics describes each metric.
//
// The pod's CPU time is CPUTime - Idle - IOWait - Steal - OtherCPU. OtherCPU
// includes interrupts, unless the kernel charges them to the process that they interrupt (without
// CONFIG_IRQ_TIME_ACCOUNTING). So other processes used at least OtherCPU - HardIRQ - SoftIRQ, and at
// most OtherCPU.
type NodeUsage struct {
	CPUTime               int64 `json:"cpuTimeMicroseconds" optional:"true" help:"elapsed time multiplied by the number of the pod's CPUs"`
	Idle                  int64 `json:"idleMicroseconds" optional:"true" help:"time for which the pod's CPUs were idle"`
	OtherCPU              int64 `json:"otherCPUMicroseconds" optional:"true" help:"time for which the pod's CPUs did something else than run the pod's measured processes"`
	Steal                 int64 `json:"stealMicroseconds" optional:"true" help:"time for which the hypervisor ran something else on the pod's CPUs"`
	IOWait                int64 `json:"ioWaitMicroseconds" optional:"true" help:"time for which the pod's CPUs were idle while a task waited for a disk"`
	HardIRQ               int64 `json:"hardIRQMicroseconds" optional:"true" help:"time that the pod's CPUs spent in hardware interrupts, sampled at timer ticks"`
	SoftIRQ               int64 `json:"softIRQMicroseconds" optional:"true" help:"time that the pod's CPUs spent in software interrupts, most of which is network, sampled at timer ticks"`
	RunQueueWait          int64 `json:"runQueueWaitMicroseconds" optional:"true" label:"Run queue" part:"waited" help:"time for which tasks of any process waited for one of the pod's CPUs, summed"`
	RunQueue              int64 `json:"runQueueTasks" merging:"max" optional:"true" label:"Run queue" part:"tasks at most" help:"largest number of runnable tasks on the node, including running ones"`
	ContextSwitches       int64 `json:"contextSwitches" optional:"true" label:"Node's switches" help:"context switches on all CPUs of the node"`
	CPUPressure           int64 `json:"cpuPressureMicroseconds" optional:"true" label:"Pressure" part:"CPU" help:"time for which some task of the node waited for a CPU"`
	MemoryPressure        int64 `json:"memoryPressureMicroseconds" optional:"true" label:"Pressure" part:"memory" help:"time for which some task of the node waited for memory"`
	MemoryStall           int64 `json:"memoryStallMicroseconds" optional:"true" label:"Pressure" part:"memory, all tasks" help:"time for which all tasks of the node that were not idle waited for memory"`
	IOPressure            int64 `json:"ioPressureMicroseconds" optional:"true" label:"Pressure" part:"I/O" help:"time for which some task of the node waited for I/O"`
	IOStall               int64 `json:"ioStallMicroseconds" optional:"true" label:"Pressure" part:"I/O, all tasks" help:"time for which all tasks of the node that were not idle waited for I/O"`
	Frequency             int64 `json:"minFrequencyKilohertz" merging:"min" optional:"true" label:"CPU frequency" part:"kHz at least" help:"lowest frequency of a CPU of the pod"`
	PacketsProcessed      int64 `json:"packetsProcessed" optional:"true" label:"CPUs' packets" part:"processed" help:"packets of all network namespaces that the pod's CPUs processed in software interrupts"`
	PacketsDropped        int64 `json:"packetsDropped" optional:"true" label:"CPUs' packets" part:"dropped" help:"packets that the pod's CPUs dropped because their backlog was full"`
	PacketsReceived       int64 `json:"packetsReceived" optional:"true" label:"Packets" part:"in" help:"packets received by the pod's interfaces, without loopback"`
	PacketsSent           int64 `json:"packetsSent" optional:"true" label:"Packets" part:"out" help:"packets sent by the pod's interfaces, without loopback"`
	ReceiveDrops          int64 `json:"receiveDrops" optional:"true" label:"Packets" part:"dropped in" help:"packets that the pod's interfaces dropped or received with errors"`
	SendDrops             int64 `json:"sendDrops" optional:"true" label:"Packets" part:"dropped out" help:"packets that the pod's interfaces dropped or failed to send"`
	SegmentsSent          int64 `json:"segmentsSent" optional:"true" label:"TCP segments" part:"sent" help:"TCP segments sent by the pod"`
	SegmentsRetransmitted int64 `json:"segmentsRetransmitted" optional:"true" label:"TCP segments" part:"retransmitted" help:"TCP segments that the pod sent again"`
	ListenOverflows       int64 `json:"listenOverflows" optional:"true" label:"Accept queue" part:"overflows" help:"connections that found the accept queue of the pod's listening socket full"`
	ListenDrops           int64 `json:"listenDrops" optional:"true" label:"Accept queue" part:"drops" help:"connections that a listening socket of the pod dropped, for a full accept queue or any other reason"`
	AcceptQueue           int64 `json:"acceptQueue" merging:"max" optional:"true" label:"Accept queue" part:"connections at most" help:"largest number of connections in an accept queue of the pod at the time of a sample"`
	AcceptQueueLimit      int64 `json:"acceptQueueLimit" merging:"max" optional:"true" label:"Accept queue" part:"allowed" help:"limit of that accept queue"`
	Sockets               int64 `json:"sockets" merging:"max" optional:"true" label:"TCP sockets" part:"at most" help:"largest number of TCP sockets in the pod, without those in TIME_WAIT"`
	Established           int64 `json:"establishedSockets" merging:"max" optional:"true" label:"TCP sockets" part:"established" help:"largest number of TCP connections in the pod in the states ESTABLISHED and CLOSE_WAIT"`
	TimeWait              int64 `json:"timeWaitSockets" merging:"max" optional:"true" label:"TCP sockets" part:"in TIME_WAIT" help:"largest number of TCP connections in the pod in the state TIME_WAIT"`
	SpuriousRetransmits   int64 `json:"spuriousRetransmissions" optional:"true" label:"Spurious retransmits" help:"TCP segments that the pod sent again although they had arrived, as their receiver reported (DSACK, RFC 2883)"`
}

// NodeMetrics is the table of NodeUsage.
var NodeMetrics = tableOf[NodeUsage]()

// UnknownNode returns a NodeUsage without any metric.
func UnknownNode() *NodeUsage {
	u := &NodeUsage{}
	for i := range NodeMetrics {
		*NodeMetrics[i].Of(u) = Unknown
	}
	return u
}

// Add adds the metrics of a later span of time, or of another pod. The sum with nothing is the other.
func (u *NodeUsage) Add(other *NodeUsage) *NodeUsage {
	switch {
	case u == nil && other == nil:
		return nil
	case u == nil:
		sum := *other
		return &sum
	case other == nil:
		return UnknownNode()
	}
	NodeMetrics.Merge(u, other)
	return u
}

// CPUPercent returns one of the CPU times in percent of that of the pod's CPUs, or Unknown.
func (u *NodeUsage) CPUPercent(microseconds int64) float64 {
	if microseconds == Unknown || u.CPUTime <= 0 {
		return Unknown
	}
	return ratio(microseconds, u.CPUTime, 100)
}

// ProcessPercent returns the least that other processes used of the pod's CPUs, in percent: OtherCPU
// without interrupts, which the kernel may have charged to the pod. It is Unknown if any of them is.
func (u *NodeUsage) ProcessPercent() float64 {
	if u.OtherCPU == Unknown || u.HardIRQ == Unknown || u.SoftIRQ == Unknown {
		return Unknown
	}
	return u.CPUPercent(max(u.OtherCPU-u.HardIRQ-u.SoftIRQ, 0))
}

// Missing returns the names of the metrics that are Unknown.
func (u *NodeUsage) Missing() []string {
	var names []string
	for i := range NodeMetrics {
		if f := &NodeMetrics[i]; *f.Of(u) == Unknown {
			names = append(names, f.Name)
		}
	}
	return names
}

// MarshalJSON writes the metrics that are known.
func (u NodeUsage) MarshalJSON() ([]byte, error) { return json.Marshal(NodeMetrics.known(&u)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *NodeUsage) UnmarshalJSON(data []byte) error { return NodeMetrics.unmarshal(u, data) }
