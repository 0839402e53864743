// Package profile describes how a load changes over time: a number of connections, or an arrival
// rate. It is pure, and knows neither clients nor requests.
package profile

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Segment is a period in which the load is constant or changes linearly.
type Segment struct {
	// From and To are the load at both ends of the segment: connections, or requests per second.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// DurationMicroseconds is the length of the segment. The load may jump between two segments.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// Level reports whether the segment has metrics of its own.
	Level bool `json:"level,omitempty"`
}

// Profile is a sequence of segments. After the last one the load stays as it was at its end.
type Profile []Segment

// Check returns an error if no load of up to maxLoad can follow the profile.
func (p Profile) Check(maxLoad int64) error {
	for i, s := range p {
		switch {
		case s.From < 0 || s.To < 0 || s.From > maxLoad || s.To > maxLoad:
			return fmt.Errorf("segment %d: from %d to %d must be within 0 and %d", i, s.From, s.To, maxLoad)
		case s.DurationMicroseconds < 0:
			return fmt.Errorf("segment %d: durationMicroseconds must not be negative: %d", i, s.DurationMicroseconds)
		case s.Level && (p.start(i)%time.Second != 0 || s.duration()%time.Second != 0):
			return fmt.Errorf("segment %d: a level must start at a whole second and last whole seconds", i)
		}
	}
	return nil
}

// Duration returns the length of all segments.
func (p Profile) Duration() time.Duration { return p.start(len(p)) }

// Final returns the load at the end of the last segment and after it.
func (p Profile) Final() int64 {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].To
}

// Max returns the largest load.
func (p Profile) Max() int64 {
	var largest int64
	for _, s := range p {
		largest = max(largest, s.From, s.To)
	}
	return largest
}

// Level is a segment that has metrics of its own.
type Level struct {
	// Load is the constant load of the segment.
	Load int64
	// Start and End are the bounds of the segment, in whole seconds since the start of the profile.
	Start, End int64
}

// Levels returns the segments that have metrics of their own.
func (p Profile) Levels() []Level {
	var levels []Level
	for i, s := range p {
		if s.Level {
			levels = append(levels, Level{
				Load: s.To, Start: int64(p.start(i) / time.Second), End: int64(p.start(i+1) / time.Second),
			})
		}
	}
	return levels
}

// Steps returns the segments that change the load from one level to another, if there are levels: those
// that begin and end at whole seconds. Load is that at the end.
func (p Profile) Steps() []Level {
	var steps []Level
	if !slices.ContainsFunc(p, func(s Segment) bool { return s.Level }) {
		return nil
	}
	for i, s := range p {
		if start, end := p.start(i), p.start(i+1); !s.Level && start%time.Second == 0 && end%time.Second == 0 && end > start {
			steps = append(steps, Level{Load: s.To, Start: int64(start / time.Second), End: int64(end / time.Second)})
		}
	}
	return steps
}

// Period is a span of time since the start of a profile.
type Period struct{ Start, End time.Duration }

// Bounds returns when each segment starts and ends.
func (p Profile) Bounds() []Period {
	periods := make([]Period, len(p))
	for i := range p {
		periods[i] = Period{p.start(i), p.start(i + 1)}
	}
	return periods
}

// start returns when a segment starts or, for len(p), when the last one ends.
func (p Profile) start(segment int) time.Duration {
	var at time.Duration
	for _, s := range p[:segment] {
		at += s.duration()
	}
	return at
}

func (s Segment) duration() time.Duration {
	return time.Duration(s.DurationMicroseconds) * time.Microsecond
}

func (s Segment) seconds() float64 { return float64(s.DurationMicroseconds) / 1e6 }

// area returns the integral of the load over the segment: requests, if it is a rate.
func (s Segment) area() float64 { return float64(s.From+s.To) / 2 * s.seconds() }

// Area returns the integral of the load until a time: the number of requests, if it is a rate.
func (p Profile) Area(until time.Duration) float64 {
	var area float64
	rest := until.Seconds()
	for _, s := range p {
		if d := s.seconds(); rest >= d {
			area += s.area()
			rest -= d
			continue
		}
		slope := float64(s.To-s.From) / s.seconds()
		return area + float64(s.From)*rest + slope*rest*rest/2
	}
	return area + float64(p.Final())*rest
}

// Never is a time that is never reached.
const Never = time.Duration(math.MaxInt64)

// When is the inverse of Area. It returns the time at which the integral reaches area, or Never.
func (p Profile) When(area float64) time.Duration {
	var before float64
	for i, s := range p {
		whole := s.area()
		if area >= whole && (i+1 < len(p) || area > whole) {
			area -= whole
			before += s.seconds()
			continue
		}
		// Solves f·t + k·t²/2 = area for t, without cancellation, also for a slope k ≤ 0.
		f, k := float64(s.From), float64(s.To-s.From)/s.seconds()
		root := f + math.Sqrt(max(0, f*f+2*k*area))
		if area == 0 {
			return seconds(before)
		}
		return seconds(before + 2*area/root)
	}
	final := float64(p.Final())
	switch {
	case area == 0:
		return seconds(before)
	case final == 0:
		return Never
	}
	return seconds(before + area/final)
}

// seconds returns s seconds as a duration, or Never if it is too long for one.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return Never
	}
	return time.Duration(math.Round(s * 1e9))
}

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
