package session

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// SecondToWire returns the message for one sample second of a client, or for several consecutive ones that were merged.
// Of its latencies it has those of the phase total.
func SecondToWire(stage sessionpb.Stage, s *result.ClientSecond, seconds int64) (*sessionpb.ClientSample, error) {
	w := &sessionpb.ClientSample{
		Stage: stage, Second: s.Second, Seconds: seconds, Counts: result.Counters.Values(&s.Counts), Errors: s.Errors[:],
		Usage: result.ClientMetrics.Values(&s.Usage), Node: result.NodeMetrics.Values(s.Node),
		Phases: s.Phases.Values(), Sketches: s.Sketches.Encoded(),
	}
	e, err := s.Latencies.Get(result.Total).Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", result.Total, err)
	}
	if e.Count > 0 {
		w.Total = &sessionpb.Histogram{Hdr: e.HDR, Count: e.Count, Sum: e.Sum, Min: e.Min, Max: e.Max, Clamped: e.Clamped}
	}
	return w, nil
}

// SecondFromWire is the inverse of SecondToWire. It returns an error for metrics that cannot be.
func SecondFromWire(w *sessionpb.ClientSample) (s *result.ClientSecond, seconds int64, err error) {
	s = &result.ClientSecond{Second: w.GetSecond()}
	if len(w.GetCounts()) == 0 {
		return nil, 0, fmt.Errorf("no counts")
	}
	if err := result.Counters.Set(&s.Counts, w.GetCounts()); err != nil {
		return nil, 0, fmt.Errorf("counts: %w", err)
	}
	if err := s.Errors.Set(w.GetErrors()); err != nil {
		return nil, 0, fmt.Errorf("counts: %w", err)
	}
	if h := w.GetTotal(); h.GetCount() != 0 {
		s.Latencies[result.Total], err = result.Decode(result.Encoded{
			HDR: h.GetHdr(), Count: h.GetCount(), Sum: h.GetSum(), Min: h.GetMin(), Max: h.GetMax(), Clamped: h.GetClamped(),
		})
		if err != nil {
			return nil, 0, fmt.Errorf("measure: %s: %w", result.Total, err)
		}
	}
	if err := checkMeasure(&s.Measure); err != nil {
		return nil, 0, err
	}
	if err := result.ClientMetrics.Set(&s.Usage, w.GetUsage()); err != nil {
		return nil, 0, fmt.Errorf("client usage: %w", err)
	}
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
	s.Node, err = nodeUsageFromWire(w.GetNode())
	return s, max(w.GetSeconds(), 1), err
}

// nodeUsageFromWire returns what happened around a pod, or nil for no values.
func nodeUsageFromWire(values []int64) (*result.NodeUsage, error) {
	if len(values) == 0 {
		return nil, nil
	}
	u := &result.NodeUsage{}
	if err := result.NodeMetrics.Set(u, values); err != nil {
		return nil, fmt.Errorf("node usage: %w", err)
	}
	return u, nil
}
