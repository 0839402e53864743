package session

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// MeasureToWire returns a measure as it is sent.
func MeasureToWire(m *result.Measure) (*sessionpb.Measure, error) {
	latencies := make([]*sessionpb.Histogram, result.Phases)
	for p := range result.AllPhases() {
		latencies[p] = &sessionpb.Histogram{}
		h := m.Latencies[p]
		if h == nil {
			continue
		}
		e, err := h.Encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		latencies[p] = &sessionpb.Histogram{
			Hdr: e.HDR, Count: e.Count, Sum: e.Sum, Min: e.Min, Max: e.Max, Clamped: e.Clamped,
		}
	}
	return &sessionpb.Measure{Counts: CountsToWire(&m.Counts), Latencies: latencies}, nil
}

// MeasureFromWire is the inverse of MeasureToWire. It refuses figures that
// contradict each other.
func MeasureFromWire(w *sessionpb.Measure) (*result.Measure, error) {
	counts, err := CountsFromWire(w.GetCounts())
	if err != nil {
		return nil, err
	}
	if n := len(w.GetLatencies()); n != int(result.Phases) {
		return nil, fmt.Errorf("measure: %d phases, want %d", n, result.Phases)
	}
	m := &result.Measure{Counts: *counts}
	for p, h := range w.GetLatencies() {
		if h.GetCount() == 0 {
			continue
		}
		decoded, err := result.Decode(result.Encoded{
			HDR: h.GetHdr(), Count: h.GetCount(), Sum: h.GetSum(), Min: h.GetMin(), Max: h.GetMax(), Clamped: h.GetClamped(),
		})
		if err != nil {
			return nil, fmt.Errorf("measure: %s: %w", result.Phase(p), err)
		}
		m.Latencies[p] = decoded
	}
	if got := m.Latencies.Get(result.Total).Count(); got != m.Succeeded() {
		return nil, fmt.Errorf("measure: %d requests succeeded, %d were timed", m.Succeeded(), got)
	}
	return m, nil
}

// CountsToWire returns counts as they are sent.
func CountsToWire(c *result.Counts) *sessionpb.Counts {
	return &sessionpb.Counts{
		Requests:      c.Requests,
		Errors:        c.Errors[:],
		Non_2Xx:       c.Non2xx,
		KeepAlive:     c.KeepAlive,
		Connections:   c.Connections,
		BytesSent:     c.BytesSent,
		BytesReceived: c.BytesReceived,
		BodyBytes:     c.BodyBytes,
		TlsResumed:    c.TLSResumed,
		Dropped:       c.Dropped,
	}
}

// CountsFromWire is the inverse of CountsToWire. It refuses negative counts
// and more errors than requests.
func CountsFromWire(w *sessionpb.Counts) (*result.Counts, error) {
	if n := len(w.GetErrors()); n != int(result.ErrorKinds) {
		return nil, fmt.Errorf("counts: %d kinds of errors, want %d", n, result.ErrorKinds)
	}
	c := &result.Counts{
		Requests:      w.GetRequests(),
		Errors:        result.ErrorCounts(w.GetErrors()),
		Non2xx:        w.GetNon_2Xx(),
		KeepAlive:     w.GetKeepAlive(),
		Connections:   w.GetConnections(),
		BytesSent:     w.GetBytesSent(),
		BytesReceived: w.GetBytesReceived(),
		BodyBytes:     w.GetBodyBytes(),
		TLSResumed:    w.GetTlsResumed(),
		Dropped:       w.GetDropped(),
	}
	for _, n := range append(w.GetErrors(), c.Non2xx, c.KeepAlive, c.Connections, c.BytesSent, c.BytesReceived, c.BodyBytes, c.TLSResumed, c.Dropped, c.Succeeded()) {
		if n < 0 {
			return nil, fmt.Errorf("counts: a negative number in %+v", *c)
		}
	}
	return c, nil
}

// ArrivalsToWire returns arrivals as they are sent; nil for none.
func ArrivalsToWire(a *result.Arrivals) *sessionpb.Arrivals {
	if a == nil {
		return nil
	}
	return &sessionpb.Arrivals{Due: a.Due, Planned: a.PlannedMicroseconds, Started: a.StartedMicroseconds}
}

// mostDue bounds the arrivals of one client, so that sums can't overflow.
const mostDue = 1 << 41

// ArrivalsFromWire is the inverse of ArrivalsToWire. It refuses what contradicts
// the counts.
func ArrivalsFromWire(w *sessionpb.Arrivals, counts *result.Counts) (*result.Arrivals, error) {
	if w == nil {
		return nil, nil
	}
	a := &result.Arrivals{Due: w.GetDue(), PlannedMicroseconds: w.GetPlanned(), StartedMicroseconds: w.GetStarted()}
	if a.Due < counts.Dropped || a.Due > mostDue || a.PlannedMicroseconds < 0 || a.StartedMicroseconds < 0 {
		return nil, fmt.Errorf("arrivals: %+v with %d dropped", *a, counts.Dropped)
	}
	return a, nil
}

// LevelsToWire returns the figures of levels as they are sent.
func LevelsToWire(levels []result.LevelTotals) ([]*sessionpb.LevelTotals, error) {
	var all []*sessionpb.LevelTotals
	for i := range levels {
		measure, err := MeasureToWire(&levels[i].Measure)
		if err != nil {
			return nil, err
		}
		all = append(all, &sessionpb.LevelTotals{Measure: measure, Cpu: levels[i].CPU})
	}
	return all, nil
}

// LevelsFromWire is the inverse of LevelsToWire. What it returns is packed.
func LevelsFromWire(levels []*sessionpb.LevelTotals) ([]result.LevelTotals, error) {
	if len(levels) > MostLevels {
		return nil, fmt.Errorf("%d levels", len(levels))
	}
	var all []result.LevelTotals
	for _, l := range levels {
		measure, err := MeasureFromWire(l.GetMeasure())
		if err != nil {
			return nil, err
		}
		if err := measure.Latencies.Pack(); err != nil {
			return nil, err
		}
		all = append(all, result.LevelTotals{Measure: *measure, CPU: max(l.GetCpu(), 0)})
	}
	return all, nil
}

// ClientUsageToWire returns a client's usage as it is sent.
func ClientUsageToWire(u result.ClientUsage) *sessionpb.ClientUsage {
	return &sessionpb.ClientUsage{
		UserCpu: u.UserCPU, SystemCpu: u.SystemCPU, Throttled: u.Throttled, MaxResident: u.MaxResident,
		SchedulerLagP99: u.SchedulerLagP99, GcPause: u.GCPause, GcPauseMax: u.GCPauseMax,
	}
}

// ClientUsageFromWire is the inverse of ClientUsageToWire.
func ClientUsageFromWire(w *sessionpb.ClientUsage) result.ClientUsage {
	return result.ClientUsage{
		UserCPU: w.GetUserCpu(), SystemCPU: w.GetSystemCpu(), Throttled: w.GetThrottled(), MaxResident: w.GetMaxResident(),
		SchedulerLagP99: w.GetSchedulerLagP99(), GCPause: w.GetGcPause(), GCPauseMax: w.GetGcPauseMax(),
	}
}
