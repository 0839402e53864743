package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// Phases holds the mean times of the phases of requests.
type Phases struct {
	// Names are the phases that occurred, in their order.
	Names []string
	// Bars has all clients together, then each, up to maxBars of them.
	Bars    []PhaseBar
	Omitted int
	invalid bool
	colors  []picture.Color
}

// PhaseBar holds the mean times of a client, or of all, in milliseconds. Means has one for each name; they add up to Total.
type PhaseBar struct {
	Name  string
	Means []float64
	Total float64
}

const maxBars = 9

// phaseParts are the parts of the total time, in their order, with the mean of each in microseconds. Sending is what is
// left of the processing.
var phaseParts = []struct {
	name string
	of   func(sums *[result.Phases]float64) float64
}{
	{"delay", func(s *[result.Phases]float64) float64 { return s[result.Delay] }},
	{"connect", func(s *[result.Phases]float64) float64 { return s[result.Connect] }},
	{"TLS", func(s *[result.Phases]float64) float64 { return s[result.TLS] }},
	{"sending", func(s *[result.Phases]float64) float64 {
		return max(0, s[result.Processing]-s[result.Waiting]-s[result.Receiving])
	}},
	{"waiting", func(s *[result.Phases]float64) float64 { return s[result.Waiting] }},
	{"receiving", func(s *[result.Phases]float64) float64 { return s[result.Receiving] }},
}

// NewPhases returns the mean times of phases; nil if no request succeeded.
func NewPhases(r *result.Result) *Phases {
	if r.Merged.Latencies.Get(result.Total).Count() == 0 {
		return nil
	}
	p := &Phases{invalid: invalid(r)}
	all := []*[result.Phases]float64{sums(&r.Merged.Latencies, nil)}
	names := []string{"all clients"}
	if len(r.Clients) > 1 {
		for i := range r.Clients {
			if len(all) == maxBars {
				p.Omitted++
				continue
			}
			all = append(all, sums(&r.Clients[i].Latencies, &r.Clients[i].Summaries))
			names = append(names, fmt.Sprintf("client %d", r.Clients[i].Index))
		}
	}
	for i, part := range phaseParts {
		if part.of(all[0]) > 0 {
			p.Names = append(p.Names, part.name)
			p.colors = append(p.colors, picture.Variant(i))
		}
	}
	for i, s := range all {
		bar := PhaseBar{Name: names[i]}
		for _, part := range phaseParts {
			if mean := part.of(s) / 1000; part.of(all[0]) > 0 {
				bar.Means = append(bar.Means, mean)
				bar.Total += mean
			}
		}
		p.Bars = append(p.Bars, bar)
	}
	return p
}

// sums returns the mean of each phase over all successful requests in microseconds.
func sums(histograms *result.Latencies, summaries *result.Summaries) *[result.Phases]float64 {
	var means [result.Phases]float64
	count := histograms.Get(result.Total).Count()
	if summaries != nil && summaries[result.Total] != nil {
		count = summaries[result.Total].Count
	}
	if count == 0 {
		return &means
	}
	for phase := range means {
		sum := histograms.Get(result.Phase(phase)).Sum()
		if summaries != nil && summaries[phase] != nil {
			sum = summaries[phase].Sum
		}
		means[phase] = float64(sum) / float64(count)
	}
	return &means
}

