package picture

import (
	"math"
	"time"
)

// Range returns a linear scale from at most low to at least high, whose ends are ticks. Unlike that of Linear it need not
// begin at 0: for marks whose distance from each other matters, not their size.
func Range(low, high, from, to float64) Scale {
	if math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low) || math.IsNaN(high) {
		low, high = 0, 1
	}
	if high <= low {
		margin := max(math.Abs(low)*0.1, 1e-3)
		if low >= 0 {
			low, high = max(0, low-margin), low+margin
		} else {
			low, high = low-margin, low+margin
		}
	}
	step := stepOf((high - low) / (MaxTicks - 1))
	first, last := ends(low, high, step)
	for last-first > MaxTicks-1 {
		step = stepOf(step * 1.5)
		first, last = ends(low, high, step)
	}
	s := Scale{Low: first * step, High: last * step, from: from, to: to, of: identity}
	for i := first; i <= last; i++ {
		s.Ticks = append(s.Ticks, Tick{i * step, tickLabel(i*step, step)})
	}
	return s
}

// ends returns the first and the last multiple of a step around a range.
func ends(low, high, step float64) (first, last float64) {
	return math.Floor(low/step + 1e-9), math.Ceil(high/step - 1e-9)
}

// Dates returns the scale of times, in seconds since the Unix epoch. Ticks are days ("2026-11-22"), or hours ("11-22
// 14:00") if all times are within two days, at distances of at least 84 pixels, in UTC.
func Dates(first, last time.Time, from, to float64) Scale {
	const room = 84
	layout, step := "2006-01-02", 24*time.Hour
	span := last.Sub(first)
	if span < 48*time.Hour {
		layout, step = "01-02 15:04", time.Hour
	}
	low, high := float64(first.Unix()), float64(last.Unix())
	if high <= low {
		low, high = low-1, low+1
	}
	s := Scale{Low: low, High: high, from: from, to: to, of: identity}
	for math.Abs(to-from)*step.Seconds()/(high-low) < room && step < 1000*24*time.Hour {
		step *= 2
	}
	for t := first.UTC().Truncate(step); !t.After(last); t = t.Add(step) {
		if !t.Before(first) {
			s.Ticks = append(s.Ticks, Tick{float64(t.Unix()), t.Format(layout)})
		}
	}
	if len(s.Ticks) == 0 {
		s.Ticks = []Tick{{float64(first.Unix()), first.UTC().Format(layout)}}
	}
	return s
}
