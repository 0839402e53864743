package conclusion

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
)

// ScriptTotals returns the clients' metrics of their script, by index; nil for a client that has sent none.
func ScriptTotals(run *v1alpha1.BenchmarkRun, o *observed.Run) []*result.ScriptTotals {
	all := make([]*result.ScriptTotals, loadplan.Replicas(&run.Spec))
	for i := range all {
		if totals := o.Sessions.Clients[i].Totals; totals != nil {
			all[i] = totals.Script
		}
	}
	return all
}

// aborted returns the threshold that ended the load of a script, or nil. Every client has sent its totals.
func aborted(run *v1alpha1.BenchmarkRun, o *observed.Run) *result.ScriptAbort {
	abort := run.Status.Abort
	if abort == nil {
		return nil
	}
	var ran int64
	for _, totals := range ScriptTotals(run, o) {
		if totals != nil {
			ran = max(ran, totals.RunMicroseconds)
		}
	}
	end := max(int64(math.Round(float64(ran)/1e6)), 1) // clients that were told later ended later
	return &result.ScriptAbort{Metric: abort.Metric, Bound: abort.Threshold, Actual: abort.Actual, End: end}
}

// SummaryData returns the data for handleSummary() of the totals so far. It is an error if they are too large for a message.
func SummaryData(run *v1alpha1.BenchmarkRun, o *observed.Run) ([]byte, error) {
	data, err := result.SummaryData(ScriptTotals(run, o), aborted(run, o), o.Sessions.Clients[session.ScriptLeader].Script.SetupData)
	if err == nil && len(data) > session.MaxSummaryDataBytes {
		err = fmt.Errorf("the data for handleSummary() has %d bytes, the limit is %d", len(data), session.MaxSummaryDataBytes)
	}
	return data, err
}

// SummaryReturned returns what handleSummary() returned on the first client that has run it, or nil.
func SummaryReturned(run *v1alpha1.BenchmarkRun, o *observed.Run) *result.ScriptSummary {
	for i := range loadplan.Replicas(&run.Spec) {
		if s := o.Sessions.Clients[i].Summary; s != nil {
			return s
		}
	}
	return nil
}

// summary returns what handleSummary() returned, why that is unknown, or nil without handleSummary().
func summary(run *v1alpha1.BenchmarkRun, o *observed.Run) *result.ScriptSummary {
	if s := SummaryReturned(run, o); s != nil || !result.Summarizes(ScriptTotals(run, o)) {
		return s
	}
	if _, err := SummaryData(run, o); err != nil {
		return &result.ScriptSummary{Error: err.Error()}
	}
	return &result.ScriptSummary{Error: fmt.Sprintf("no client answered within %s", SummaryTimeout)}
}

// SummaryTimeout is the time from the last totals for which handleSummary() of a script is waited for.
const SummaryTimeout = 45 * time.Second
