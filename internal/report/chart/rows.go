package chart

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// Bounds holds thresholds of which bound and figure are numbers of one unit.
type Bounds struct {
	Rows    []BoundRow
	invalid bool
}

// BoundRow is a threshold.
type BoundRow struct {
	Outcome       result.ThresholdOutcome
	Bound, Actual float64
}

var boundNumber = regexp.MustCompile(`^(?:below |above )?([0-9]+(?:[.][0-9]+)?)([a-z%]*)$`)

// NewBounds returns the thresholds; nil if none has a number.
func NewBounds(r *result.Result) *Bounds {
	b := &Bounds{invalid: invalid(r)}
	for _, o := range r.Thresholds {
		bound, actual := boundNumber.FindStringSubmatch(o.Bound), boundNumber.FindStringSubmatch(o.Actual)
		if bound == nil || actual == nil || bound[2] != actual[2] {
			continue
		}
		row := BoundRow{Outcome: o}
		row.Bound, _ = strconv.ParseFloat(bound[1], 64)
		row.Actual, _ = strconv.ParseFloat(actual[1], 64)
		b.Rows = append(b.Rows, row)
	}
	if len(b.Rows) == 0 {
		return nil
	}
	return b
}

// ActualText returns the figure of a threshold with three significant digits, or as it is if these would put it at the bound or
// on its other side.
func ActualText(o *result.ThresholdOutcome) string {
	bound, actual := boundNumber.FindStringSubmatch(o.Bound), boundNumber.FindStringSubmatch(o.Actual)
	if bound == nil || actual == nil || bound[2] != actual[2] {
		return o.Actual
	}
	limit, _ := strconv.ParseFloat(bound[1], 64)
	exact, _ := strconv.ParseFloat(actual[1], 64)
	text := picture.Significant(exact)
	rounded, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || cmp.Compare(rounded, limit) != cmp.Compare(exact, limit) {
		return o.Actual
	}
	return text + actual[2]
}

// word says whether a threshold is met.
func (b *Bounds) word(r *BoundRow) (string, picture.Color) {
	switch {
	case b.invalid:
		return "unknown: result not valid", picture.Same
	case r.Outcome.Met:
		return "met", picture.Good
	}
	return "MISSED", picture.Bad
}

func boundText(r *BoundRow) string {
	return fmt.Sprintf("%s %s: %s", r.Outcome.Metric, r.Outcome.Bound, ActualText(&r.Outcome))
}

// Draw draws a row for each threshold: the side that meets it as a thick line, and the figure as a mark.
func (b *Bounds) Draw(width float64) *picture.Picture {
	row, second := 44.0, 0.0 // second is the distance of a second line, if words and figures don't fit into one
	for _, r := range b.Rows {
		word, _ := b.word(&r)
		if picture.TextWidth(word, picture.TextStyle{Size: 13, Bold: true})+8+picture.TextWidth(boundText(&r), picture.TextStyle{Size: 13}) > width {
			row, second = 62, 18
		}
	}
	p := picture.New(width, row*float64(len(b.Rows))+8)
	var texts []string
	for i, r := range b.Rows {
		word, color := b.word(&r)
		y, text := row*float64(i), boundText(&r)
		texts = append(texts, text+", "+word)
		bold := picture.TextStyle{Size: 13, Bold: true, Color: color}
		p.Text(0, y+16, word, bold)
		left := picture.TextWidth(word, bold) + 8
		if second > 0 {
			left = 0
		}
		y += second
		p.Clipped(left, y+16, text, width-left, picture.TextStyle{Size: 13})
		x := picture.LinearExact(1.15*max(r.Bound, r.Actual), 4, width-4)
		from, to := x.At(0), x.At(r.Bound)
		if strings.HasPrefix(r.Outcome.Bound, "above") {
			from, to = x.At(r.Bound), x.At(x.High)
		}
		p.Line(x.At(0), y+30, x.At(x.High), y+30, picture.Stroke{Color: picture.Grid})
		p.Line(from, y+30, to, y+30, picture.Stroke{Color: picture.AxisColor, Width: 3})
		p.Line(x.At(r.Bound), y+24, x.At(r.Bound), y+36, picture.Stroke{Color: picture.Text, Width: 2})
		if r.Outcome.Met {
			p.Circle(x.At(r.Actual), y+30, 4, color, b.invalid, ActualText(&r.Outcome))
		} else {
			p.Cross(x.At(r.Actual), y+30, 4.5, color, ActualText(&r.Outcome))
		}
	}
	p.Describe("Thresholds", strings.Join(texts, "; ")+".")
	return p
}

