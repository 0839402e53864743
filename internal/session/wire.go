package session

import (
	"errors"
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// maxRequests bounds the requests of one message and the durations of one phase, so that sums of
	// messages can't overflow.
	maxRequests = 1 << 40
	// maxSum bounds the sum of the durations of one phase in microseconds: 10,000 connections over
	// ten days.
	maxSum = 1 << 53
)

// MeasureToWire returns the message for a measure.
func MeasureToWire(m *result.Measure) (*sessionpb.Measure, error) {
	latencies := make([]*sessionpb.Histogram, result.Phases)
	for p := range result.Phases {
		e, err := m.Latencies.Get(p).Encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		latencies[p] = &sessionpb.Histogram{
			Hdr: e.HDR, Count: e.Count, Sum: e.Sum, Min: e.Min, Max: e.Max, Clamped: e.Clamped,
		}
	}
	return &sessionpb.Measure{Counts: CountsToWire(&m.Counts), Latencies: latencies}, nil
}

// MeasureFromWire is the inverse of MeasureToWire. It returns an error for figures
// that contradict each other. Phases that only a later version has are ignored.
func MeasureFromWire(w *sessionpb.Measure) (*result.Measure, error) {
	m, err := measureFromWire(w)
	if err != nil {
		return nil, err
	}
	if got := m.Latencies.Get(result.Total).Count(); got != m.Succeeded() {
		return nil, fmt.Errorf("measure: %d requests succeeded, %d were timed", m.Succeeded(), got)
	}
	// Seconds have the page times in sketches alone.
	if got := m.Latencies.Get(result.Page).Count(); got != 0 && got != m.SucceededPages() {
		return nil, fmt.Errorf("measure: %d pages succeeded, %d were timed", m.SucceededPages(), got)
	}
	return m, nil
}

// UntimedFromWire is the inverse of MeasureToWire for a measure without times.
func UntimedFromWire(w *sessionpb.Measure) (*result.Measure, error) {
	m, err := measureFromWire(w)
	if err == nil && m.Latencies != (result.Latencies{}) {
		err = errors.New("measure: times next to those of a tool")
	}
	return m, err
}

func measureFromWire(w *sessionpb.Measure) (*result.Measure, error) {
	counts, err := CountsFromWire(w.GetCounts())
	if err != nil {
		return nil, err
	}
	m := &result.Measure{Counts: *counts}
	for p, h := range w.GetLatencies() {
		if h.GetCount() == 0 || p >= int(result.Phases) {
			continue
		}
		decoded, err := result.Decode(result.Encoded{
			HDR: h.GetHdr(), Count: h.GetCount(), Sum: h.GetSum(), Min: h.GetMin(), Max: h.GetMax(), Clamped: h.GetClamped(),
		})
		if err != nil {
			return nil, fmt.Errorf("measure: %s: %w", result.Phase(p), err)
		}
		if decoded.Count() > maxRequests || decoded.Sum() > maxSum || decoded.Sum() < -maxSum {
			return nil, fmt.Errorf("measure: %s: %d durations with the sum %d", result.Phase(p), decoded.Count(), decoded.Sum())
		}
		m.Latencies[p] = decoded
	}
	return m, nil
}

// CountsToWire returns the message for counts, or nil for none.
func CountsToWire(c *result.Counts) *sessionpb.Counts {
	if c == nil {
		return nil
	}
	return &sessionpb.Counts{Values: result.Counters.Values(c), Errors: c.Errors[:]}
}

// CountsFromWire is the inverse of CountsToWire. It returns an error for counts
// that cannot be, and for more errors than requests.
func CountsFromWire(w *sessionpb.Counts) (*result.Counts, error) {
	if w == nil {
		return nil, errors.New("no counts")
	}
	c := &result.Counts{}
	if err := c.Errors.Set(w.GetErrors()); err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	if err := result.Counters.Set(c, w.GetValues()); err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	if c.Succeeded() < 0 {
		return nil, fmt.Errorf("counts: %d errors of %d requests", c.Errors.Total(), c.Requests)
	}
	if c.Requests > maxRequests || c.Dropped > maxRequests {
		return nil, fmt.Errorf("counts: %d requests, %d dropped", c.Requests, c.Dropped)
	}
	return c, nil
}

// maxDue bounds the arrivals of one client, so that sums cannot overflow.
const maxDue = 1 << 41

