package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

// Pairs holds the figures of two single runs.
type Pairs struct {
	Names [2]string
	Rows  []Pair
}

// Pair holds a metric of two runs in the unit of round.MetricUnit.
type Pair struct {
	Metric v1alpha1.BenchmarkMetric
	Values [2]float64
}

// NewPairs returns the figures of a comparison of two single runs.
func NewPairs(c *round.Comparison) *Pairs {
	p := &Pairs{Names: [2]string{c.Baseline.Name, c.Candidate.Name}}
	for i := range c.Effects {
		e := &c.Effects[i]
		p.Rows = append(p.Rows, Pair{e.Metric, [2]float64{round.InUnit(e.Metric, e.BaselineMedian), round.InUnit(e.Metric, e.CandidateMedian)}})
	}
	return p
}

// Draw draws each metric as two marks on a line of its own from 0.
func (c *Pairs) Draw(width float64) *picture.Picture {
	const height = 46.0
	narrow := width < picture.NarrowWidth
	left, right := 200.0, 210.0
	if narrow {
		left, right = 0, 0
	}
	p := picture.New(width, 34+height*float64(len(c.Rows)))
	var texts []string
	for _, row := range c.Rows {
		texts = append(texts, fmt.Sprintf("%s %s and %s", round.MetricTitle(row.Metric), picture.Significant(row.Values[0]), picture.Significant(row.Values[1])))
	}
	p.Describe("Figures of "+c.Names[0]+" and "+c.Names[1], strings.Join(texts, "; ")+". One run each.")
	x := left
	for i, name := range c.Names {
		p.Marker(x+5, 12, i, false, "")
		p.Clipped(x+15, 16, name, (width-left)/2-24, picture.TextStyle{})
		x += (width - left) / 2
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		y := 34 + height*float64(i) + 24
		values := picture.Significant(row.Values[0]) + " and " + picture.Significant(row.Values[1])
		if narrow {
			p.Clipped(0, y-8, round.MetricTitle(row.Metric), width*0.55, picture.TextStyle{})
			p.Text(width, y-8, values, picture.TextStyle{Anchor: picture.End})
			y += 6
		} else {
			p.Clipped(0, y+4, round.MetricTitle(row.Metric), left-12, picture.TextStyle{Size: 13})
			p.Clipped(width-right+16, y+4, values, right-16, picture.TextStyle{Size: 13})
		}
		most := max(row.Values[0], row.Values[1])
		at := func(v float64) float64 {
			if most <= 0 {
				return left + 6
			}
			return left + 6 + v/most*(width-left-right-12)
		}
		p.Line(left+6, y, width-right-6, y, picture.Stroke{Color: picture.Grid})
		p.Line(at(row.Values[0]), y, at(row.Values[1]), y, picture.Stroke{Color: picture.AxisColor})
		for j, v := range row.Values {
			p.Marker(at(v), y, j, false, c.Names[j]+": "+picture.Significant(v))
		}
	}
	return p
}
