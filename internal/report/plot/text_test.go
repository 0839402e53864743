package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestText has rows with what a row can have, values beyond the axis, a name that is too long, and labels that touch; and
// lines of one point, of none and with a step.
func TestText(t *testing.T) {
	axis := Scale{Low: -10, High: 10, of: identity, Ticks: []Tick{{Value: -10, Label: "−10"}, {Value: -9, Label: "−9"}, {Value: 0, Label: "0"}, {Value: 10, Label: "+10"}}}
	interval := func(from, to float64) Interval { return Interval{From: Point{X: from}, To: Point{X: to}} }
	dashed := Stroke{Dash: "1 3"}
	rows := Plot{X: axis, Axis: "change", Rows: []Row{
		{Name: "all", Marks: []Mark{Rule{Stroke: dashed, X: -5}, Rule{}, interval(2, 8), Dot{At: Point{X: 6}}}, Texts: []Text{{Text: "better"}}},
		{Name: "a name that is far too long", Marks: []Mark{interval(math.Inf(-1), math.Inf(1)), Dot{At: Point{X: -99}, Hollow: true}}},
		{Name: "nothing"},
	}}
	step := Plot{X: axis, Y: Linear(0, 4), Marks: []Mark{Line{}, Line{Points: []Point{{-10, 0}, {0, 4}}}, Rule{}}}
	for name, test := range map[string]struct {
		plot *Plot
		want string
	}{
		"rows": {&rows, `
                      −10       0       +10  change
all                        :    | ├───●─┤    better
a name that is far …  ○───────────────────→
nothing`},
		"a step": {&step, `
4 ┤          ⢸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
3 ┤          ⢸
2 ┤          ⢸
0 ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸
  └─────────────────────
   −10       0       +10`},
		"nothing": {&Plot{X: axis, Y: Scale{of: identity}}, `
 │
 │
 │
 │
 └─────────────────────
  −10       0       +10`},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, line := range test.plot.Text(21, 4) {
				got.WriteString("\n" + strings.TrimRight(line, " "))
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, got.String())
			}
		})
	}
}
