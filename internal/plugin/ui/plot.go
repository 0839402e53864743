package ui

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/result"
)

// The view box of a plot. It is stretched to the space that the page has, its lines aren't.
const (
	plotWidth  = 1000.0
	plotHeight = 100.0
)

// plot is a plot over the time of the measurement. All plots of a page have the same x axis.
type plot struct {
	Name, Unit string
	// Top and Bottom are the values at the ends of the y axis. Log reports whether it is logarithmic.
	Top, Bottom string
	Log         bool
	Lines       []line
	Dots        []dot
	// Marks are the findings' places.
	Marks []mark
	// Empty says why there is nothing to draw.
	Empty string
	// Label describes the plot for those who can't see it.
	Label string
}

// line is a line of a plot with its name and last value. Class is one of the style's.
type line struct{ Class, Path, Name, Last string }

// dot is the place of a maximum.
type dot struct{ X, Y string }

// mark is a vertical rule with a number.
type mark struct {
	X      string
	Number int
}

// tick is a label of the x axis, at a share of its width in percent.
type tick struct {
	Percent int
	Text    string
}

// scales are the upper ends of the y axes by the plots' names, and the lower one of the latency's. They only grow.
type scales struct {
	top    map[string]float64
	bottom float64
}

// grow returns the upper end of an axis that shows x too: 1, 2 or 5 times a power of ten.
func (s *scales) grow(name string, x float64) float64 {
	if s.top == nil {
		s.top = map[string]float64{}
	}
	s.top[name] = max(s.top[name], nice(x))
	return s.top[name]
}

// nice returns the smallest number from x on that is 1, 2 or 5 times a power of ten; 1 for what isn't positive.
func nice(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= x*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// times are the lengths of an x axis in seconds.
var times = []int64{10, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600}

func roundTime(seconds int64) int64 {
	for _, t := range times {
		if seconds <= t {
			return t
		}
	}
	return (seconds + 24*3600 - 1) / (24 * 3600) * 24 * 3600
}

// draw returns the plots of seconds.
func (v *liveView) draw(seconds []result.Second, findings []finding, u *live.Update) ([]*plot, []tick) {
	if n := len(seconds); n > 0 {
		v.planned = max(v.planned, seconds[n-1].Second+seconds[n-1].Seconds)
	}
	if v.planned == 0 {
		v.planned = roundTime(1)
	}
	plots := []*plot{
		v.rates(seconds), v.latencies(seconds), v.failures(seconds), v.targetCPU(seconds),
		v.percent("clients' CPU", seconds, []series{{"clients", "clients", v.limits.clients, func(s *result.Second) int64 { return s.ClientCPU }}}),
	}
	for i, f := range findings {
		if u != nil {
			for _, p := range plots {
				p.Marks = append(p.Marks, mark{number(v.x(float64(u.Findings[i].Second))), f.Number})
			}
		}
	}
	var ticks []tick
	for i := range 5 {
		ticks = append(ticks, tick{25 * i, span(time.Duration(v.planned) * time.Second * time.Duration(i) / 4)})
	}
	return plots, ticks
}

func (v *liveView) x(second float64) float64 { return plotWidth * second / float64(v.planned) }

func number(x float64) string { return fmt.Sprintf("%.1f", x) }

// steps returns a path with a step for each entry. It has gaps where seconds are missing or of returns NaN.
func (v *liveView) steps(seconds []result.Second, y func(float64) float64, of func(*result.Second) float64) string {
	var b strings.Builder
	end := int64(-1)
	for i := range seconds {
		s := &seconds[i]
		value := of(s)
		if math.IsNaN(value) {
			end = -1
			continue
		}
		if s.Second != end {
			fmt.Fprintf(&b, "M%s %s", number(v.x(float64(s.Second))), number(y(value)))
		} else {
			fmt.Fprintf(&b, "V%s", number(y(value)))
		}
		end = s.Second + s.Seconds
		fmt.Fprintf(&b, "H%s", number(v.x(float64(end))))
	}
	return b.String()
}

func linear(top float64) func(float64) float64 {
	return func(x float64) float64 { return plotHeight * (1 - min(max(x/top, 0), 1)) }
}

func perSecond(n int64, s *result.Second) float64 { return float64(n) / float64(s.Seconds) }

// last returns the value of the last entry that has one, and the largest.
func last(seconds []result.Second, of func(*result.Second) float64) (value, largest float64) {
	value = math.NaN()
	for i := range seconds {
		if x := of(&seconds[i]); !math.IsNaN(x) {
			value, largest = x, max(largest, x)
		}
	}
	return value, largest
}

func (v *liveView) rates(seconds []result.Second) *plot {
	of := func(s *result.Second) float64 { return perSecond(s.Requests, s) }
	value, largest := last(seconds, of)
	top := v.scales.grow("requests/s", largest)
	p := &plot{Name: "requests/s", Top: significant(top), Bottom: "0", Lines: []line{{"throughput", v.steps(seconds, linear(top), of), "", significant(value)}}}
	return p.describe(seconds, largest)
}

// latencies draws percentiles as lines and maxima as dots, on a logarithmic axis.
func (v *liveView) latencies(seconds []result.Second) *plot {
	p := &plot{Name: "latency", Unit: "ms", Log: true}
	least, largest := math.Inf(1), 0.0
	for i := range seconds {
		if s := &seconds[i]; s.Requests > s.Errors && s.P50 >= 0 {
			least, largest = min(least, float64(max(s.P50, 1))/1000), max(largest, float64(max(s.Max, s.P99, 1))/1000)
		}
	}
	if largest == 0 {
		p.Empty = "no percentiles yet"
		p.Label = "Latency: no percentiles yet."
		return p
	}
	top := v.scales.grow(p.Name, largest)
	bottom := 1 / nice(1/least) // 1, 2 or 5 times a power of ten, or half of one
	if v.scales.bottom == 0 || bottom < v.scales.bottom {
		v.scales.bottom = bottom
	}
	if bottom = v.scales.bottom; bottom >= top {
		bottom = top / 10
	}
	y := func(ms float64) float64 {
		return plotHeight * (1 - min(max(math.Log(ms/bottom)/math.Log(top/bottom), 0), 1))
	}
	p.Top, p.Bottom = significant(top), significant(bottom)
	for _, of := range []struct {
		name string
		of   func(*result.Second) int64
	}{
		{"p50", func(s *result.Second) int64 { return s.P50 }}, {"p90", func(s *result.Second) int64 { return s.P90 }},
		{"p99", func(s *result.Second) int64 { return s.P99 }},
	} {
		ms := func(s *result.Second) float64 {
			if s.Requests <= s.Errors || of.of(s) < 0 {
				return math.NaN()
			}
			return float64(max(of.of(s), 1)) / 1000
		}
		value, _ := last(seconds, ms)
		p.Lines = append(p.Lines, line{of.name, v.steps(seconds, y, ms), of.name, significant(value)})
	}
	for i := range seconds {
		if s := &seconds[i]; s.Requests > s.Errors {
			p.Dots = append(p.Dots, dot{number(v.x(float64(s.Second) + float64(s.Seconds)/2)), number(y(float64(max(s.Max, 1)) / 1000))})
		}
	}
	return p.describe(seconds, largest)
}

func (v *liveView) failures(seconds []result.Second) *plot {
	of := func(s *result.Second) float64 { return perSecond(s.Errors, s) }
	value, largest := last(seconds, of)
	p := &plot{Name: "failed/s"}
	if v.update == nil {
		p.Empty = count(v.polledErrors) + " so far"
		p.Label = "Failed requests: " + p.Empty + "."
		return p
	}
	if largest == 0 {
		p.Empty = fmt.Sprintf("none in %s", v.length(seconds))
		p.Label = "Failed requests: " + p.Empty + "."
		return p
	}
	top := v.scales.grow(p.Name, largest)
	p.Top, p.Bottom = significant(top), "0"
	p.Lines = []line{{"errors", v.steps(seconds, linear(top), of), "", significant(value)}}
	return p.describe(seconds, largest)
}

func (v *liveView) length(seconds []result.Second) string {
	if len(seconds) == 0 {
		return "0s"
	}
	l := &seconds[len(seconds)-1]
	return span(time.Duration(l.Second+l.Seconds) * time.Second)
}

// series is CPU time of something with a limit in thousandths of a CPU.
type series struct {
	class, name string
	limit       int64
	of          func(*result.Second) int64
}

func (v *liveView) targetCPU(seconds []result.Second) *plot {
	all := []series{{"server", "server", v.limits.server, func(s *result.Second) int64 { return s.ServerCPU }}}
	names := map[string]bool{}
	for i := range seconds {
		for name := range seconds[i].BackendCPU {
			names[name] = true
		}
	}
	for i, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, series{fmt.Sprintf("backend%d", min(i+1, 4)), name, v.limits.backends[name], func(s *result.Second) int64 {
			if cpu, has := s.BackendCPU[name]; has {
				return cpu
			}
			return result.Unknown
		}})
	}
	return v.percent("target's CPU", seconds, all)
}

