package profile

import "time"

// Above returns the next period at or after from in which the load is above number: from begin
// until before end. end is Never if the load stays above number, and both are Never if it is never
// above it again. A load that changes between two numbers spends the same time at each one in
// between.
func (p Profile) Above(number int64, from time.Duration) (begin, end time.Duration) {
	begin = Never
	var start time.Duration
	for i, s := range p {
		next := start + s.duration()
		b, e := s.above(number)
		b, e = start+b, start+e
		if b < e && e > from {
			if begin == Never {
				begin = max(b, from)
			} else if b > end {
				return begin, end
			}
			end = e
		} else if begin != Never && s.duration() > 0 {
			return begin, end
		}
		start = next
		if i == len(p)-1 && s.To > number {
			if begin == Never || end < start {
				begin = max(start, from)
			}
			return begin, Never
		}
	}
	if begin == Never {
		return Never, Never
	}
	return begin, end
}

// above returns the part of the segment in which the load is above number, relative to the
// segment's start. It is empty unless begin is before end.
func (s Segment) above(number int64) (begin, end time.Duration) {
	d := s.duration()
	switch {
	case s.From > number && s.To > number:
		return 0, d
	case s.From > number: // falls to it
		return 0, part(d, s.From-number, s.From-s.To)
	case s.To > number: // rises from it
		return part(d, number-s.From, s.To-s.From), d
	}
	return 0, 0
}

// part returns share/of of a duration, rounded down to a microsecond.
func part(d time.Duration, share, of int64) time.Duration {
	return time.Duration(float64(d.Microseconds())*float64(share)/float64(of)) * time.Microsecond
}
