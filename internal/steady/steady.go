// Package steady decides whether a target is warmed up: whether its metrics have settled. It is
// pure, and the same in a run and without a cluster.
//
// The metrics of the last few windows of time must be close together, as Georges, Buytaert and
// Eeckhout require of the iterations of a Java benchmark ("Statistically Rigorous Java Performance
// Evaluation", OOPSLA 2007, section 3.3: the coefficient of variation of the last k below a
// threshold). Here the range divided by the mean is bounded, which for k windows is at least
// 2*sqrt((k-1)/k) times the coefficient of variation. It is the stricter of the two, and can be
// checked by looking at the windows.
package steady

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// MinRequests is the number of requests that a window needs: the 99th percentile of fewer requests
// is their maximum.
const MinRequests = 100

// Criterion is the condition that a steady target meets.
type Criterion struct {
	// WindowSeconds is the length of a window, Windows the number of windows that are compared.
	WindowSeconds, Windows int64
	// ThroughputPercent and P99Percent bound the spreads over the windows; see result.Steadiness.
	ThroughputPercent, P99Percent int64
	// TimeoutSeconds is the timeout of the warm-up. After it, only active requests complete.
	TimeoutSeconds int64
}

// Defaults holds the defaults of a BenchmarkRun's spec.warmup.steady.
var Defaults = Criterion{WindowSeconds: 5, Windows: 3, ThroughputPercent: 5, P99Percent: 25, TimeoutSeconds: 300}

// Judge reports whether the last windows meet the criterion. The windows must be in their order.
func (c Criterion) Judge(windows []result.WarmupWindow) *result.Steadiness {
	windows = windows[max(0, int64(len(windows))-c.Windows):]
	s := &result.Steadiness{ThroughputPercent: c.ThroughputPercent, P99Percent: c.P99Percent, Windows: windows}
	if int64(len(windows)) < c.Windows {
		return s
	}
	for i, w := range windows {
		if w.Succeeded < MinRequests || i > 0 && w.Second != windows[i-1].Second+windows[i-1].Seconds {
			return s
		}
	}
	s.Reached = s.ThroughputSpread() <= float64(c.ThroughputPercent) && s.P99Spread() <= float64(c.P99Percent)
	return s
}

// Describe returns the metrics of the windows that were compared, and their spreads with the
// bounds: "requests/s of the last 3 windows of 5s: 812.2, 903.4, 1001.0 (spread 20.8%, bound 5%);
// p99 in ms: 3.1, 2.9, 2.8 (spread 10.2%, bound 25%)".
func Describe(s *result.Steadiness) string {
	if len(s.Windows) == 0 {
		return "no windows were compared"
	}
	var rates, latencies []string
	few := false
	for _, w := range s.Windows {
		rates = append(rates, strconv.FormatFloat(w.PerSecond(), 'f', 1, 64))
		latencies = append(latencies, strconv.FormatFloat(float64(w.P99)/1000, 'f', -1, 64))
		few = few || w.Succeeded < MinRequests
	}
	text := fmt.Sprintf("requests/s of the last %d windows of %ds: %s (spread %.1f%%, bound %d%%); p99 in ms: %s (spread %.1f%%, bound %d%%)",
		len(s.Windows), s.Windows[0].Seconds, strings.Join(rates, ", "), s.ThroughputSpread(), s.ThroughputPercent,
		strings.Join(latencies, ", "), s.P99Spread(), s.P99Percent)
	if few {
		text += fmt.Sprintf("; a window had fewer than %d successful requests, too few for a 99th percentile", MinRequests)
	}
	return text
}
