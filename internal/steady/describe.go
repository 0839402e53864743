package steady

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// Describe returns the figures of the windows that were compared, and their spreads with the
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
