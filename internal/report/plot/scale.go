package plot

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-dev/assay/internal/report/number"
)

// MaxTicks is the largest number of labeled ticks of an axis.
const MaxTicks = 5

// Tick is a value with a label. Below is a second line of the label.
type Tick struct {
	Value float64
	Label string
	Below string
}

// Scale maps values to places between the ends of an axis.
type Scale struct {
	// Low and High are the values at the ends.
	Low, High float64
	// Ticks are the values that have a label, in ascending order.
	Ticks []Tick

	of func(float64) float64
}

// At returns the place of a value, from 0 at the low end to 1. Values beyond the ends have the place of the end.
func (s *Scale) At(value float64) float64 {
	x, _ := s.Place(value)
	return x
}

// Place returns the place of a value, and whether the value is beyond the ends and was clamped.
func (s *Scale) Place(value float64) (place float64, clamped bool) {
	low, high := s.of(s.Low), s.of(s.High)
	share := 0.0
	if high > low {
		share = (s.of(value) - low) / (high - low)
	}
	if math.IsNaN(share) {
		share = 0
	}
	const rounding = 1e-9
	clamped = share < -rounding || share > 1+rounding
	return min(max(share, 0), 1), clamped
}

func identity(x float64) float64 { return x }

// Linear returns a scale from 0 (or low, if that is negative) to at least high, which ends at a tick.
func Linear(low, high float64) Scale {
	low, high = min(low, 0), max(high, 0)
	if high <= low || math.IsInf(high, 0) || math.IsNaN(high) {
		high = low + 1
	}
	step := stepOf((high - low) / (MaxTicks - 1))
	first, last := ends(low, high, step)
	return stepped(first, last, step)
}

// ends returns the first and the last multiple of a step around a range.
func ends(low, high, step float64) (first, last float64) {
	return math.Floor(low/step + 1e-9), math.Ceil(high/step - 1e-9)
}

// stepped returns a linear scale between two multiples of a step, with a tick at each.
func stepped(first, last, step float64) Scale {
	s := Scale{Low: first * step, High: last * step, of: identity}
	for i := first; i <= last; i++ {
		s.Ticks = append(s.Ticks, Tick{Value: i * step, Label: tickLabel(i*step, step)})
	}
	return s
}

// LinearExact is like Linear but ends at high.
func LinearExact(high float64) Scale {
	s := Linear(0, high)
	if high > 0 {
		s.High = high
		for len(s.Ticks) > 1 && s.Ticks[len(s.Ticks)-1].Value > high*(1+1e-9) {
			s.Ticks = s.Ticks[:len(s.Ticks)-1]
		}
	}
	return s
}

// stepOf returns the smallest of 1, 2 and 5 times a power of ten that is at least x.
func stepOf(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= x*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// tickLabel returns a multiple of step with the decimals that the step needs, thousands with commas.
func tickLabel(value, step float64) string {
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	return number.Separated(strconv.FormatFloat(value, 'f', decimals, 64))
}

// Logarithmic returns a logarithmic scale from at most low to at least high, whose ends are 1, 2 or 5 times a power of
// ten. Values that aren't positive have the place of the lower end.
func Logarithmic(low, high float64) Scale {
	low, high = sane(low, high)
	return logarithmic(below(low), stepOf(high))
}

// LogarithmicExact is like Logarithmic but its ends are low and high.
func LogarithmicExact(low, high float64) Scale {
	low, high = sane(low, high)
	return logarithmic(low, high)
}

func sane(low, high float64) (float64, float64) {
	if !(high > 0) || math.IsInf(high, 0) {
		high = 1
	}
	if !(low > 0) || low > high {
		low = high
	}
	return low, high
}

// below returns the largest of 1, 2 and 5 times a power of ten that is at most x.
func below(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)+1e-9))
	for _, factor := range []float64{5, 2} {
		if factor*power <= x*(1+1e-9) {
			return factor * power
		}
	}
	return power
}