// Arrivals holds how well an open load kept its rate.
type Arrivals struct {
	Target, Achieved float64
	Due, Dropped     int64
	invalid          bool
}

// NewArrivals returns the arrivals; nil for other loads than open ones.
func NewArrivals(r *result.Result) *Arrivals {
	if r.Arrivals == nil {
		return nil
	}
	return &Arrivals{r.Arrivals.TargetRatePerSecond(), r.Arrivals.AchievedPerSecond(r.Merged.Dropped), r.Arrivals.Due, r.Merged.Dropped, invalid(r)}
}

// Draw draws the target rate and the achieved one below each other.
func (a *Arrivals) Draw(width float64) *picture.Picture {
	const row, left, right = 28, 96, 130
	text := fmt.Sprintf("%s of %s requests were dropped (%s): they never started, because no connection was free in time", picture.Count(a.Dropped), picture.Count(a.Due), picture.Share(a.Dropped, a.Due))
	if a.Dropped == 0 {
		text = fmt.Sprintf("none of %s requests was dropped", picture.Count(a.Due))
	}
	lines := picture.Wrap(text, width, picture.TextStyle{})
	p := picture.New(width, laneTop+2*row+13+picture.LineHeight*float64(len(lines)))
	p.Describe("Target rate and achieved rate", fmt.Sprintf("Target %s requests/s, achieved %s requests/s; %s.", picture.Significant(a.Target), picture.Significant(a.Achieved), text))
	p.Clipped(0, laneTop-10, "requests started per second", width, picture.TextStyle{Color: picture.Muted})
	x := picture.LinearExact(max(a.Target, a.Achieved), left, width-right)
	for i, bar := range []struct {
		name  string
		value float64
	}{{"target rate", a.Target}, {"achieved rate", a.Achieved}} {
		y := float64(laneTop + row*i)
		p.Text(0, y+15, bar.name, picture.TextStyle{})
		if i == 0 {
			p.Path([]picture.Point{{X: left, Y: y + 3}, {X: x.At(bar.value), Y: y + 3}, {X: x.At(bar.value), Y: y + 20}, {X: left, Y: y + 20}}, picture.Stroke{Color: picture.Text, Width: 1.5, Dash: "6 3"})
		} else {
			p.Rect(left, y+3, x.At(bar.value)-left, 17, picture.Throughput)
			if a.invalid {
				p.Hatched(left, y+3, x.At(bar.value)-left, 17, picture.Bad, "not a result: the run is invalid")
			}
		}
		p.Text(x.At(bar.value)+8, y+15, picture.Unit(picture.Significant(bar.value), "requests/s"), picture.TextStyle{})
	}
	p.Lines(0, laneTop+2*row+16, lines, width, picture.TextStyle{})
	return p
}

// ClientRows holds what the clients used, those with the most CPU first.
type ClientRows struct {
	Rows    []ClientRow
	Omitted int
	reach   float64 // the largest skew in milliseconds
}

// ClientRow is a client.
type ClientRow struct {
	Name string
	// CPUPercent is of the client's limit. Skew is from the common start time to its first request, in milliseconds.
	CPUPercent, Skew float64
}

