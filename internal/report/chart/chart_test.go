package chart_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// long returns a result of so many seconds, in one of which everything is ten times as much.
func long(seconds, peak int) *result.Result {
	r := reporttest.Measured(1, 1)
	second := r.Series[0]
	r.Series = nil
	for i := range seconds {
		s := second
		s.Second, s.Requests, s.P50, s.P90, s.P99, s.Max = int64(i), 100, 1000, 2000, 3000+int64(i%7), 5000
		if i == peak {
			s.Requests, s.P50, s.P90, s.P99, s.Max = 1000, 10_000, 20_000, 30_000, 50_000
		}
		r.Series = append(r.Series, s)
	}
	r.DurationMicroseconds = int64(seconds) * 1e6
	return r
}

// places returns the y of all points of the paths of a class, in pixels.
func places(t *testing.T, svg, class string) (ys []float64) {
	t.Helper()
	for _, d := range regexp.MustCompile(`<path class="`+class+`[^>]* d="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		y := 0.0
		for _, part := range regexp.MustCompile(`([Mlh])([^Mlh]*)`).FindAllStringSubmatch(d[1], -1) {
			var numbers []float64
			for _, text := range regexp.MustCompile(`-?[0-9]*\.?[0-9]+`).FindAllString(part[2], -1) {
				numbers = append(numbers, parse(t, text))
			}
			for i := 1; i < len(numbers); i += 2 {
				if part[1] == "M" {
					y = numbers[i]
				} else {
					y += numbers[i]
				}
				ys = append(ys, y)
			}
		}
	}
	return ys
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	sign, number := 1.0, strings.TrimPrefix(text, "-")
	if number != text {
		sign = -1
	}
	whole, fraction, _ := strings.Cut(number, ".")
	x := 0.0
	for _, digit := range whole {
		x = 10*x + float64(digit-'0')
	}
	for i, digit := range fraction {
		x += float64(digit-'0') / math.Pow10(i+1)
	}
	return sign * x
}

// TestExtremesSurviveThinning checks that a single second stands out although points are narrower than a pixel.
func TestExtremesSurviveThinning(t *testing.T) {
	tl := chart.NewTimeline(long(5000, 3333))
	for id, class := range map[string]string{chart.PanelThroughput: "s-throughput", chart.PanelLatency: "s-p99"} {
		l := tl.Panel(id)
		svg := string(tl.Figure(l, false).HTML())
		_, high := l.Range()
		if id == chart.PanelLatency {
			high = 30 // of p99
		}
		top, height := plotOf(t, svg)
		y := l.Scale()
		_, lines, _ := strings.Cut(svg, "data-line")
		drawn := places(t, lines, class)
		if highest, want := slices.Min(places(t, svg, class+`" data-line`)), top+(1-y.At(high))*height; math.Abs(highest-want) > 0.2 {
			t.Errorf("%s: the highest point is at %g, want %g", id, highest, want)
		}
		if len(drawn) > 2*1000+8 {
			t.Errorf("%s: %d points", id, len(drawn))
		}
	}
}

// plotOf returns top and height of the plot of a panel, which the rectangle of the warm-up fills.
func plotOf(t *testing.T, svg string) (y, height float64) {
	t.Helper()
	m := regexp.MustCompile(`<rect class="f-warmup"[^>]* y="([0-9.]+)"[^>]* height="([0-9.]+)"`).FindStringSubmatch(svg)
	if m == nil {
		t.Fatal("no warm-up")
	}
	return parse(t, m[1]), parse(t, m[2])
}

// TestPlotsShareTheirTimes checks that all panels have the same scale of time to the pixel.
func TestPlotsShareTheirTimes(t *testing.T) {
	tl := chart.NewTimeline(reporttest.Measured(2, 22))
	var first string
	for i := range tl.Panels {
		if l := &tl.Panels[i]; l.Empty == "" {
			svg := string(tl.Figure(l, true).HTML())
			place := strings.Join(regexp.MustCompile(`(class="fit[^"]*").*<rect class="f-warmup"( x="[0-9.]+").*?( width="[0-9.]+")`).FindStringSubmatch(svg)[1:], "")
			if first == "" {
				first = place
			}
			if place != first {
				t.Errorf("the warm-up of %s is at %s, that of others at %s", l.ID, place, first)
			}
		}
	}
}

// TestAShortLastPointJoins checks that some milliseconds at the end of a measurement aren't drawn as a second.
func TestAShortLastPointJoins(t *testing.T) {
	r := long(10, -1)
	r.DurationMicroseconds = 9_085_000
	r.Series[9].Requests, r.Series[9].ServerCPU = 8, 100
	tl := chart.NewTimeline(r)
	if tl.Points() != 9 || tl.End != 9.085 {
		t.Errorf("%d points to %g s", tl.Points(), tl.End)
	}
	if v := tl.Panel(chart.PanelThroughput).Lines[0].Values[8]; math.Abs(v-98/1.085) > 0.1 {
		t.Errorf("%g requests/s in the last point", v)
	}
	if v := tl.Panel(chart.PanelLatency).Lines[3].Values[8]; v != 5 {
		t.Errorf("the maximum of the last point is %g ms, want 5", v)
	}
}