func logarithmic(low, high float64) Scale {
	if high <= low {
		low, high = below(low), stepOf(high)
		if high <= low {
			low, high = low/2, high*2
		}
	}
	s := Scale{Low: low, High: high, of: func(x float64) float64 {
		if x <= 0 {
			return math.Inf(-1)
		}
		return math.Log10(x)
	}}
	// 1-2-5, then 1 and every n-th power of ten, until there are few enough.
	for _, factors := range [][]float64{{1, 2, 5}, {1}} {
		if s.Ticks = powers(low, high, 1, factors); len(s.Ticks) <= MaxTicks && len(s.Ticks) > 1 {
			return s
		}
	}
	for every := 2; len(s.Ticks) > MaxTicks; every++ {
		s.Ticks = powers(low, high, every, []float64{1})
	}
	if len(s.Ticks) < 2 {
		s.Ticks = fewer(powers(low, high, 1, []float64{1, 2, 5}))
	}
	return s
}

func powers(low, high float64, every int, factors []float64) (ticks []Tick) {
	for e := int(math.Floor(math.Log10(low) + 1e-9)); e <= int(math.Floor(math.Log10(high)+1e-9)); e++ {
		if e%every != 0 {
			continue
		}
		for _, f := range factors {
			if value := f * math.Pow10(e); value >= low*(1-1e-9) && value <= high*(1+1e-9) {
				ticks = append(ticks, Tick{Value: value, Label: tickLabel(value, value)})
			}
		}
	}
	return ticks
}

// fewer returns every n-th tick, MaxTicks of them at most.
func fewer(ticks []Tick) []Tick {
	every := (len(ticks) + MaxTicks - 1) / MaxTicks
	var kept []Tick
	for i := 0; i < len(ticks); i += max(1, every) {
		kept = append(kept, ticks[i])
	}
	return kept
}

// LogRatio returns the scale of changes in percent: logarithmic in the ratio 1 + percent/100 and symmetric around 0. It has room
// for the given changes, for the largest times a margin; ratios beyond ×5 are clamped. Ticks are those that are at least
// apart from each other, as a share of the axis: "−10", "0", "+10", "×2".
func LogRatio(apart, margin float64, percents ...float64) Scale {
	const furthest, least = 5, 1.1
	logarithm := func(percent float64) float64 {
		if percent <= -100 {
			return math.Inf(-1)
		}
		return math.Log1p(percent / 100)
	}
	end := math.Log(least)
	for _, percent := range percents {
		end = max(end, margin*math.Abs(logarithm(percent)))
	}
	end = min(end, math.Log(furthest))
	s := Scale{Low: 100 * math.Expm1(-end), High: 100 * math.Expm1(end), of: logarithm}
	var up []float64
	last := s.At(0)
	steps := []float64{1, 2, 5, 10, 20, 50, 100}
	if end > math.Log(4) {
		steps = []float64{100, 400}
	}
	for _, t := range steps {
		if x, beyond := s.Place(t); !beyond && math.Abs(x-last) >= apart {
			up, last = append(up, t), x
		}
	}
	for i := len(up) - 1; i >= 0; i-- {
		down := -up[i]
		if up[i] >= 100 || up[i] == 50 {
			down = 100 * (1/(1+up[i]/100) - 1)
		}
		s.Ticks = append(s.Ticks, Tick{Value: down, Label: ChangeLabel(down)})
	}
	s.Ticks = append(s.Ticks, Tick{Label: "0"})
	for _, t := range up {
		s.Ticks = append(s.Ticks, Tick{Value: t, Label: ChangeLabel(t)})
	}
	return s
}

// ChangeLabel returns a change in percent as a label of an axis: "−10", "0", "+10"; from a doubling or halving on as a
// ratio: "×2", "×1/2".
func ChangeLabel(percent float64) string {
	switch ratio := 1 + percent/100; {
	case percent == 0:
		return "0"
	case ratio >= 2-1e-9:
		return "×" + strconv.FormatFloat(math.Round(ratio*10)/10, 'f', -1, 64)
	case ratio <= 0:
		return "−100"
	case ratio <= 0.5+1e-9:
		return "×1/" + strconv.FormatFloat(math.Round(10/ratio)/10, 'f', -1, 64)
	case percent > 0:
		return fmt.Sprintf("+%g", math.Round(percent))
	}
	return fmt.Sprintf("−%g", math.Round(-percent))
}
