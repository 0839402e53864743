package session

import (
	"errors"
	"fmt"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxScriptBytes bounds a client's metrics of a k6 script.
	maxScriptBytes = 3 << 20
	// maxRequests bounds the requests of one message and the durations of one phase, so that sums of
	// messages can't overflow.
	maxRequests = 1 << 40
	// maxSum bounds the sum of the durations of one phase in microseconds: 10,000 connections over
	// ten days.
	maxSum = 1 << 53
	// maxDue bounds the arrivals of one client, so that sums cannot overflow.
	maxDue = 1 << 41
	// maxLevelSeconds bounds the seconds of a level, and is more than the API allows.
	maxLevelSeconds = 1 << 20
)

// EncodeTotals returns a client's final metrics as they are sent.
func EncodeTotals(t *result.Totals) ([]byte, error) {
	if t.Script != nil {
		script, err := Encode(t.Script)
		if err != nil {
			return nil, err
		}
		if n := len(script); n > maxScriptBytes {
			return nil, fmt.Errorf("the script's metrics have %d bytes, the limit is %d. Use fewer metrics", n, maxScriptBytes)
		}
	}
	return Encode(t)
}

// DecodeTotals decodes a client's final metrics. It returns an error for metrics that cannot be, or that contradict each
// other.
func DecodeTotals(data []byte) (*result.Totals, error) {
	return decode("totals", data, MaxMessageBytes, checkTotals)
}

// checkTotals also limits what only describes the metrics.
func checkTotals(t *result.Totals) error {
	var errs []error
	if t.Tool == nil || t.Tool.Name == result.ToolK6 {
		errs = append(errs, checkMeasure(&t.Measure))
	} else {
		if t.Latencies != (result.Latencies{}) {
			errs = append(errs, errors.New("measure: times next to those of a tool"))
		}
		errs = append(errs, checkCounts(&t.Counts))
	}
	if t.Tool != nil {
		errs = append(errs, t.Tool.Check())
	}
	errs = append(errs, t.Statuses.Check(&t.Counts), t.ContentEncodings.Check(&t.Counts), result.CheckRequests(t.ByRequest, &t.Measure))
	if err := result.ClientMetrics.Check(&t.Usage); err != nil {
		errs = append(errs, fmt.Errorf("client usage: %w", err))
	}
	if t.NodeUsage != nil {
		errs = append(errs, result.NodeMetrics.Check(t.NodeUsage))
	}
	if t.Arrivals != nil {
		errs = append(errs, checkArrivals(t.Arrivals, &t.Counts))
	}
	if t.Warmup != nil {
		errs = append(errs, checkCounts(t.Warmup))
	}
	t.WarmupMicroseconds = max(t.WarmupMicroseconds, 0)
	if t.Script != nil {
		errs = append(errs, t.Script.Check())
	}
	errs = append(errs, checkLevels(t.Levels), checkLevels(t.Steps), checkCauses(&t.Causes, t.Errors))
	return errors.Join(errs...)
}

// checkMeasure returns an error for metrics that contradict each other.
func checkMeasure(m *result.Measure) error {
	if err := checkCounts(&m.Counts); err != nil {
		return err
	}
	for p, h := range m.Latencies {
		if h != nil && (h.Count() > maxRequests || h.Sum() > maxSum || h.Sum() < -maxSum) {
			return fmt.Errorf("measure: %s: %d durations with the sum %d", result.Phase(p), h.Count(), h.Sum())
		}
	}
	if got := m.Latencies.Get(result.Total).Count(); got != m.Succeeded() {
		return fmt.Errorf("measure: %d requests succeeded, %d were timed", m.Succeeded(), got)
	}
	// Seconds have the page times in sketches alone.
	if got := m.Latencies.Get(result.Page).Count(); got != 0 && got != m.SucceededPages() {
		return fmt.Errorf("measure: %d pages succeeded, %d were timed", m.SucceededPages(), got)
	}
	return nil
}

// checkCounts returns an error for counts that cannot be, and for more errors than requests.
func checkCounts(c *result.Counts) error {
	var errs result.ErrorCounts
	if err := errors.Join(errs.Set(c.Errors[:]), result.Counters.Check(c)); err != nil {
		return fmt.Errorf("counts: %w", err)
	}
	if c.Succeeded() < 0 {
		return fmt.Errorf("counts: %d errors of %d requests", c.Errors.Total(), c.Requests)
	}
	if c.Requests > maxRequests || c.Dropped > maxRequests {
		return fmt.Errorf("counts: %d requests, %d dropped", c.Requests, c.Dropped)
	}
	return nil
}

// checkArrivals returns an error for arrivals that don't match the counts.
func checkArrivals(a *result.Arrivals, counts *result.Counts) error {
	if err := result.ArrivalMetrics.Check(a); err != nil {
		return fmt.Errorf("arrivals: %w", err)
	}
	if a.Due < counts.Dropped || a.Due > maxDue {
		return fmt.Errorf("arrivals: %d due, %d dropped", a.Due, counts.Dropped)
	}
	return nil
}

// checkLevels returns an error for the metrics of levels, or of steps between them, that cannot be. It limits their CPU
// times and lengths.
func checkLevels(levels []result.LevelTotals) error {
	if len(levels) > MaxLevels {
		return fmt.Errorf("%d levels", len(levels))
	}
	for i := range levels {
		l := &levels[i]
		if err := checkMeasure(&l.Measure); err != nil {
			return err
		}
		l.CPU, l.Seconds = min(max(l.CPU, 0), maxSum), min(max(l.Seconds, 0), maxLevelSeconds)
	}
	return nil
}

// checkCauses returns an error for causes of errors that are too many, or that don't add up to the number of errors of
// their kind. It limits their texts.
func checkCauses(causes *result.Causes, counts result.ErrorCounts) error {
	for kind, list := range causes {
		if len(list) > result.MaxCauses+1 {
			return fmt.Errorf("%d causes of %s errors", len(list), result.ErrorKind(kind))
		}
		sum := int64(0)
		for i := range list {
			c := &list[i]
			if c.Count < 1 || c.Count > maxRequests {
				return fmt.Errorf("cause of %s errors: %d requests", result.ErrorKind(kind), c.Count)
			}
			sum += c.Count
			c.Text = printable.Clipped(c.Text, result.MaxCauseBytes)
			if c.Example != nil {
				c.Example.Request = printable.Clipped(c.Example.Request, result.MaxRequestBytes)
				c.Example.Detail = printable.Clipped(c.Example.Detail, result.MaxCauseBytes)
				c.Example.AtMicroseconds = min(max(c.Example.AtMicroseconds, 0), maxSum)
			}
		}
		if sum != counts[kind] && len(list) > 0 {
			return fmt.Errorf("causes of %d %s errors, of which there are %d", sum, result.ErrorKind(kind), counts[kind])
		}
	}
	return nil
}
