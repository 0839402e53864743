package runpage

import (
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/picture"
)

// seriesJSON is what the page's script reads: the figures of all plots over time, and how to write them.
type seriesJSON struct {
	// Start and End are the ends of the axis, in seconds. Times has the begin of each point.
	Start float64    `json:"start"`
	End   float64    `json:"end"`
	Times []float64  `json:"times"`
	Lanes []laneJSON `json:"lanes"`
	// Marks are findings and breaking points.
	Marks []markJSON `json:"marks,omitempty"`
	// Left and Right are the distances of the plot from the ends of a picture, for wide, medium and narrow pages.
	Places [3]placeJSON `json:"places"`
}

// markJSON is what happened at a time: a finding with its number, or a breaking point. At is negative for the whole measurement.
type markJSON struct {
	At     float64 `json:"at"`
	Number int     `json:"number,omitempty"`
	Text   string  `json:"text"`
}

type placeJSON struct {
	Width float64 `json:"width"`
	Left  float64 `json:"left"`
	Right float64 `json:"right"`
}

type laneJSON struct {
	ID    string     `json:"id"`
	Name  string     `json:"name"`
	Short string     `json:"short,omitempty"`
	Ticks []tickJSON `json:"ticks"`
	Unit  string     `json:"unit,omitempty"`
	Log   bool       `json:"log,omitempty"`
	// Heat reports whether the picture has shades behind the lines.
	Heat  bool       `json:"heat,omitempty"`
	Stack bool       `json:"stack,omitempty"`
	Low   float64    `json:"low"`
	High  float64    `json:"high"`
	Lines []lineJSON `json:"lines"`
}

type tickJSON struct {
	Value float64 `json:"value"`
	Label string  `json:"label"`
}

type lineJSON struct {
	Name  string `json:"name"`
	Color string `json:"color"`
	Dash  string `json:"dash,omitempty"`
	Dots  bool   `json:"dots,omitempty"`
	Step  bool   `json:"step,omitempty"`
	// Values are the figures, null where they are unknown. If all are the same, All is that figure instead.
	Values []value `json:"values,omitempty"`
	All    *value  `json:"all,omitempty"`
}

// value is a figure with the three significant digits with which pages write it, or null.
type value float64

// MarshalJSON writes the figure.
func (v value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) {
		return []byte("null"), nil
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', 3, 64), 64)
	if err != nil {
		return nil, err
	}
	return strconv.AppendFloat(nil, rounded, 'f', -1, 64), nil
}

// series returns the data of the plots.
func series(t *chart.Timeline) *seriesJSON {
	s := &seriesJSON{Start: t.Start, End: t.End, Times: t.Times[:t.Points()]}
	for i, width := range pageWidths {
		box := chart.Frame(width)
		s.Places[i] = placeJSON{width, box.X, width - box.Right()}
	}
	for _, m := range t.Marks {
		s.Marks = append(s.Marks, markJSON(m))
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if len(l.Lines) == 0 {
			continue
		}
		y := l.Scale(picture.Box{H: 1})
		lane := laneJSON{ID: l.ID, Name: l.Name, Short: l.Short, Unit: l.Unit, Log: l.Log, Heat: l.Heat != nil, Stack: l.Stacked, Low: y.Low, High: y.High}
		for _, t := range y.Ticks {
			lane.Ticks = append(lane.Ticks, tickJSON(t))
		}
		for j := range l.Lines {
			line := &l.Lines[j]
			values := make([]value, len(line.Values))
			for p, v := range line.Values {
				values[p] = value(v)
			}
			one := lineJSON{Name: line.Name, Color: string(line.Color), Dash: line.Dash, Dots: line.Dots, Step: line.Step, Values: values}
			if !slices.ContainsFunc(values, func(v value) bool { return v != values[0] }) {
				one.Values, one.All = nil, &values[0]
			}
			lane.Lines = append(lane.Lines, one)
		}
		s.Lanes = append(s.Lanes, lane)
	}
	return s
}
