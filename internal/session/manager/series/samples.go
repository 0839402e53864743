package series

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxPoints bounds the samples of one source that are kept. Beyond it, every second one is
	// dropped.
	maxPoints = 1 << 13
	// maxSampleDelay is the longest delay of a sample after its intended time.
	maxSampleDelay = 200_000
)

// samples holds usage samples of one source, oldest first. Metrics that are summed are cumulative:
// each sample has their values up to its time.
type samples[T any] struct {
	table  result.Table[T]
	points []point[T]
	// start is the beginning of the measurement, 0 before that. since are the metrics since then, of
	// which those that are summed are not used; nil without a sample.
	start int64
	since *T
}

// point is a sample at a time.
type point[T any] struct {
	at      int64
	metrics T
}

// add adds a sample. It drops one that isn't newer than the last: the agent's clock was corrected in
// between.
func (s *samples[T]) add(at int64, metrics T) {
	if n := len(s.points); n > 0 && at <= s.points[n-1].at {
		return
	}
	s.points = append(s.points, point[T]{at, metrics})
	s.extend(at, &metrics)
	if len(s.points) > maxPoints {
		s.halve()
	}
}

// setStart sets the beginning of the measurement.
func (s *samples[T]) setStart(at int64) {
	s.start, s.since = at, nil
	for i := range s.points {
		s.extend(s.points[i].at, &s.points[i].metrics)
	}
}

// extend adds a sample to those since the beginning of the measurement.
func (s *samples[T]) extend(at int64, metrics *T) {
	switch {
	case s.start == 0 || at <= s.start+maxSampleDelay:
	case s.since == nil:
		first := *metrics
		s.since = &first
	default:
		s.join(s.since, s.since, metrics)
	}
}

// join sets the metrics of into that aren't summed to those of an earlier and a later sample together.
func (s *samples[T]) join(into, earlier, later *T) {
	for f := range s.table {
		if metric := &s.table[f]; metric.Merging != result.Sum {
			*metric.Of(into) = metric.Joined(*metric.Of(earlier), *metric.Of(later))
		}
	}
}

// halve drops every second sample. Its maxima and minima stay with the one after it.
func (s *samples[T]) halve() {
	half := s.points[:0]
	for i := 0; i < len(s.points); i += 2 {
		kept := s.points[i]
		if i > 0 {
			s.join(&kept.metrics, &s.points[i-1].metrics, &kept.metrics)
		}
		half = append(half, kept)
	}
	s.points = half
}

// between returns the metrics of the span between two times, as result.Table.Since does. It
// interpolates what is summed between two samples. Of gauges it returns the last value, or the extreme
// one, of the samples that were due within the span. ok is false if there are no samples
// around it.
func (s *samples[T]) between(from, to int64) (span T, ok bool) {
	start, ok := s.search(from, maxSampleDelay)
	if !ok {
		return span, false
	}
	end, ok := s.search(to, maxSampleDelay)
	if !ok {
		if end = len(s.points) - 1; s.points[end].at <= from {
			return span, false // the samples end before
		}
		to = s.points[end].at // they end within these seconds
	}
	return s.span(max(from, s.points[0].at), to, start, end), true
}

// total returns the metrics since the beginning of the measurement, or since the first sample if that is
// later. ok is false before it, and without samples.
func (s *samples[T]) total() (span T, ok bool) {
	last := len(s.points) - 1
	if s.start == 0 || last < 0 || s.points[last].at <= s.start {
		return span, false
	}
	next, _ := s.search(s.start, 0)
	begin := s.at(max(s.start, s.points[0].at), next)
	span = s.points[last].metrics
	s.table.Since(&span, &begin)
	if s.since != nil {
		s.join(&span, s.since, s.since)
	}
	return span, true
}

// span returns the metrics of a span, given the first samples at or after its bounds.
func (s *samples[T]) span(from, to int64, start, end int) (span T) {
	begin := s.at(from, start)
	span = s.at(to, end)
	s.table.Since(&span, &begin)
	// The samples that were due after from and until to.
	first, _ := s.search(from+maxSampleDelay+1, 0)
	last, found := s.search(to+maxSampleDelay, 0)
	if !found || s.points[last].at > to+maxSampleDelay {
		last--
	}
	last = max(last, 0)
	gauges := s.points[min(first, last)].metrics
	for i := first + 1; i <= last; i++ {
		s.join(&gauges, &gauges, &s.points[i].metrics)
	}
	s.join(&span, &gauges, &gauges)
	return span
}

// at returns the metrics at a time, given the first sample at or after it.
func (s *samples[T]) at(at int64, next int) T {
	metrics := s.points[next].metrics
	if next == 0 || s.points[next].at == at {
		return metrics
	}
	a, b := &s.points[next-1], &s.points[next]
	share := float64(at-a.at) / float64(b.at-a.at)
	for f := range s.table {
		metric := &s.table[f]
		value, before := metric.Of(&metrics), *metric.Of(&a.metrics)
		switch {
		case metric.Merging != result.Sum:
		case metric.Optional && (before == result.Unknown || *value == result.Unknown):
			*value = result.Unknown
		default:
			*value = before + int64(share*float64(*value-before))
		}
	}
	return metrics
}

// search returns the index of the first sample at or after a time. It returns false if all are before
// it, or if the first of all is later than that by more than slack.
func (s *samples[T]) search(at, slack int64) (int, bool) {
	i, _ := slices.BinarySearchFunc(s.points, at, func(p point[T], at int64) int { return cmp.Compare(p.at, at) })
	return i, i < len(s.points) && (i > 0 || s.points[0].at-at <= slack)
}

// bytes returns how much memory the samples take.
func (s *samples[T]) bytes() int { return cap(s.points) * int(unsafe.Sizeof(point[T]{})) }
