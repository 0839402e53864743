package runpage

import (
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/report/chart"
)

// seriesJSON is what the page's script reads: the values of all plots over time, and how to write them.
type seriesJSON struct {
	// Start and End are the ends of the axis, in seconds. Times has the begin of each point.
	Start  float64     `json:"start"`
	End    float64     `json:"end"`
	Times  []float64   `json:"times"`
	Panels []panelJSON `json:"panels"`
}

type panelJSON struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Short string `json:"short,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Log   bool   `json:"log,omitempty"`
	// Heat reports whether the picture has shades behind the lines.
	Heat  bool       `json:"heat,omitempty"`
	Stack bool       `json:"stack,omitempty"`
	Low   float64    `json:"low"`
	High  float64    `json:"high"`
	Lines []lineJSON `json:"lines"`
}

type lineJSON struct {
	Name string `json:"name"`
	Step bool   `json:"step,omitempty"`
	// Values are those of all points, null where they are unknown. If all are the same, All is that value instead. Lines of a heat map
	// have neither.
	Values []value `json:"values,omitempty"`
	All    *value  `json:"all,omitempty"`
}

// value has the three significant digits with which pages write it, or is null.
type value float64

// MarshalJSON writes the value.
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
	for i := range t.Panels {
		l := &t.Panels[i]
		if len(l.Lines) == 0 {
			continue
		}
		y := l.Scale()
		panel := panelJSON{ID: l.ID, Name: l.Name, Short: l.Short, Unit: l.Unit, Log: l.Log, Heat: l.Heat != nil, Stack: l.Stacked, Low: y.Low, High: y.High}
		for j := range l.Lines {
			line := &l.Lines[j]
			values := make([]value, len(line.Values))
			for p, v := range line.Values {
				values[p] = value(v)
			}
			one := lineJSON{Name: line.Name, Step: line.Step, Values: values}
			if panel.Heat { // the script takes them from the panel of latencies
				one.Values = nil
			} else if !slices.ContainsFunc(values, func(v value) bool { return v != values[0] }) {
				one.Values, one.All = nil, &values[0]
			}
			panel.Lines = append(panel.Lines, one)
		}
		s.Panels = append(s.Panels, panel)
	}
	return s
}
