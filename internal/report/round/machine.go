package round

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/statistics"
)

// noteMachines says of which pairs the CPU time per request differs for target and clients alike. A target that needs
// more CPU time doesn't change that of the clients.
func (c *Comparison) noteMachines(pairs []pair) {
	for i := range pairs {
		p := &pairs[i]
		target, ok := changePercent(p, v1alpha1.MetricTargetCPUPerRequest)
		clients, both := changePercent(p, v1alpha1.MetricClientCPUPerRequest)
		if !ok || !both || !statistics.MachineDiffers(target, clients) {
			continue
		}
		which, slower := "", "slower"
		if p.cell != "" {
			which = " in " + p.cell
		}
		if target < 0 {
			slower = "faster"
		}
		was := "was"
		if len(differ(p.baseline.Specs, p.candidate.Specs, false)) > 0 {
			was = "may have been" // clients that do something else, or more of it at a time, also need other CPU time
		}
		c.Notes = append(c.Notes, fmt.Sprintf("The machine of %s %s %s%s: each request cost the target %s CPU time, and the clients %s.",
			c.Candidate.Name, was, slower, which, moreOrLess(target), moreOrLess(clients)))
	}
}

// moreOrLess returns a change in words: "95% more".
func moreOrLess(percent float64) string {
	word := "more"
	if percent < 0 {
		word = "less"
	}
	return fmt.Sprintf("%.0f%% %s", math.Abs(percent), word)
}

// changePercent returns the difference of the medians of a metric in percent of the baseline's.
func changePercent(p *pair, metric v1alpha1.BenchmarkMetric) (percent float64, known bool) {
	var medians [2]float64
	for i, g := range []*Group{p.baseline, p.candidate} {
		if medians[i], _ = median(g.Runs, metric); medians[i] <= 0 {
			return 0, false
		}
	}
	return 100 * (medians[1]/medians[0] - 1), true
}
