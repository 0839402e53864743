package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// waitingShare bounds the CPU time that a target uses while another variant is loaded, as a share of what it uses under load: the
	// other's result would lose at most as much if both had the same CPUs.
	waitingShare = 0.05
	// waitingCPUs is the least mean CPU use that counts: a hundredth of a CPU is the resolution of CPU times, over a second.
	waitingCPUs = 0.01
)

// waitingVariantBusy finds targets that were busy while other variants were loaded. They took CPU time from those, and had a part of their
// own work done outside of what was measured.
func waitingVariantBusy(r *result.Result) *result.Finding {
	w := r.Waiting
	if w == nil || w.Microseconds <= 0 {
		return nil
	}
	var loaded float64 // CPUs in use on average
	for _, c := range r.Containers() {
		if c.Usage != nil && c.Usage.DurationMicroseconds() > 0 {
			loaded += c.Usage.CPUPercent() / 100
		}
	}
	waiting := float64(w.CPU) / float64(w.Microseconds)
	if loaded <= 0 || waiting < waitingCPUs || waiting <= waitingShare*loaded {
		return nil
	}
	return found(ReasonWaitingVariantBusy, result.Warns,
		"The target used %.2f CPUs while other variants were loaded, %.0f%% of the %.2f that it used under load. It took CPU time from them, and work was done that is not measured. Warm up for longer, or run the variants one after the other.",
		waiting, 100*waiting/loaded, loaded)
}
