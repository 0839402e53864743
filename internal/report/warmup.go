package report

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

// warmupLine says what was sent before the measurement, and whether the target
// became steady by it where that was asked for.
func warmupLine(w *result.Warmup) string {
	if w == nil {
		return "none"
	}
	line := fmt.Sprintf("%d requests, %d failed, %d bytes in %.3f s, not in the result",
		w.Requests, w.Errors.Total(), w.BytesReceived, float64(w.DurationMicroseconds)/1e6)
	if w.Steady == nil {
		return line
	}
	if w.Steady.Reached {
		return line + "; steady: " + steady.Describe(w.Steady)
	}
	return line + "; NOT STEADY: " + steady.Describe(w.Steady)
}