// NewClients returns the clients' usage; nil if no limit of their CPU is known.
func NewClients(r *result.Result) *ClientRows {
	limit := r.Environment.ClientCPULimit
	if limit <= 0 || len(r.Clients) == 0 {
		return nil
	}
	c := &ClientRows{}
	for i := range r.Clients {
		one := &r.Clients[i]
		c.Rows = append(c.Rows, ClientRow{fmt.Sprintf("client %d", one.Index), one.CPUPercentOf(limit), float64(one.StartSkewMicroseconds) / 1000})
		c.reach = max(c.reach, math.Abs(float64(one.StartSkewMicroseconds)/1000))
	}
	slices.SortStableFunc(c.Rows, func(a, b ClientRow) int { return cmp.Compare(b.CPUPercent, a.CPUPercent) })
	const most = 8
	if c.Omitted = len(c.Rows) - most; c.Omitted > 0 {
		c.Rows = c.Rows[:most]
	}
	return c
}

// Draw draws a bar of CPU for each client with the bounds of findings, and at the right when it started.
func (c *ClientRows) Draw(width float64) *picture.Picture {
	const row, left = 26, 72
	skewWidth := 0.0
	if width >= picture.NarrowWidth && c.reach > 0 && len(c.Rows) > 1 {
		skewWidth = 240
	}
	box := picture.Box{X: left, W: width - left - 56 - skewWidth, H: row * float64(len(c.Rows))}
	title := newHeading("CPU, % of each client's limit; from 80% on it can be the limit", box.Right()+16)
	box.Y = title.below + 8
	p := picture.New(width, box.Bottom()+44)
	p.Describe("CPU of each client in percent of its limit", c.summary())
	title.draw(p)
	high := 100.0
	for _, r := range c.Rows {
		high = max(high, r.CPUPercent)
	}
	x := picture.LinearExact(high, box.X, box.Right())
	for i, r := range c.Rows {
		y := box.Y + row*float64(i)
		p.Clipped(0, y+15, r.Name, left-8, picture.TextStyle{})
		p.Rect(box.X, y+4, max(1, x.At(r.CPUPercent)-box.X), row-10, picture.Clients)
	}
	for _, rule := range []float64{80, 90} {
		p.Line(x.At(rule), box.Y, x.At(rule), box.Bottom(), picture.Stroke{Color: picture.Text, Dash: "2 3"})
	}
	for i, r := range c.Rows {
		p.OnPlot(x.At(r.CPUPercent)+6, box.Y+row*float64(i)+15, picture.Percent(r.CPUPercent), width, picture.TextStyle{})
	}
	p.XAxis(box, &x, "")
	if skewWidth > 0 {
		from, to := box.Right()+72, width-16
		p.Clipped(from, title.below-10, "start, ± ms from the common time", width-from, picture.TextStyle{Color: picture.Muted})
		middle := (from + to) / 2
		p.Line(middle, box.Y, middle, box.Bottom(), picture.Stroke{Color: picture.AxisColor})
		for i, r := range c.Rows {
			y := box.Y + row*float64(i) + 11
			p.Line(from, y, to, y, picture.Stroke{Color: picture.Grid})
			p.Circle(middle+r.Skew/c.reach*(to-from)/2, y, 3.5, picture.Clients, false, picture.Unit(picture.Significant(r.Skew), "ms"))
		}
		p.Text(from, box.Bottom()+18, "−"+picture.Significant(c.reach), picture.TextStyle{Color: picture.Muted})
		p.Text(to, box.Bottom()+18, "+"+picture.Significant(c.reach), picture.TextStyle{Color: picture.Muted, Anchor: picture.End})
	}
	if c.Omitted > 0 {
		p.Text(0, box.Bottom()+38, fmt.Sprintf("%d clients that used less are in the table.", c.Omitted), picture.TextStyle{Color: picture.Muted})
	}
	return p
}

func (c *ClientRows) summary() string {
	return fmt.Sprintf("%s used most, %s; the least of those shown %s.", c.Rows[0].Name, picture.Percent(c.Rows[0].CPUPercent), picture.Percent(c.Rows[len(c.Rows)-1].CPUPercent))
}
