package report

import (
	"bytes"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

// writeWarmup writes what was sent before the measurement and, if the warm-up was
// to last until the target is steady, whether it became so and by which figures.
func writeWarmup(w *bytes.Buffer, warmup *result.Warmup) {
	if warmup == nil {
		line(w, "Warm-up:", "none")
		return
	}
	line(w, "Warm-up:", "%d requests, %d failed, %d bytes in %s, not in the result",
		warmup.Requests, warmup.Errors.Total(), warmup.BytesReceived, secondsText(warmup.DurationMicroseconds))
	if warmup.Steady == nil {
		return
	}
	reached := "NO"
	if warmup.Steady.Reached {
		reached = "yes"
	}
	line(w, "Steady after it:", "%s; %s", reached, steady.Describe(warmup.Steady))
}
