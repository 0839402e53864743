// Package cells combines the values of a Benchmark's axes, and makes the specs of the cells' runs.
package cells

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	// Max is the largest number of cells of a Benchmark.
	Max = 256
	// maxCombinations is the largest number of combinations from which cells may be excluded.
	maxCombinations = 4096
	// templateCell is the name of the only cell of a Benchmark without axes.
	templateCell = "template"
)

// Cell is one combination of the axes' values.
type Cell struct {
	// Index numbers the cells from 0: in the order of the values, those of the last axis first.
	Index int `json:"index"`
	// Name has the names of the values in the order of the axes: "connections=25,connector=nio".
	Name string `json:"name"`
	// Values has the names of the values by axis; nil without axes.
	Values map[string]string `json:"values,omitempty"`
	// Baseline is the index of the cell that this one is compared with by comparison.baseline.cell, or
	// NoBaseline: the baselines themselves, and all cells without such a baseline.
	Baseline int `json:"baseline"`

	changes []change // in the order of the axes
}

// NoBaseline is the value of Cell.Baseline of a cell that isn't compared with another.
const NoBaseline = -1

// Of returns the cells of a Benchmark: all combinations of its axes' values but the excluded ones. A
// spec always gives the same cells. Errors begin with the path of the field that is wrong.
func Of(spec *v1alpha1.BenchmarkSpec) ([]Cell, error) {
	axes, combinations := make([]axis, len(spec.Axes)), 1.0
	for i := range spec.Axes {
		a, err := newAxis(&spec.Axes[i])
		if err != nil {
			return nil, fmt.Errorf("spec.axes[%d]: %w", i, err)
		}
		if slices.ContainsFunc(axes[:i], func(other axis) bool { return other.name == a.name }) {
			return nil, fmt.Errorf("spec.axes[%d]: there is another axis %q: use different names", i, a.name)
		}
		axes[i] = a
		combinations *= float64(len(a.options))
	}
	if combinations > maxCombinations {
		return nil, fmt.Errorf("spec.axes: %.0f combinations of values, must be at most %d: use fewer axes or values", combinations, maxCombinations)
	}

	excluded := make([]selection, len(spec.Exclude))
	for i, selector := range spec.Exclude {
		s, err := selectFrom(axes, selector)
		if err != nil {
			return nil, fmt.Errorf("spec.exclude[%d]: %w", i, err)
		}
		excluded[i] = s
	}
	all := expand(axes, int(combinations), excluded)
	if all.count() == 0 {
		return nil, errors.New("spec.exclude: every cell is excluded: exclude fewer")
	}
	if n := all.count(); n > Max {
		return nil, fmt.Errorf("spec.axes: %d cells, must be at most %d: use fewer values, or exclude some", n, Max)
	}
	if spec.Comparison != nil && spec.Comparison.Baseline.Cell != nil {
		if err := all.compare(spec.Comparison.Baseline.Cell); err != nil {
			return nil, fmt.Errorf("spec.comparison.baseline.cell: %w", err)
		}
	}
	return all.cells(), nil
}

// combinations has all combinations of the axes' values. A combination's place is the number whose
// digits are the values' positions, the last axis's being the last digit. Those that are excluded
// are nil.
type combinations struct {
	axes []axis
	at   []*Cell
}

func expand(axes []axis, n int, excluded []selection) combinations {
	all := combinations{axes: axes, at: make([]*Cell, n)}
	index := 0
	for place := range all.at {
		positions := all.positions(place)
		if slices.ContainsFunc(excluded, func(s selection) bool { return s.has(positions) }) {
			continue
		}
		all.at[place] = newCell(axes, positions, index)
		index++
	}
	return all
}

func (c *combinations) positions(place int) []int {
	positions := make([]int, len(c.axes))
	for i := len(c.axes) - 1; i >= 0; i-- {
		n := len(c.axes[i].options)
		positions[i], place = place%n, place/n
	}
	return positions
}

func (c *combinations) place(positions []int) int {
	place := 0
	for i, p := range positions {
		place = place*len(c.axes[i].options) + p
	}
	return place
}

func (c *combinations) count() int {
	n := 0
	for _, cell := range c.at {
		if cell != nil {
			n++
		}
	}
	return n
}

