package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// trace returns the SVG path data of a line through places, to a tenth of their unit. Places on a level stretch are omitted.
func trace(points []Point) string {
	var d strings.Builder
	began, first := false, false
	lastX, lastY := 0, 0 // in tenths
	for i, at := range points {
		if at.IsGap() {
			began = false
			continue
		}
		x, y := tenth(at.X), tenth(at.Y)
		ends := i+1 == len(points) || points[i+1].IsGap()
		switch {
		case !began:
			d.WriteString("M" + tenths(x))
			pad(&d, tenths(y))
			if ends {
				d.WriteString("h0") // with round caps, a dot
			} else {
				d.WriteByte('l')
			}
			began, first = true, true
		case !ends && y == lastY && tenth(points[i+1].Y) == y && (x >= lastX) == (tenth(points[i+1].X) >= x):
			continue
		default:
			if step := tenths(x - lastX); first {
				d.WriteString(step)
			} else {
				pad(&d, step)
			}
			pad(&d, tenths(y-lastY))
			first = false
		}
		lastX, lastY = x, y
	}
	return d.String()
}

func tenth(x float64) int { return int(math.Round(x * 10)) }

// tenths returns a number of tenths as a decimal number: "-.5".
func tenths(n int) string {
	if n%10 == 0 {
		return strconv.Itoa(n / 10)
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n < 10 {
		return fmt.Sprintf("%s.%d", sign, n)
	}
	return fmt.Sprintf("%s%d.%d", sign, n/10, n%10)
}

// pad writes a number behind another: a sign separates them, else a space does.
func pad(d *strings.Builder, next string) {
	if next[0] != '-' {
		d.WriteByte(' ')
	}
	d.WriteString(next)
}

// thinned returns a line with at most two places of each whole number that its scaled abscissas begin with: the least and the largest, in their order. Gaps
// stay.
func thinned(points []Point, scale float64) []Point {
	var kept []Point
	for from := 0; from < len(points); {
		if points[from].IsGap() {
			if len(kept) > 0 && !kept[len(kept)-1].IsGap() {
				kept = append(kept, points[from])
			}
			from++
			continue
		}
		to, low, high := from, from, from
		for ; to < len(points) && !points[to].IsGap() && math.Floor(scale*points[to].X) == math.Floor(scale*points[from].X); to++ {
			if points[to].Y < points[high].Y {
				high = to
			}
			if points[to].Y > points[low].Y {
				low = to
			}
		}
		kept = append(kept, points[min(low, high)])
		if low != high {
			kept = append(kept, points[max(low, high)])
		}
		from = to
	}
	return kept
}

// highest returns the highest place of each whole number that scaled abscissas begin with.
func highest(points []Point, scale float64) []Point {
	var kept []Point
	for _, at := range points {
		if at.IsGap() {
			continue
		}
		if last := len(kept) - 1; last >= 0 && math.Floor(scale*kept[last].X) == math.Floor(scale*at.X) {
			if at.Y < kept[last].Y {
				kept[last] = at
			}
			continue
		}
		kept = append(kept, at)
	}
	return kept
}