// ArrivalsFromWire returns arrivals, or nil for none. It returns an error for what doesn't match the
// counts.
func ArrivalsFromWire(values []int64, counts *result.Counts) (*result.Arrivals, error) {
	if len(values) == 0 {
		return nil, nil
	}
	a := &result.Arrivals{}
	if err := result.ArrivalFigures.Set(a, values); err != nil {
		return nil, fmt.Errorf("arrivals: %w", err)
	}
	if a.Due < counts.Dropped || a.Due > maxDue {
		return nil, fmt.Errorf("arrivals: %d due, %d dropped", a.Due, counts.Dropped)
	}
	return a, nil
}

// maxLevelSeconds bounds the seconds of a level, and is more than the API allows.
const maxLevelSeconds = 1 << 20

// LevelsToWire returns the messages for the figures of levels, or of steps between them.
func LevelsToWire(levels []result.LevelTotals) ([]*sessionpb.LevelTotals, error) {
	var all []*sessionpb.LevelTotals
	for i := range levels {
		measure, err := MeasureToWire(&levels[i].Measure)
		if err != nil {
			return nil, err
		}
		all = append(all, &sessionpb.LevelTotals{Measure: measure, Cpu: levels[i].CPU, Seconds: levels[i].Seconds})
	}
	return all, nil
}

// LevelsFromWire is the inverse of LevelsToWire.
func LevelsFromWire(levels []*sessionpb.LevelTotals) ([]result.LevelTotals, error) {
	if len(levels) > MaxLevels {
		return nil, fmt.Errorf("%d levels", len(levels))
	}
	var all []result.LevelTotals
	for _, l := range levels {
		measure, err := MeasureFromWire(l.GetMeasure())
		if err != nil {
			return nil, err
		}
		all = append(all, result.LevelTotals{
			Measure: *measure, CPU: min(max(l.GetCpu(), 0), maxSum), Seconds: min(max(l.GetSeconds(), 0), maxLevelSeconds),
		})
	}
	return all, nil
}

// SecondToWire returns the message for one sample second of a client, or for several consecutive ones
// that were merged.
func SecondToWire(stage sessionpb.Stage, s *result.ClientSecond, seconds int64) (*sessionpb.ClientSample, error) {
	measure, err := MeasureToWire(&s.Measure)
	if err != nil {
		return nil, err
	}
	return &sessionpb.ClientSample{
		Stage: stage, Second: s.Second, Seconds: seconds, Measure: measure, Usage: result.ClientFigures.Values(&s.Usage),
		Node: result.NodeFigures.Values(s.Node), Phases: s.Phases.Values(), Sketches: s.Sketches.Encoded(),
	}, nil
}

// SecondFromWire is the inverse of SecondToWire. It returns an error for figures that cannot be.
func SecondFromWire(w *sessionpb.ClientSample) (s *result.ClientSecond, seconds int64, err error) {
	measure, err := MeasureFromWire(w.GetMeasure())
	if err != nil {
		return nil, 0, err
	}
	usage, err := ClientUsageFromWire(w.GetUsage())
	if err != nil {
		return nil, 0, err
	}
	s = &result.ClientSecond{Second: w.GetSecond(), Measure: *measure, Usage: usage}
	if err := s.Phases.Set(w.GetPhases()); err != nil {
		return nil, 0, fmt.Errorf("phases: %w", err)
	}
	if err := s.Sketches.Set(w.GetSketches(), &s.Phases); err != nil {
		return nil, 0, fmt.Errorf("sketches: %w", err)
	}
	for p := range s.Sketches {
		// A request has each phase once at most, and the manager bounds the requests of all clients in a stage.
		if n := s.Phases[p].Count; len(s.Sketches[p]) > 0 && n > s.Succeeded() {
			return nil, 0, fmt.Errorf("sketches: %s: %d durations of %d requests", result.Phase(p), n, s.Succeeded())
		}
	}
	s.Node, err = NodeUsageFromWire(w.GetNode())
	return s, max(w.GetSeconds(), 1), err
}

// NodeUsageFromWire returns what happened around a pod, or nil for no values. It returns an error for
// figures that cannot be.
func NodeUsageFromWire(values []int64) (*result.NodeUsage, error) {
	if len(values) == 0 {
		return nil, nil
	}
	u := &result.NodeUsage{}
	if err := result.NodeFigures.Set(u, values); err != nil {
		return nil, fmt.Errorf("node usage: %w", err)
	}
	return u, nil
}

// ClientUsageFromWire returns a client's usage, or an error for figures that cannot be.
func ClientUsageFromWire(values []int64) (result.ClientUsage, error) {
	var u result.ClientUsage
	if err := result.ClientFigures.Set(&u, values); err != nil {
		return u, fmt.Errorf("client usage: %w", err)
	}
	return u, nil
}
