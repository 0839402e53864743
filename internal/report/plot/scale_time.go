package plot

import (
	"fmt"
	"math"
)

// Time returns the scale of seconds since the start of the measurement, from low (negative with a warm-up) to high.
// Labels are "10 s" below 2 minutes, "m:ss" below 2 hours, then "h:mm". ticks is the largest number of labels.
func Time(low, high float64, ticks int) Scale {
	high = max(high, low+1)
	s := Scale{Low: low, High: high, of: identity}
	step := timeStep(high / float64(max(1, ticks-1)))
	for value := 0.0; value <= high; value += step {
		s.Ticks = append(s.Ticks, Tick{Value: value, Label: Clock(value, high)})
	}
	return s
}

// timeSteps are the distances of ticks in seconds: they divide minutes, hours and days.
var timeSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400}

func timeStep(least float64) float64 {
	for _, step := range timeSteps {
		if step >= least*(1-1e-9) {
			return step
		}
	}
	return math.Ceil(least/86_400) * 86_400
}

// Clock returns seconds as a time of a measurement that lasts for all seconds: "10 s", "2:05" in minutes and seconds, or
// "2:05" in hours and minutes. TimeUnit says which.
func Clock(seconds, all float64) string {
	whole, sign := int64(math.Round(math.Abs(seconds))), ""
	if seconds < 0 && whole > 0 {
		sign = "−"
	}
	switch {
	case all < 120:
		return fmt.Sprintf("%s%d\u202fs", sign, whole)
	case all < 7200:
		return fmt.Sprintf("%s%d:%02d", sign, whole/60, whole%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, whole/3600, whole/60%60)
}

// TimeUnit returns the unit of the labels of Clock.
func TimeUnit(all float64) string {
	switch {
	case all < 120:
		return "s"
	case all < 7200:
		return "m:ss"
	}
	return "h:mm"
}
