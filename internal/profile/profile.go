// Package profile is how a load changes over time: a number of connections, or
// a rate of arrivals. It is pure, and knows neither clients nor requests.
package profile

import (
	"fmt"
	"math"
	"time"
)

// Segment is a time in which a load stays as it is, or changes evenly.
type Segment struct {
	// From and To are the load at its beginning and at its end: connections, or
	// requests per second.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// DurationMicroseconds is how long it takes. The load may jump between two
	// segments.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// Level is whether the segment's figures are kept apart.
	Level bool `json:"level,omitempty"`
}

// Profile is segments one after the other. After the last, the load stays as it
// was at its end.
type Profile []Segment

// Check returns an error that says what no load could follow. No load is above
// most.
func (p Profile) Check(most int64) error {
	for i, s := range p {
		switch {
		case s.From < 0 || s.To < 0 || s.From > most || s.To > most:
			return fmt.Errorf("segment %d goes from %d to %d, from 0 to %d is possible", i, s.From, s.To, most)
		case s.DurationMicroseconds < 0:
			return fmt.Errorf("segment %d takes %d µs", i, s.DurationMicroseconds)
		case s.Level && (p.start(i)%time.Second != 0 || s.duration()%time.Second != 0):
			return fmt.Errorf("segment %d is a level that isn't of whole seconds", i)
		}
	}
	return nil
}

// Duration is how long all segments take.
func (p Profile) Duration() time.Duration { return p.start(len(p)) }

// Final is the load at the end of the last segment, and from there on.
func (p Profile) Final() int64 {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].To
}

// Most is the highest load.
func (p Profile) Most() int64 {
	var most int64
	for _, s := range p {
		most = max(most, s.From, s.To)
	}
	return most
}

// Level is a segment whose figures are kept apart.
type Level struct {
	// Load is what it holds.
	Load int64
	// Start and End are its bounds, in whole seconds from the beginning.
	Start, End int64
}

// Levels are the segments whose figures are kept apart.
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

// start is when a segment begins, or the end of the last.
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

// seconds is the segment's duration in seconds.
func (s Segment) seconds() float64 { return float64(s.DurationMicroseconds) / 1e6 }

// area is what a rate adds up to over the segment.
func (s Segment) area() float64 { return float64(s.From+s.To) / 2 * s.seconds() }

// Area is what a rate adds up to from the beginning until an instant.
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

// Never is when a rate adds up to what it never adds up to.
const Never = time.Duration(math.MaxInt64)

// When is the inverse of Area: when a rate has added up to an area.
func (p Profile) When(area float64) time.Duration {
	var before float64
	for i, s := range p {
		whole := s.area()
		if area >= whole && (i+1 < len(p) || area > whole) {
			area -= whole
			before += s.seconds()
			continue
		}
		// Of f·t + k·t²/2 = area, in the form that doesn't cancel, and that holds for
		// a slope k of zero and for one that falls alike.
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

func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return Never
	}
	return time.Duration(math.Round(s * 1e9))
}
