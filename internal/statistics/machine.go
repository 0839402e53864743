package statistics

import "math"

const (
	// machinePercent is the difference of the CPU time per request, of target and clients, from which on a
	// machine counts as slower or faster: half of that between equal runs.
	machinePercent = 5.0
	// machineRatio is by how much one of the two may differ more than the other. What a machine does to both is
	// about the same.
	machineRatio = 2.0
)

// MachineDiffers reports whether the CPU time per request of target and clients differs between two sides, in percent, as
// it does if the machine of one of them was slower.
func MachineDiffers(target, clients float64) bool {
	less, more := min(math.Abs(target), math.Abs(clients)), max(math.Abs(target), math.Abs(clients))
	return target*clients > 0 && less >= machinePercent && more <= machineRatio*less
}