// percent draws CPU times in percent of their limits, or of one CPU where one has none.
func (v *liveView) percent(name string, seconds []result.Second, all []series) *plot {
	p := &plot{Name: name, Unit: "% of limit", Bottom: "0"}
	most := 0.0
	values := make([]func(*result.Second) float64, len(all))
	for i, s := range all {
		limit := float64(s.limit)
		if limit <= 0 {
			limit, p.Unit = 1000, "% of 1 CPU"
		}
		values[i] = func(second *result.Second) float64 {
			cpu := s.of(second)
			if cpu < 0 {
				return math.NaN()
			}
			return 100 * float64(cpu) / float64(second.Seconds) / 1e6 / (limit / 1000)
		}
		_, largest := last(seconds, values[i])
		most = max(most, largest)
	}
	top := max(100, v.scales.grow(name, most))
	p.Top = significant(top)
	for i, s := range all {
		value, _ := last(seconds, values[i])
		if math.IsNaN(value) {
			continue
		}
		named := ""
		if len(all) > 1 {
			named = s.name
		}
		p.Lines = append(p.Lines, line{s.class, v.steps(seconds, linear(top), values[i]), named, significant(value)})
	}
	if len(p.Lines) == 0 {
		p.Empty = "not available"
		p.Label = name + ": not available."
		return p
	}
	return p.describe(seconds, most)
}

// describe sets the text for those who can't see the plot.
func (p *plot) describe(seconds []result.Second, largest float64) *plot {
	p.Label = fmt.Sprintf("%s, %d points, at most %s %s; last", p.Name, len(seconds), significant(largest), p.Unit)
	for _, l := range p.Lines {
		p.Label += " " + strings.TrimSpace(l.Name+" "+l.Last)
	}
	return p
}