// TestJoinedPointsAreGaps checks that unknown percentiles interrupt their lines, and that the maximum stays.
func TestJoinedPointsAreGaps(t *testing.T) {
	r := long(12, -1)
	r.Series[5].Join(&r.Series[6])
	r.Series = slices.Delete(r.Series, 6, 7)
	tl := chart.NewTimeline(r)
	l := tl.Panel(chart.PanelLatency)
	for i, want := range []bool{true, true, true, false} { // p50, p90, p99, max
		if got := math.IsNaN(l.Lines[i].Values[5]); got != want {
			t.Errorf("%s is unknown: %t", l.Lines[i].Name, got)
		}
	}
	svg := string(tl.Figure(l, true).HTML())
	if d := regexp.MustCompile(`<path class="s-p50"[^>]* data-line[^>]* d="([^"]*)"`).FindStringSubmatch(svg); d == nil || strings.Count(d[1], "M") != 2 {
		t.Errorf("the line of p50 isn't interrupted once: %v", d)
	}
	if tl.Joined() != 2 {
		t.Errorf("points of %d s", tl.Joined())
	}
}

// TestBoundsBeyondTheAxis checks that 80% isn't drawn at the top of an axis that ends below.
func TestBoundsBeyondTheAxis(t *testing.T) {
	r := long(10, -1)
	for i := range r.Series {
		r.Series[i].ClientCPU = 100_000 // 5% of 2 CPUs
	}
	tl := chart.NewTimeline(r)
	if svg := string(tl.Figure(tl.Panel(chart.PanelClientCPU), true).HTML()); strings.Contains(svg, `stroke-dasharray="2 3"`) || strings.Contains(svg, ">80%<") {
		t.Error("a bound is drawn that the axis doesn't have")
	}
}

// TestCurvesHaveTheReportedPercentiles checks that curves go through the percentiles that tables have, rise, and end at the
// count with the maximum.
func TestCurvesHaveTheReportedPercentiles(t *testing.T) {
	for name, r := range map[string]*result.Result{"2 clients": reporttest.Measured(2, 22), "10 clients": reporttest.Measured(10, 22), "open": reporttest.Opened()} {
		total := r.Merged.Latencies.Get(result.Total)
		points := chart.NewCurve("all clients", total).Points
		for p := range percentile.Count {
			want := plot.Point{X: chart.OneIn(p), Y: float64(total.Percentile(p.Percent())) / 1000}
			if want.X < float64(total.Count()) && !slices.Contains(points, want) {
				t.Errorf("%s: the curve doesn't go through p%s, %g ms", name, p, want.Y)
			}
		}
		if !slices.IsSortedFunc(points, func(a, b plot.Point) int {
			if a.X >= b.X && a.Y >= b.Y {
				return 1
			}
			return -1
		}) {
			t.Errorf("%s: the curve doesn't rise", name)
		}
		if last := points[len(points)-1]; last.X != float64(total.Count()) || last.Y != float64(total.Max())/1000 {
			t.Errorf("%s: the curve ends at 1 in %g with %g ms", name, last.X, last.Y)
		}
		// Of many clients there is a range, and the curve of the worst.
		var names []string
		for _, n := range chart.Percentiles(r).Drawing.(*plot.Figure).Columns[0][0].Names {
			names = append(names, n.Text)
		}
		all := strings.Join(names, ", ")
		if many := len(r.Clients) > 8; many != slices.Contains(names, "range of clients") || many != strings.Contains(all, "(worst)") {
			t.Errorf("%s: names %s", name, all)
		}
	}
}

// TestFindingsInBrackets checks that findings without a time stand in brackets left of the axis, three in a row, and at no time.
func TestFindingsInBrackets(t *testing.T) {
	r := long(10, -1)
	r.Findings = []result.Finding{{Reason: "A"}, {Reason: "B", Seconds: &result.Span{From: 4}}, {Reason: "C"}, {Reason: "D"}, {Reason: "E"}}
	tl := chart.NewTimeline(r)
	p := tl.Figure(tl.Panel(chart.PanelFindings), false).Columns[0][0]
	var labels []string
	for _, tick := range p.Y.Ticks {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, ", "); got != "[1 3 4], [5]" || p.Height != 36 {
		t.Errorf("%s, %g pixels high", got, p.Height)
	}
	var numbers []int
	for _, m := range p.Marks {
		if dot, is := m.(plot.Dot); is {
			numbers = append(numbers, dot.Number)
		}
	}
	if !slices.Equal(numbers, []int{2}) {
		t.Errorf("numbers %v at a time", numbers)
	}
}

// TestCurvesByRequest checks that each request has a curve, and of many those with the longest 99th percentiles.
func TestCurvesByRequest(t *testing.T) {
	names := func(r *result.Result) (texts []string) {
		for _, n := range chart.PercentilesByRequest(r).Drawing.(*plot.Figure).Columns[0][0].Names {
			texts = append(texts, n.Text)
		}
		return texts
	}
	r := reporttest.Paged()
	if got := names(r); len(got) != 3 || !slices.Contains(got, "checkout") {
		t.Errorf("names %q", got)
	}
	r.ByRequest = nil
	for i := range 12 {
		h := result.NewHistogram()
		h.Record(int64(1000 * (i + 1)))
		r.ByRequest = append(r.ByRequest, result.RequestMetrics{Name: strings.Repeat("é", 20) + strconv.Itoa(i), Requests: 1, Latency: h}, result.RequestMetrics{Name: "failed", Requests: 1})
	}
	if got := names(r); len(got) != 8 || got[0] != strings.Repeat("é", 20)+"11" {
		t.Errorf("names %q", got)
	}
	if caption := chart.PercentilesByRequest(r).Caption; !strings.Contains(caption, "The 8 of 12 requests with the longest 99th percentiles.") {
		t.Error(caption)
	}
	r.ByRequest = r.ByRequest[:2]
	if chart.PercentilesByRequest(r).Drawing != nil {
		t.Error("a single request has a plot of its own")
	}
}
