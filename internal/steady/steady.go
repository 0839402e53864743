// Package steady decides whether a target is warmed up: whether its figures have
// settled. It is pure, and the same for a run and for a client alone.
//
// The figures of the last few windows of time must lie close together, as
// Georges, Buytaert and Eeckhout have the iterations of a Java benchmark do
// ("Statistically Rigorous Java Performance Evaluation", OOPSLA 2007, section
// 3.3: the coefficient of variation of the last k below a threshold). What is
// bounded here is the range by the mean, which of k windows is at least
// 2*sqrt((k-1)/k) times the coefficient of variation: the stricter of the two, and
// plain to see from the windows themselves.
package steady

import "github.com/assay-dev/assay/internal/result"

// FewestRequests must have succeeded in a window: the 99th percentile of fewer is
// their maximum.
const FewestRequests = 100

// Criterion is what a steady target meets.
type Criterion struct {
	// WindowSeconds is the length of a window, Windows how many are compared.
	WindowSeconds, Windows int64
	// ThroughputPercent and P99Percent bound the spreads over the windows; see
	// result.Steadiness.
	ThroughputPercent, P99Percent int64
	// LimitSeconds is how long the warm-up takes at most. In the seconds after it
	// requests end that began before, but none begins.
	LimitSeconds int64
}

// Defaults are those of a BenchmarkRun's spec.warmup.steady.
var Defaults = Criterion{WindowSeconds: 5, Windows: 3, ThroughputPercent: 5, P99Percent: 25, LimitSeconds: 300}

// Judge says whether the last of some windows, which are in their order, meet the
// criterion.
func (c Criterion) Judge(windows []result.WarmupWindow) *result.Steadiness {
	windows = windows[max(0, int64(len(windows))-c.Windows):]
	s := &result.Steadiness{ThroughputPercent: c.ThroughputPercent, P99Percent: c.P99Percent, Windows: windows}
	if int64(len(windows)) < c.Windows {
		return s
	}
	for i, w := range windows {
		if w.Succeeded < FewestRequests || i > 0 && w.Second != windows[i-1].Second+windows[i-1].Seconds {
			return s
		}
	}
	s.Reached = s.ThroughputSpread() <= float64(c.ThroughputPercent) && s.P99Spread() <= float64(c.P99Percent)
	return s
}
