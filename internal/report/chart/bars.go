package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
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
	colors  []plot.Color
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
			p.colors = append(p.colors, plot.VariantColor(i))
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

// Figure draws a bar for all clients and for each, in parts.
func (p *Phases) Figure() *plot.Figure {
	if p == nil {
		return nil
	}
	of := plot.Plot{Axis: "mean time of a successful request, ms", XName: "ms", Invalid: p.invalid}
	for i, name := range p.Names {
		of.Names = append(of.Names, plot.Name{Text: name, Stroke: plot.Stroke{Color: p.colors[i]}, Box: true})
	}
	most := 0.0
	for i, bar := range p.Bars {
		most = max(most, bar.Total)
		row, from := plot.Row{Name: bar.Name, Bold: i == 0, Texts: []plot.Text{{Text: number.Unit(number.Significant(bar.Total), "ms")}}}, 0.0
		for j, mean := range bar.Means {
			row.Marks = append(row.Marks, plot.Rect{From: plot.Point{X: from, Y: barTop}, To: plot.Point{X: from + mean, Y: barBottom}, Color: p.colors[j], Tip: fmt.Sprintf("%s, %s: %s", bar.Name, p.Names[j], number.Unit(number.Significant(mean), "ms"))})
			from += mean
		}
		of.Rows = append(of.Rows, row)
	}
	of.X = plot.Linear(0, most)
	return plot.Of("Where the time goes: mean of each phase", p.summary(), of)
}

// The ordinates of bars in their rows.
const (
	barTop    = 5
	barBottom = plot.RowHeight - 5
)

func (p *Phases) summary() string {
	var texts []string
	for i, name := range p.Names {
		texts = append(texts, name+" "+number.Unit(number.Significant(p.Bars[0].Means[i]), "ms"))
	}
	return fmt.Sprintf("Over all clients: %s; total %s.", strings.Join(texts, ", "), number.Unit(number.Significant(p.Bars[0].Total), "ms"))
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
	color plot.Color
}

// NewErrors returns the failed requests; nil if there are none.
func NewErrors(r *result.Result) *Errors {
	if r.Merged.Errors.Total() == 0 {
		return nil
	}
	e := &Errors{Requests: r.Merged.Requests, invalid: invalid(r)}
	for kind, n := range r.Merged.Errors.Occurred() {
		e.Bars = append(e.Bars, ErrorBar{kind.String(), n, plot.ErrorColor(int(kind))})
	}
	return e
}

// Figure draws a bar for each kind, with count and share.
func (e *Errors) Figure() *plot.Figure {
	if e == nil {
		return nil
	}
	p := plot.Plot{Axis: "failed requests by kind: number, and share of all requests", Invalid: e.invalid}
	most := int64(1)
	var texts []string
	for _, bar := range e.Bars {
		most = max(most, bar.Count)
		texts = append(texts, fmt.Sprintf("%s %s", bar.Name, number.Count(bar.Count)))
		p.Rows = append(p.Rows, plot.Row{
			Name: bar.Name, Texts: []plot.Text{{Text: fmt.Sprintf("%s (%s)", number.Count(bar.Count), number.Share(bar.Count, e.Requests))}},
			Marks: []plot.Mark{plot.Rect{From: plot.Point{Y: barTop}, To: plot.Point{X: float64(bar.Count), Y: barBottom}, Color: bar.color}},
		})
	}
	p.X = plot.LinearExact(float64(most))
	p.X.Ticks = nil // each bar has its number
	return plot.Of("Failed requests by kind", strings.Join(texts, ", ")+fmt.Sprintf(" of %s requests.", number.Count(e.Requests)), p)
}
