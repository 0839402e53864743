package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// Dropped iterations count as those requests do by which an open load misses its target rate.
const (
	droppedWarnsShare       = shortfallWarnsPercent / 100
	droppedInvalidatesShare = shortfallInvalidatesPercent / 100
)

func scriptFailed(r *result.Result) *result.Finding {
	if r.Script == nil || len(r.Script.MarkedFailed) == 0 {
		return nil
	}
	return found(ReasonScriptMarkedFailed, result.Invalidates, "The script called test.fail() on %s. See the clients' logs, which spec.podRetention keeps.",
		clientList(r.Script.MarkedFailed))
}

func teardownFailed(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.TeardownError == "" {
		return nil
	}
	return found(ReasonTeardownFailed, result.Warns,
		"The script's teardown() failed: %s. The measurement is not affected, but what teardown() removes may still be there.", r.Script.TeardownError)
}

func summaryFailed(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.Summary == nil || r.Script.Summary.Error == "" {
		return nil
	}
	return found(ReasonSummaryFailed, result.Warns,
		"The script's handleSummary() failed: %s. The measurement is not affected, but there are no files of it.", strings.TrimSuffix(r.Script.Summary.Error, "."))
}

// iterationsDropped finds iterations that never started. With an arrival rate, k6 starts no
// iteration without a free virtual user, so that the target had less load than the script declares.
func iterationsDropped(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.DroppedIterations == 0 {
		return nil
	}
	dropped, all := r.Script.DroppedIterations, r.Script.DroppedIterations+r.Script.Iterations
	severity := result.Warns
	switch share := float64(dropped) / float64(all); {
	case share < droppedWarnsShare:
		return nil
	case share >= droppedInvalidatesShare:
		severity = result.Invalidates
	}
	return found(ReasonIterationsDropped, severity, "%d of %d iterations were dropped because no virtual user was free. Increase maxVUs, or lower the rate.", dropped, all)
}

// iterationsFailed finds iterations that ended with an uncaught exception, before they had made all of their requests. k6 counts them as
// complete.
func iterationsFailed(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.ThrownIterations == 0 || r.Script.Iterations == 0 {
		return nil
	}
	thrown, all := r.Script.ThrownIterations, r.Script.Iterations
	severity := result.Warns
	if 100*float64(thrown) >= errorsInvalidatePercent*float64(all) {
		severity = result.Invalidates
	}
	first, _, _ := strings.Cut(strings.TrimSpace(r.Script.Exception), "\n")
	return found(ReasonIterationsFailed, severity,
		"%d of %d iterations of the script ended with an uncaught exception: %s. Such an iteration is shorter than the others, and may have made fewer requests. Fix the script, or let it catch the exception.",
		thrown, all, strings.TrimSuffix(first, "."))
}

func metricsOmitted(r *result.Result) *result.Finding {
	if r.Script == nil || r.Script.MetricsOmitted == 0 {
		return nil
	}
	return found(ReasonMetricsOmitted, result.Warns, "%d metrics of the script were omitted because it has too many. Use tags instead of metrics.", r.Script.MetricsOmitted)
}

// clientList names clients: "client 0", or "clients 0, 1".
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