func (c *combinations) cells() []Cell {
	cells := make([]Cell, 0, c.count())
	for _, cell := range c.at {
		if cell != nil {
			cells = append(cells, *cell)
		}
	}
	return cells
}

// compare sets the baseline of each cell: the one that differs from it only on the selected axes.
func (c *combinations) compare(selector v1alpha1.CellSelector) error {
	selected, err := selectFrom(c.axes, selector)
	if err != nil {
		return err
	}
	compared := 0
	for place, cell := range c.at {
		if cell == nil {
			continue
		}
		positions := c.positions(place)
		for axis, position := range selected {
			positions[axis] = position
		}
		baseline := c.at[c.place(positions)]
		switch {
		case baseline == nil:
			return fmt.Errorf("the cell %s is excluded, but is the baseline of %s: exclude both or neither", newCell(c.axes, positions, 0).Name, cell.Name)
		case baseline != cell:
			cell.Baseline = baseline.Index
			compared++
		}
	}
	if compared == 0 {
		return errors.New("every cell is a baseline, so that there is nothing to compare: add a value to one of its axes")
	}
	return nil
}

func newCell(axes []axis, positions []int, index int) *Cell {
	if len(axes) == 0 {
		return &Cell{Index: index, Name: templateCell, Baseline: NoBaseline}
	}
	cell := &Cell{Index: index, Values: make(map[string]string, len(axes)), Baseline: NoBaseline, changes: make([]change, len(axes))}
	names := make([]string, len(axes))
	for i, a := range axes {
		option := a.options[positions[i]]
		names[i] = a.name + "=" + option.option
		cell.Values[a.name] = option.option
		cell.changes[i] = option
	}
	cell.Name = strings.Join(names, ",")
	return cell
}

// selection is a selector of cells: the positions of values by the positions of their axes.
type selection map[int]int

func (s selection) has(positions []int) bool {
	for axis, position := range s {
		if positions[axis] != position {
			return false
		}
	}
	return true
}

func selectFrom(axes []axis, selector v1alpha1.CellSelector) (selection, error) {
	s := selection{}
	for _, name := range slices.Sorted(maps.Keys(selector)) {
		i := slices.IndexFunc(axes, func(a axis) bool { return a.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown axis %q: %s", name, hint(axes, func(a axis) string { return a.name }))
		}
		value := selector[name]
		j := slices.IndexFunc(axes[i].options, func(c change) bool { return c.option == value })
		if j < 0 {
			return nil, fmt.Errorf("unknown value %q of axis %s: %s", value, name, hint(axes[i].options, func(c change) string { return c.option }))
		}
		s[i] = j
	}
	return s, nil
}

// Select returns the index of the only cell that a selector selects.
func Select(cells []Cell, selector v1alpha1.CellSelector) (int, error) {
	found := -1
	for i := range cells {
		c := &cells[i]
		if !c.In(selector) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("it selects %s and %s: name a value of each axis", cells[found].Name, c.Name)
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("it selects no cell: %s", hint(cells, func(c Cell) string { return c.Name }))
	}
	return found, nil
}

// In reports whether a selector selects the cell.
func (c *Cell) In(selector v1alpha1.CellSelector) bool {
	for axis, value := range selector {
		if c.Values[axis] != value {
			return false
		}
	}
	return true
}

// hint lists names that exist.
func hint[T any](known []T, name func(T) string) string {
	const listed = 12
	if len(known) == 0 {
		return "there are none"
	}
	var names []string
	for _, k := range known[:min(len(known), listed)] {
		names = append(names, name(k))
	}
	if more := len(known) - listed; more > 0 {
		names = append(names, fmt.Sprintf("or %d others", more))
	}
	return "use one of " + strings.Join(names, ", ")
}

// DiffersIn reports whether the axes on which two cells differ change one of the template's fields.
func (c *Cell) DiffersIn(other *Cell, fields []string) bool {
	for i := range c.changes {
		a, b := &c.changes[i], &other.changes[i]
		if a.option != b.option && (a.touches(fields) || b.touches(fields)) {
			return true
		}
	}
	return false
}

// touches reports whether a change is of one of the fields, a part of it, or something that contains it.
func (c *change) touches(fields []string) bool {
	for _, field := range fields {
		for _, path := range c.remove {
			if overlap(path, field) {
				return true
			}
		}
		for _, set := range c.set {
			if overlap(set.Path, field) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}
