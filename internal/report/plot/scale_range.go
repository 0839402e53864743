package plot

import (
	"math"
	"time"

	"github.com/assay-dev/assay/internal/report/number"
)

// Range returns a linear scale from at most low to at least high, whose ends are ticks. Unlike that of Linear it need not
// begin at 0: for marks whose distance from each other matters, not their size.
func Range(low, high float64) Scale {
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
	return stepped(first, last, step)
}

// Dates returns the scale of times, in seconds since the Unix epoch. Ticks are days ("2026-11-22"), or hours ("11-22
// 14:00") if all times are within two days, at most ten of them, in UTC.
func Dates(first, last time.Time) Scale {
	const most = 10
	layout, step := "2006-01-02", 24*time.Hour
	span := last.Sub(first)
	if span < 48*time.Hour {
		layout, step = "01-02 15:04", time.Hour
	}
	low, high := float64(first.Unix()), float64(last.Unix())
	if high <= low {
		low, high = low-1, low+1
	}
	s := Scale{Low: low, High: high, of: identity}
	for step.Seconds()*most < high-low && step < 1000*24*time.Hour {
		step *= 2
	}
	for t := first.UTC().Truncate(step); !t.After(last); t = t.Add(step) {
		if !t.Before(first) {
			s.Ticks = append(s.Ticks, Tick{Value: float64(t.Unix()), Label: t.Format(layout)})
		}
	}
	if len(s.Ticks) == 0 {
		s.Ticks = []Tick{{Value: float64(first.Unix()), Label: first.UTC().Format(layout)}}
	}
	return s
}

// Categories returns the scale of things that are next to each other, each in the middle of its part: 0 is the place of the
// first.
func Categories(names []string) Scale {
	s := Scale{Low: -0.5, High: float64(max(1, len(names))) - 0.5, of: identity}
	for i, name := range names {
		s.Ticks = append(s.Ticks, Tick{Value: float64(i), Label: name})
	}
	return s
}

// Pixels is the scale of ordinates in pixels from the top of a plot of a height.
func Pixels(height float64) Scale {
	return Scale{Low: height, of: func(y float64) float64 { return -y }}
}

// Shares returns the scale of 1/(1-p), on which each further nine of a percentile p has the same room, from all requests to one of
// count. Its labels have two lines: "99%", and below it "1 in 100".
func Shares(count float64) Scale {
	s := LogarithmicExact(1, max(2, count))
	s.Ticks = []Tick{{Value: 1, Label: "0%", Below: "all"}, {Value: 2, Label: "50%", Below: "1 in 2"}}
	percent := "90"
	for oneIn := 10.0; oneIn <= s.High*(1+1e-9); oneIn *= 10 {
		s.Ticks = append(s.Ticks, Tick{Value: oneIn, Label: percent + "%", Below: "1 in " + number.Count(int64(oneIn))})
		switch percent {
		case "90":
			percent = "99"
		case "99":
			percent = "99.9"
		default:
			percent += "9"
		}
	}
	return s
}

// SharesName is the name of an axis of Shares.
const SharesName = "percentile: share of requests that took no longer"

// Around returns the scale from -reach to reach, both of which have a label.
func Around(reach float64) Scale {
	label := number.Significant(reach)
	return Scale{Low: -reach, High: reach, of: identity, Ticks: []Tick{{Value: -reach, Label: "−" + label}, {Value: reach, Label: "+" + label}}}
}
