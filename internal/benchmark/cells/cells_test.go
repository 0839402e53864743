package cells_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/test/benchtest"
)

func names(cells []cells.Cell) (names []string) {
	for _, c := range cells {
		names = append(names, c.Name)
	}
	return names
}

func TestCells(t *testing.T) {
	connections, connector := benchtest.Values("connections", "/load/closed/connections", "25", "100"), benchtest.Options("connector", "nio", "apr", "nginx")
	for name, c := range map[string]struct {
		spec      v1alpha1.BenchmarkSpec
		want      []string
		baselines []int
	}{
		"no axes": {
			want:      []string{"template"},
			baselines: []int{-1},
		},
		"two axes": {
			spec: v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{connections, connector}},
			want: []string{
				"connections=25,connector=nio", "connections=25,connector=apr", "connections=25,connector=nginx",
				"connections=100,connector=nio", "connections=100,connector=apr", "connections=100,connector=nginx",
			},
			baselines: []int{-1, -1, -1, -1, -1, -1},
		},
		"excluded, with a baseline on one axis": {
			spec: v1alpha1.BenchmarkSpec{
				Axes:       []v1alpha1.Axis{connections, connector},
				Exclude:    []v1alpha1.CellSelector{{"connector": "nginx", "connections": "25"}},
				Comparison: baselineCell(v1alpha1.CellSelector{"connector": "apr"}),
			},
			want: []string{
				"connections=25,connector=nio", "connections=25,connector=apr",
				"connections=100,connector=nio", "connections=100,connector=apr", "connections=100,connector=nginx",
			},
			baselines: []int{1, -1, 3, -1, 3},
		},
		"a baseline on two axes": {
			spec: v1alpha1.BenchmarkSpec{
				Axes:       []v1alpha1.Axis{connections, benchtest.Options("connector", "nio", "apr")},
				Comparison: baselineCell(v1alpha1.CellSelector{"connector": "apr", "connections": "25"}),
			},
			want: []string{
				"connections=25,connector=nio", "connections=25,connector=apr",
				"connections=100,connector=nio", "connections=100,connector=apr",
			},
			baselines: []int{1, -1, 1, 1},
		},
		"names of values": {
			spec: v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Values("v", "/x", `"-Xmx1g -Da=b"`, "true", "null", "1.50", "2.0", "1e3", `"a,b"`, `""`, `"\u0007"`, "[1,2]", "{}", `"`+strings.Repeat("x", 64)+`"`)}},
			want: []string{
				"v=-Xmx1g -Da=b", "v=true", "v=null", "v=1.50", "v=2", "v=1000", "v=#7", "v=#8", "v=#9", "v=#10", "v=#11", "v=#12",
			},
			baselines: []int{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cells, err := cells.Of(&c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, names(cells)); diff != "" {
				t.Errorf("names: (-want +got)\n%s", diff)
			}
			var baselines []int
			for i, cell := range cells {
				if cell.Index != i {
					t.Errorf("cell %s has the index %d at position %d", cell.Name, cell.Index, i)
				}
				baselines = append(baselines, cell.Baseline)
				for _, axis := range c.spec.Axes {
					if !strings.Contains(","+cell.Name+",", fmt.Sprintf(",%s=%s,", axis.Name, cell.Values[axis.Name])) {
						t.Errorf("cell %s has the values %v", cell.Name, cell.Values)
					}
				}
			}
			if diff := cmp.Diff(c.baselines, baselines); diff != "" {
				t.Errorf("baselines: (-want +got)\n%s", diff)
			}
		})
	}
}

func baselineCell(selector v1alpha1.CellSelector) *v1alpha1.Comparison {
	return &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{Cell: selector}}
}

func TestCellsRefused(t *testing.T) {
	a, b := benchtest.Options("a", "x", "y"), benchtest.Options("b", "x", "y")
	var eight []v1alpha1.Axis
	for i := range 8 {
		eight = append(eight, benchtest.Values(fmt.Sprint("a", i), "/x", benchtest.Numbers(1, 64)...))
	}
	for name, c := range map[string]struct {
		spec v1alpha1.BenchmarkSpec
		want string
	}{
		"far too many": {
			v1alpha1.BenchmarkSpec{Axes: eight},
			"spec.axes: 281474976710656 combinations of values, must be at most 4096: use fewer axes or values",
		},
		"too many": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Values("n", "/x", benchtest.Numbers(1, 64)...), benchtest.Options("o", "a", "b", "c", "d", "e")}, Exclude: []v1alpha1.CellSelector{{"o": "e", "n": "1"}}},
			"spec.axes: 319 cells, must be at most 256: use fewer values, or exclude some",
		},
		"repeated value": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, benchtest.Values("n", "/x", "1", "2", "1.0")}},
			"spec.axes[1]: values[2]: it repeats values[0], 1: use each value once",
		},
		"repeated object": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Values("n", "/x", `{"a":1,"b":2}`, `{"b":2, "a":1}`)}},
			"spec.axes[0]: values[1]: it repeats values[0], #1: use each value once",
		},
		"repeated name": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Values("n", "/x", "1", `"1"`)}},
			"spec.axes[0]: values[1]: it repeats values[0], 1: use each value once",
		},
		"repeated option": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("n", "x", "y", "x")}},
			"spec.axes[0]: options[2]: it repeats the name of options[0], x: use each name once",
		},
		"repeated axis": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, a}},
			`spec.axes[1]: there is another axis "a": use different names`,
		},
		"no values": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{{Name: "a"}}},
			"spec.axes[0]: it has no values: set values or options",
		},
		"unknown axis in exclude": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, b}, Exclude: []v1alpha1.CellSelector{{"a": "x"}, {"c": "x"}}},
			`spec.exclude[1]: unknown axis "c": use one of a, b`,
		},
		"unknown value in exclude": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, b}, Exclude: []v1alpha1.CellSelector{{"a": "z"}}},
			`spec.exclude[0]: unknown value "z" of axis a: use one of x, y`,
		},
		"unknown value among many": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Values("n", "/x", benchtest.Numbers(1, 20)...)}, Exclude: []v1alpha1.CellSelector{{"n": "21"}}},
			`spec.exclude[0]: unknown value "21" of axis n: use one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, or 8 others`,
		},
		"exclude without axes": {
			v1alpha1.BenchmarkSpec{Exclude: []v1alpha1.CellSelector{{"a": "x"}}},
			`spec.exclude[0]: unknown axis "a": there are none`,
		},
		"everything excluded": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a}, Exclude: []v1alpha1.CellSelector{{"a": "x"}, {"a": "y"}}},
			"spec.exclude: every cell is excluded: exclude fewer",
		},
		"unknown baseline": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, b}, Comparison: baselineCell(v1alpha1.CellSelector{"b": "z"})},
			`spec.comparison.baseline.cell: unknown value "z" of axis b: use one of x, y`,
		},
		"excluded baseline": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, b}, Exclude: []v1alpha1.CellSelector{{"a": "x", "b": "x"}}, Comparison: baselineCell(v1alpha1.CellSelector{"b": "x"})},
			"spec.comparison.baseline.cell: the cell a=x,b=x is excluded, but is the baseline of a=x,b=y: exclude both or neither",
		},
		"nothing to compare": {
			v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{a, benchtest.Options("b", "x")}, Comparison: baselineCell(v1alpha1.CellSelector{"b": "x"})},
			"spec.comparison.baseline.cell: every cell is a baseline, so that there is nothing to compare: add a value to one of its axes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cells.Of(&c.spec)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
