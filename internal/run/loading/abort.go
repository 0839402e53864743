package loading

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

const (
	// startLead is the time from setting a start time until that time, so that it reaches every
	// client before it comes. startLeadPerClient is added for each client.
	startLead          = 100 * time.Millisecond
	startLeadPerClient = 200 * time.Microsecond
	// abortInterval is the interval at which thresholds with abortOnFail are evaluated. k6 evaluates its own every two seconds.
	abortInterval = time.Second
)

// lead returns the time that a decision takes to reach every client of a run.
func lead(run *v1alpha1.BenchmarkRun) time.Duration {
	return startLead + time.Duration(loadplan.Replicas(&run.Spec))*startLeadPerClient
}

// abortOnFail decides whether a threshold of the script with abortOnFail ends the load of all clients, and returns that in
// words, or nothing. at is the start of the measurement. As with a breaking point, the decision is written into the status
// before it is sent to any client, so that another manager keeps to it. Until it is written, another manager decides the
// same from what the clients report again.
func abortOnFail(p *step.Planner, at int64) string {
	if !state.RunsScript(p.Run) {
		return ""
	}
	if p.Status.Abort == nil && at != 0 {
		p.Status.Abort = decideAbort(p, at)
	}
	abort := p.Status.Abort
	if abort == nil {
		return ""
	}
	p.EndMeasurement = ptr.Deref(abort.EndSeconds, 0)
	return fmt.Sprintf("The load ends after %ds, by a threshold of the script with abortOnFail: %s %s was %s.", p.EndMeasurement, abort.Metric, abort.Threshold, abort.Actual)
}

// decideAbort returns the threshold that ends the load, or nil.
func decideAbort(p *step.Planner, at int64) *v1alpha1.AbortStatus {
	thresholds, metrics, elapsed := abortMetrics(p.Run, p.Observed)
	if len(thresholds) > 0 {
		p.RequeueIn(abortInterval)
	}
	crossed, outcome := k6metric.Crossed(thresholds, metrics, elapsed)
	if crossed == nil {
		return nil
	}
	end := time.Duration(p.Observed.Sessions.Now-at)*time.Microsecond + lead(p.Run)
	return &v1alpha1.AbortStatus{
		Metric: crossed.Metric, Threshold: crossed.Source, Actual: outcome.Actual, EndSeconds: ptr.To(max(int64(end/time.Second)+1, 1)),
	}
}

// abortMetrics returns the script's thresholds with abortOnFail, the metrics that they refer to, merged over all clients,
// and how long the load ran. There are none until every client has reported its metrics to this manager.
func abortMetrics(run *v1alpha1.BenchmarkRun, o *observed.Run) (thresholds []k6metric.Threshold, merged []k6metric.Metric, elapsed time.Duration) {
	replicas := loadplan.Replicas(&run.Spec)
	for i := range replicas {
		c := o.Sessions.Clients[i]
		if c.Metrics != nil && len(c.Metrics.Thresholds) > 0 { // they are the same everywhere
			thresholds = c.Metrics.Thresholds
		}
	}
	var all [][]k6metric.Metric
	for i := range replicas {
		c := o.Sessions.Clients[i]
		metrics, ran := []k6metric.Metric(nil), int64(0)
		switch {
		case c.Totals != nil && c.Totals.Script != nil:
			metrics, ran = c.Totals.Script.Metrics, c.Totals.Script.RunMicroseconds
		case c.Metrics != nil:
			metrics, ran = c.Metrics.Metrics, c.Metrics.Elapsed
		default:
			return nil, nil, 0
		}
		elapsed = max(elapsed, time.Duration(ran)*time.Microsecond)
		var referred []k6metric.Metric
		for _, m := range metrics {
			if slices.ContainsFunc(thresholds, func(t k6metric.Threshold) bool { return t.Metric == m.Name }) {
				referred = append(referred, m)
			}
		}
		all = append(all, referred)
	}
	merged, _ = k6metric.Merge(all...)
	return thresholds, merged, elapsed
}