// Draw draws a bar for all clients and for each, in parts.
func (p *Phases) Draw(width float64) *picture.Picture {
	const row, left, right = 30, 96, 72
	legend := p.legend(width)
	title := newHeading("mean time of a successful request, ms", width)
	top := title.below + rowHeight*float64(len(legend)) + 12
	box := picture.Box{X: left, Y: top, W: width - left - right, H: row * float64(len(p.Bars))}
	pic := picture.New(width, box.Bottom()+44)
	pic.Describe("Where the time goes: mean of each phase", p.summary())
	title.draw(pic)
	most := 0.0
	for _, bar := range p.Bars {
		most = max(most, bar.Total)
	}
	x := picture.Linear(0, most, box.X, box.Right())
	for _, t := range x.Ticks {
		pic.Line(x.At(t.Value), box.Y, x.At(t.Value), box.Bottom(), picture.Stroke{Color: picture.Grid})
	}
	for i, bar := range p.Bars {
		y, from := box.Y+row*float64(i)+5, 0.0
		pic.Clipped(0, y+14, bar.Name, left-8, picture.TextStyle{Bold: i == 0})
		for j, mean := range bar.Means {
			w := x.At(from+mean) - x.At(from)
			pic.TippedRect(x.At(from), y, max(0, w-1), row-10, p.colors[j], fmt.Sprintf("%s, %s: %s", bar.Name, p.Names[j], picture.Unit(picture.Significant(mean), "ms")))
			from += mean
		}
		pic.Text(x.At(from)+6, y+14, picture.Unit(picture.Significant(bar.Total), "ms"), picture.TextStyle{})
		if p.invalid {
			pic.Hatched(box.X, y, max(0, x.At(from)-box.X), row-10, picture.Bad, "not a result: the run is invalid")
		}
	}
	for i, line := range legend {
		for _, item := range line {
			y := title.below + 4 + rowHeight*float64(i)
			pic.Rect(item.x, y-9, 10, 10, item.line.Color)
			pic.Text(item.x+16, y, item.line.Name, picture.TextStyle{})
		}
	}
	pic.XAxis(box, &x, "ms")
	return pic
}

func (p *Phases) legend(width float64) []legendRow {
	lines := make([]Line, len(p.Names))
	for i := range lines {
		lines[i] = Line{Name: p.Names[i], Color: p.colors[i]}
	}
	if rows := legendRows(lines, width); rows != nil || len(lines) == 0 {
		return rows
	}
	return []legendRow{{{line: &lines[0]}}}
}

func (p *Phases) summary() string {
	var texts []string
	for i, name := range p.Names {
		texts = append(texts, name+" "+picture.Unit(picture.Significant(p.Bars[0].Means[i]), "ms"))
	}
	return fmt.Sprintf("Over all clients: %s; total %s.", strings.Join(texts, ", "), picture.Unit(picture.Significant(p.Bars[0].Total), "ms"))
}

// Errors holds the failed requests by kind.
type Errors struct {
	Bars []ErrorBar
	// Requests is the number of all requests.
	Requests int64
	invalid  bool
}

// ErrorBar is a kind of errors.
type ErrorBar struct {
	Name  string
	Count int64
	color picture.Color
}

// NewErrors returns the failed requests; nil if there are none.
func NewErrors(r *result.Result) *Errors {
	if r.Merged.Errors.Total() == 0 {
		return nil
	}
	e := &Errors{Requests: r.Merged.Requests, invalid: invalid(r)}
	for kind, n := range r.Merged.Errors.Occurred() {
		e.Bars = append(e.Bars, ErrorBar{kind.String(), n, picture.ErrorColor(int(kind))})
	}
	return e
}

// Draw draws a bar for each kind, with count and share.
func (e *Errors) Draw(width float64) *picture.Picture {
	const row, left, right = 26, 80, 130
	title := newHeading("failed requests by kind: number, and share of all requests", width)
	box := picture.Box{X: left, Y: title.below + 4, W: width - left - right, H: row * float64(len(e.Bars))}
	pic := picture.New(width, box.Bottom()+8)
	most := int64(1)
	var texts []string
	for _, bar := range e.Bars {
		most = max(most, bar.Count)
		texts = append(texts, fmt.Sprintf("%s %s", bar.Name, picture.Count(bar.Count)))
	}
	pic.Describe("Failed requests by kind", strings.Join(texts, ", ")+fmt.Sprintf(" of %s requests.", picture.Count(e.Requests)))
	title.draw(pic)
	x := picture.LinearExact(float64(most), box.X, box.Right())
	for i, bar := range e.Bars {
		y := box.Y + row*float64(i) + 4
		pic.Text(0, y+13, bar.Name, picture.TextStyle{})
		pic.Rect(box.X, y, max(1, x.At(float64(bar.Count))-box.X), row-8, bar.color)
		if e.invalid {
			pic.Hatched(box.X, y, max(1, x.At(float64(bar.Count))-box.X), row-8, picture.Bad, "not a result: the run is invalid")
		}
		pic.Text(x.At(float64(bar.Count))+8, y+13, fmt.Sprintf("%s (%s)", picture.Count(bar.Count), picture.Share(bar.Count, e.Requests)), picture.TextStyle{})
	}
	return pic
}
