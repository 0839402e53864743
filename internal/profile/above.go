package profile

import "time"

// Above is when a load is next above a number, from an instant on, and until
// when it stays so; Never where that has no end. While a load changes from one
// number to another it is at each whole number in between for equally long.
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

// above is the part of the segment in which it is above a number, from its
// beginning: empty where begin isn't before end.
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

// part is a share of a duration, rounded down to a microsecond.
func part(d time.Duration, share, of int64) time.Duration {
	return time.Duration(float64(d.Microseconds())*float64(share)/float64(of)) * time.Microsecond
}
