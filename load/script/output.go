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

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
	"github.com/assay-dev/assay/load/usage"
)

// outputName is the output as k6's --out names it, pipesArgument its argument.
const (
	outputName    = "assay-script"
	pipesArgument = "pipes"
)

// thresholdInterval is how often thresholds with abortOnFail are looked at, as
// k6 does it.
const thresholdInterval = 2 * time.Second

func init() {
	output.RegisterExtension(outputName, func(p output.Params) (output.Output, error) {
		if p.ConfigArgument != pipesArgument {
			return nil, errors.New("the output " + outputName + " is only for `assay-load client`")
		}
		return newCollector(json.NewDecoder(os.NewFile(3, "orders")), json.NewEncoder(os.NewFile(4, "reports"))), nil
	})
}

// collector is an output of k6 that keeps what its samples amount to, in
// constant memory: k6's own trends keep every value, so that k6 itself evaluates
// no thresholds and makes no summary. It lives in k6's process.
type collector struct {
	orders  *json.Decoder
	reports *reporter
	abort   func(error) // has k6 break the test off

	mu      sync.Mutex
	load    *load // nil until the load begins
	metrics *registry
	looked  time.Time // when thresholds were looked at last
}

// load is what is recorded of the script's load.
type load struct {
	recorder *recorder.Recorder
	sampler  *recorder.Sampler
	from, to time.Time // to is zero until the load's end is known
	last     time.Time // the end of the last request or iteration
	first    usage.Reading
	used     result.ClientUsage
	done     chan struct{} // closed when nothing is recorded any more
	sampled  chan struct{} // closed when the last second was told
}

func newCollector(orders *json.Decoder, reports *json.Encoder) *collector {
	return &collector{orders: orders, reports: &reporter{encoder: reports}, metrics: newRegistry(nil)}
}

// Description is what k6 says of the output.
func (c *collector) Description() string { return outputName }

// SetThresholds is called by k6 before Start.
func (c *collector) SetThresholds(thresholds map[string]metrics.Thresholds) {
	c.metrics = newRegistry(thresholds)
}

// SetTestRunStopCallback is called by k6 before Start.
func (c *collector) SetTestRunStopCallback(abort func(error)) { c.abort = abort }

// Start is called by k6 before the virtual users are made.
func (c *collector) Start() error {
	go c.obey()
	return nil
}

// obey takes the client's orders until that is gone.
func (c *collector) obey() {
	for {
		var o order
		if err := c.orders.Decode(&o); err != nil {
			return
		}
		c.mu.Lock()
		if o.Begin != 0 {
			c.begin(instant(o.Begin))
		}
		if o.End != 0 && c.load != nil {
			c.load.to = instant(o.End)
			c.load.used = usage.Read().Since(c.load.first)
		}
		c.mu.Unlock()
		c.reports.report(report{Done: true})
	}
}

// instant is an instant of the wall clock with a monotonic reading.
func instant(nanoseconds int64) time.Time {
	now := time.Now()
	return now.Add(time.Duration(nanoseconds - now.UnixNano()))
}

// begin has what ends from an instant on be recorded as the load's.
func (c *collector) begin(at time.Time) {
	l := &load{recorder: recorder.New(1), from: at, last: at, first: usage.Read(), done: make(chan struct{}), sampled: make(chan struct{})}
	l.sampler = recorder.NewSampler(l.recorder, at, func(second *result.ClientSecond) {
		if !l.lasted(second.Second) && second.Counts == (result.Counts{}) {
			return // teardown() is not of the load
		}
		kept := *second
		kept.Latencies = result.Latencies{}
		kept.Latencies[result.Total] = second.Latencies[result.Total]
		c.reports.report(report{Second: &kept})
	})
	c.load, c.looked = l, at
	go func() {
		l.sampler.Run(l.done)
		close(l.sampled)
	}()
}

// lasted is whether a second was one of the load.
func (l *load) lasted(second int64) bool {
	return l.to.IsZero() || second <= int64(l.to.Sub(l.from)/time.Second)
}

// Stop is called by k6 when all samples were given.
func (c *collector) Stop() error {
	c.mu.Lock()
	l := c.load
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	close(l.done)
	<-l.sampled
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports.report(report{Totals: c.totals()})
	return nil
}

// totals are the figures of the load, which has ended.
func (c *collector) totals() *result.Totals {
	l := c.load
	script := &result.ScriptTotals{LeftOut: c.metrics.leftOut}
	for _, m := range c.metrics.all() {
		script.Metrics = append(script.Metrics, *m)
	}
	for _, t := range c.metrics.thresholds {
		script.Thresholds = append(script.Thresholds, t.Threshold)
	}
	return &result.Totals{
		Measure: *l.recorder.Total(), StartedAt: l.from.UnixMicro(), EndedAt: l.last.UnixMicro(), Usage: l.used, Script: script,
	}
}

// AddMetricSamples takes k6's samples, some twenty times a second. k6 never calls
// it twice at once.
func (c *collector) AddMetricSamples(containers []metrics.SampleContainer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, container := range containers {
		if trail, ok := container.(*httpext.Trail); ok && c.within(trail.EndTime) {
			outcome := outcomeOf(trail)
			outcome.Ended = trail.EndTime.Sub(c.load.from)
			c.load.recorder.Record(0, &outcome)
			c.load.ended(trail.EndTime)
		}
		samples := container.GetSamples()
		for i := range samples {
			c.count(&samples[i])
			c.metrics.add(&samples[i])
		}
	}
	c.checkThresholds()
}

// within is whether an instant is one of the load.
func (c *collector) within(at time.Time) bool {
	return c.load != nil && !at.Before(c.load.from) && (c.load.to.IsZero() || !at.After(c.load.to))
}

func (l *load) ended(at time.Time) {
	if at.After(l.last) {
		l.last = at
	}
}

// count takes what of a sample is the load's beside its requests.
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
		c.load.ended(s.Time)
	}
}

// checkThresholds has k6 break the test off where a threshold says so.
func (c *collector) checkThresholds() {
	now := time.Now()
	if c.load == nil || !c.load.to.IsZero() || now.Sub(c.looked) < thresholdInterval {
		return
	}
	c.looked = now
	crossed := c.metrics.crossed(now.Sub(c.load.from))
	if crossed == "" || c.abort == nil {
		return
	}
	err := fmt.Errorf("the threshold %s was crossed, and has abortOnFail", crossed)
	c.abort(errext.WithAbortReasonIfNone(
		errext.WithExitCodeIfNone(err, exitcodes.ThresholdsHaveFailed), errext.AbortedByThreshold))
}
