package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/errext/exitcodes"
	"go.k6.io/k6/v2/lib/netext/httpext"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
)

// outputName is the name of the output in k6's --out flag, pipesArgument its argument.
const (
	outputName    = "assay-script"
	pipesArgument = "pipes"
)

// thresholdInterval is the interval at which thresholds with abortOnFail are
// evaluated. k6 uses the same.
const thresholdInterval = 2 * time.Second

func init() {
	output.RegisterExtension(outputName, func(p output.Params) (output.Output, error) {
		if p.ConfigArgument != pipesArgument {
			return nil, errors.New("output " + outputName + " works only in `assay-load client`")
		}
		c := newCollector(json.NewDecoder(os.NewFile(3, "orders")), json.NewEncoder(os.NewFile(4, "reports")))
		c.statistics, c.timeUnit = p.ScriptOptions.SummaryTrendStats, p.ScriptOptions.SummaryTimeUnit.String
		c.marksExpected = p.ScriptOptions.SystemTags.Has(metrics.TagExpectedResponse)
		// The outcomes of requests come from these tags. k6's virtual users, which don't exist yet, read the same set.
		p.ScriptOptions.SystemTags.Add(metrics.TagStatus | metrics.TagErrorCode | metrics.TagError)
		return c, nil
	})
}

// collector is a k6 output that aggregates k6's samples in constant memory and evaluates thresholds
// with abortOnFail. It runs in k6's process. k6's own thresholds and summary are disabled, because
// k6's trends keep every value in memory.
type collector struct {
	orders  *json.Decoder
	reports *reporter
	abort   func(error) // aborts k6's test
	// statistics and timeUnit are k6's options summaryTrendStats and summaryTimeUnit.
	statistics []string
	timeUnit   string
	// marksExpected reports whether requests are tagged with expected_response. k6 then has a submetric of its own.
	marksExpected bool

	mu        sync.Mutex
	load      *load // nil until the load begins
	metrics   *registry
	lastCheck time.Time // of the thresholds
	lastLive  time.Time // of the metrics so far
	// interval is the time between two reports of the metrics so far. merged reports whether thresholds with
	// abortOnFail are evaluated elsewhere.
	interval time.Duration
	merged   bool
}

// load holds what is recorded of the script's load.
type load struct {
	recorder *recorder.Recorder
	sampler  *recorder.Sampler
	from, to time.Time // to is zero until the load has ended
	last     time.Time // end of the last request or iteration
	first    usage.Sample
	used     result.ClientUsage
	node     *result.NodeUsage
	planned  *planned      // of a declared load; nil for a script
	done     chan struct{} // closed when k6 has delivered all samples
	sampled  chan struct{} // closed when the last second was reported
}

func newCollector(orders *json.Decoder, reports *json.Encoder) *collector {
	return &collector{orders: orders, reports: &reporter{encoder: reports}, metrics: newRegistry(nil)}
}

// Description implements output.Output.
func (c *collector) Description() string { return outputName }

// SetThresholds implements output.WithThresholds. k6 calls it before Start.
func (c *collector) SetThresholds(thresholds map[string]metrics.Thresholds) {
	c.metrics = newRegistry(thresholds)
	if _, has := thresholds[expectedDuration]; c.marksExpected && !has {
		c.metrics.addSubmetric(expectedDuration)
	}
}

// expectedDuration is the submetric that k6 always has.
const expectedDuration = metrics.HTTPReqDurationName + "{expected_response:true}"

// SetTestRunStopCallback implements output.WithTestRunStop. k6 calls it before Start.
func (c *collector) SetTestRunStopCallback(abort func(error)) { c.abort = abort }

// Start implements output.Output. k6 calls it before it creates virtual users.
func (c *collector) Start() error {
	go c.handleOrders()
	return nil
}

// handleOrders handles the client's orders until the pipe is closed.
func (c *collector) handleOrders() {
	for {
		var o order
		if err := c.orders.Decode(&o); err != nil {
			return
		}
		c.mu.Lock()
		if o.Begin != 0 {
			c.interval, c.merged = time.Duration(o.Interval), o.Merged
			c.begin(fromWall(o.Begin), o.Load)
		}
		if o.Last != 0 && c.load != nil {
			c.load.sampler.EndLevels(int64(fromWall(o.Last).Sub(c.load.from).Round(time.Second) / time.Second))
		}
		if o.End != 0 && c.load != nil {
			c.load.to = fromWall(o.End)
			used := usage.Read()
			c.load.used, c.load.node = used.Since(c.load.first), used.NodeSince(c.load.first)
		}
		c.mu.Unlock()
		c.reports.report(report{Done: true})
	}
}

// fromWall is the inverse of wall: it converts nanoseconds since the Unix epoch to
// a time with a monotonic clock reading.
func fromWall(nanoseconds int64) time.Time {
	now := time.Now()
	return now.Add(time.Duration(nanoseconds - now.UnixNano()))
}

