package report

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

// warmupLine says what was sent before the measurement.
func warmupLine(w *result.Warmup) string {
	if w == nil {
		return "none"
	}
	return fmt.Sprintf("%d requests, %d failed, %d bytes in %.3f s, not in the result",
		w.Requests, w.Errors.Total(), w.BytesReceived, float64(w.DurationMicroseconds)/1e6)
}

// steadyLine says whether the target became steady by it, and by what figures;
// empty where that wasn't asked.
func steadyLine(w *result.Warmup) string {
	switch {
	case w == nil || w.Steady == nil:
		return ""
	case w.Steady.Reached:
		return "yes; " + steady.Describe(w.Steady)
	}
	return "NO; " + steady.Describe(w.Steady)
}
