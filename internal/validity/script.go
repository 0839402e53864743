package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// droppedWarnsShare of the iterations is as droppedInvalidatesShare, but less.
	// Both are as those of an open load's rate.
	droppedWarnsShare       = shortfallWarnsPercent / 100
	droppedInvalidatesShare = shortfallInvalidatesPercent / 100
)

// scriptFailed: the script itself says that it didn't do what it should.
func scriptFailed(r *result.Result) *result.Finding {
	if r.Script == nil || len(r.Script.MarkedFailed) == 0 {
		return nil
	}
	return invalidates(ReasonScriptMarkedFailed, "the script called test.fail() on %s: see the clients' logs, which spec.podRetention keeps",
		clientList(r.Script.MarkedFailed))
}

// loadEndedEarly: a threshold with abortOnFail has ended the load of a client, so
// that the target had less than the script says.
func loadEndedEarly(r *result.Result) *result.Finding {
	if r.Script == nil || len(r.Script.EndedEarly) == 0 {
		return nil
	}
	return invalidates(ReasonLoadEndedEarly, "a threshold of the script with abortOnFail was crossed on %s, which ended the load there: see thresholds",
		clientList(r.Script.EndedEarly))
}

// teardownFailed: what teardown() was to undo may be left.
func teardownFailed(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.TeardownError == "" {
		return nil
	}
	return warns(ReasonTeardownFailed, "the script's teardown() failed: %s; what was measured stands, what teardown() was to undo may be left", r.Script.TeardownError)
}

// iterationsDropped: with an arrival rate k6 begins no iteration for which no
// virtual user is free, so that the target had less than the script says.
func iterationsDropped(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.DroppedIterations == 0 {
		return nil
	}
	dropped, all := r.Script.DroppedIterations, r.Script.DroppedIterations+r.Script.Iterations
	const format = "%d of %d iterations were dropped, since no virtual user was free; raise maxVUs, or lower the rate"
	switch share := float64(dropped) / float64(all); {
	case share >= droppedInvalidatesShare:
		return invalidates(ReasonIterationsDropped, format, dropped, all)
	case share >= droppedWarnsShare:
		return warns(ReasonIterationsDropped, format, dropped, all)
	}
	return nil
}

// metricsLeftOut: of too many metrics some were not kept.
func metricsLeftOut(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.MetricsLeftOut == 0 {
		return nil
	}
	return warns(ReasonMetricsLeftOut, "%d metrics of the script weren't kept, since there were too many: use tags in place of metrics", r.Script.MetricsLeftOut)
}

func clientList(indexes []int) string {
	if len(indexes) == 1 {
		return fmt.Sprintf("client %d", indexes[0])
	}
	var texts []string
	for _, i := range indexes {
		texts = append(texts, fmt.Sprint(i))
	}
	return "clients " + strings.Join(texts, ", ")
}