// begin starts recording. What ends at or after the given time is part of the load.
func (c *collector) begin(at time.Time, declared *plannedLoad) {
	l := &load{recorder: recorder.New(1), from: at, last: at, first: usage.Read(), done: make(chan struct{}), sampled: make(chan struct{})}
	l.sampler = recorder.NewSampler(l.recorder, at, nil, func(second *result.ClientSecond) {
		if !l.includes(second.Second) && second.Counts == (result.Counts{}) {
			return // an empty second after the load, while teardown() runs
		}
		kept := *second
		kept.Latencies = result.Latencies{}
		kept.Latencies[result.Total] = second.Latencies[result.Total]
		c.reports.report(report{Second: &kept})
	})
	if declared != nil {
		l.planned = newPlanned(declared)
		l.recorder.KeepRequests(declared.Names)
		l.sampler.Levels(declared.Profile)
	}
	c.load, c.lastCheck, c.lastLive = l, at, at
	go func() {
		l.sampler.Run(l.done)
		close(l.sampled)
	}()
}

// includes reports whether a second is part of the load.
func (l *load) includes(second int64) bool {
	return l.to.IsZero() || second <= int64(l.to.Sub(l.from)/time.Second)
}

// Stop implements output.Output. k6 calls it after the last sample. It reports the totals.
func (c *collector) Stop() error {
	c.mu.Lock()
	l := c.load
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	if l.planned != nil {
		l.planned.release(l)
	}
	close(l.done)
	<-l.sampled
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports.report(report{Totals: c.totals()})
	return nil
}

// totals returns the metrics of the load, which must have ended.
func (c *collector) totals() *result.Totals {
	l := c.load
	if l.planned != nil {
		return l.planned.totals(l)
	}
	script := &result.ScriptTotals{
		Metrics: c.metrics.all(), Omitted: c.metrics.dropped, Thresholds: c.metrics.thresholds, ChecksOmitted: c.metrics.unchecked,
		TrendStatistics: c.statistics, TimeUnit: c.timeUnit,
	}
	for _, check := range c.metrics.order {
		script.Checks = append(script.Checks, *check)
	}
	statuses, _ := l.recorder.Parts()
	return &result.Totals{
		Measure: *l.recorder.Total(), Statuses: statuses, Causes: l.recorder.Causes(), StartedAt: l.from.UnixMicro(), EndedAt: l.last.UnixMicro(), Usage: l.used, NodeUsage: l.node, Script: script,
	}
}

// AddMetricSamples implements output.Output. k6 calls it about 20 times a second,
// never concurrently.
func (c *collector) AddMetricSamples(containers []metrics.SampleContainer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, container := range containers {
		if trail, ok := container.(*httpext.Trail); ok && c.within(trail.EndTime) {
			outcome := outcomeOf(trail)
			outcome.Ended = trail.EndTime.Sub(c.load.from)
			c.load.extend(trail.EndTime)
			if c.load.planned == nil || !c.load.planned.hold(trail, &outcome) {
				c.load.recorder.Record(0, &outcome)
			}
		}
		samples := container.GetSamples()
		for i := range samples {
			c.count(&samples[i])
			if c.load == nil || c.load.planned == nil {
				c.metrics.add(&samples[i])
			}
		}
	}
	c.checkThresholds()
	c.reportLive()
}

// reportLive reports the metrics so far, once in an interval.
func (c *collector) reportLive() {
	now := time.Now()
	if c.load == nil || c.interval == 0 || !c.load.to.IsZero() || now.Sub(c.lastLive) < c.interval {
		return
	}
	c.lastLive = now
	c.reports.report(report{Metrics: c.metrics.live(now.Sub(c.load.from), c.merged)})
}

// within reports whether a time is within the load.
func (c *collector) within(at time.Time) bool {
	return c.load != nil && !at.Before(c.load.from) && (c.load.to.IsZero() || !at.After(c.load.to))
}

// extend records that a request or an iteration ended at the given time.
func (l *load) extend(at time.Time) {
	if at.After(l.last) {
		l.last = at
	}
}

// count records a sample of the load that isn't about a request: bytes, dropped
// iterations and ends of iterations.
func (c *collector) count(s *metrics.Sample) {
	if !c.within(s.Time) {
		return
	}
	at := s.Time.Sub(c.load.from)
	switch s.Metric.Name {
	case metrics.DataSentName:
		c.load.recorder.Transfer(at, int64(s.Value), 0)
	case metrics.DataReceivedName:
		c.load.recorder.Transfer(at, 0, int64(s.Value))
	case metrics.DroppedIterationsName:
		c.load.recorder.Drop(at, int64(s.Value))
	case metrics.IterationsName:
		if c.load.planned == nil { // an iteration of a declared load ends with its think time
			c.load.extend(s.Time)
		}
	case metrics.ChecksName:
		if c.load.planned != nil {
			c.load.planned.check(c.load, s)
		}
	}
}

// checkThresholds aborts k6's test if a threshold with abortOnFail is crossed.
func (c *collector) checkThresholds() {
	now := time.Now()
	if c.load == nil || c.merged || !c.load.to.IsZero() || now.Sub(c.lastCheck) < thresholdInterval {
		return
	}
	c.lastCheck = now
	crossed := c.metrics.crossed(now.Sub(c.load.from))
	if crossed == "" || c.abort == nil {
		return
	}
	err := fmt.Errorf("thresholds on metrics '%s' were crossed; at least one has abortOnFail enabled, stopping test prematurely", crossed) // as k6 says it
	c.abort(errext.WithAbortReasonIfNone(
		errext.WithExitCodeIfNone(err, exitcodes.ThresholdsHaveFailed), errext.AbortedByThreshold))
}
