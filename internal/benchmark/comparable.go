package benchmark

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// exempt says which conditions may differ between runs that are compared.
type exempt struct{ node, image, cpus, placement bool }

// The fields of the template that decide about a condition.
var (
	nodeFields  = []string{"/target/pod/nodeSelector", "/target/pod/runtimeClassName"}
	imageFields = []string{"/target/image", "/target/backends"}
	cpuFields   = []string{"/target/resources", "/target/backends"}
	// placementFields decide on which nodes clients may run, and whether the target's is one of them.
	placementFields = []string{"/clients/placement", "/clients/pod", "/target/pod/nodeSelector"}
)

// betweenCells returns which conditions may differ between two cells: those that the axes on which the cells
// differ are there to change.
func betweenCells(a, b *Cell) exempt {
	var e exempt
	for i := range a.changes {
		if a.changes[i].option == b.changes[i].option {
			continue
		}
		for _, c := range []*change{&a.changes[i], &b.changes[i]} {
			e.node = e.node || c.touches(nodeFields)
			e.image = e.image || c.touches(imageFields)
			e.cpus = e.cpus || c.touches(cpuFields)
			e.placement = e.placement || c.touches(placementFields)
		}
	}
	return e
}

// acrossRounds says which conditions may differ from stored runs: another image is what a baseline of an
// earlier time is compared with.
var acrossRounds = exempt{image: true}

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

// difference says in which condition two runs differ, or returns an empty text if they can be compared.
func difference(a, b *Run, e exempt) string {
	if a.Conditions == b.Conditions {
		return ""
	}
	x, y := &a.Conditions, &b.Conditions
	for _, c := range []struct {
		name, x, y string
		exempt     bool
	}{
		{"node type", x.NodeType, y.NodeType, e.node},
		{"kernel", x.Kernel, y.Kernel, e.node},
		{"image", x.Image, y.Image, e.image},
		{"CPU exclusivity", x.CPUExclusivity, y.CPUExclusivity, e.cpus},
		{"placement of clients", x.Placement, y.Placement, e.placement},
	} {
		if !c.exempt && c.x != c.y {
			return fmt.Sprintf("The %s of %s is %s, that of %s is %s.", c.name, b.Name, orUnknown(c.y), a.Name, orUnknown(c.x))
		}
	}
	return ""
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// mixed says for each cell why its runs can't be compared with each other or with those of its
// baseline; empty if they can. A cell's first valid run stands for the cell.
func (p *Planner) mixed(l *ledger) []string {
	first, mixed := make([]*Run, len(p.Cells)), make([]string, len(p.Cells))
	check := func(cell int, run *Run) {
		switch {
		case run == nil:
		case first[cell] == nil:
			first[cell] = run
		case mixed[cell] == "":
			mixed[cell] = difference(first[cell], run, exempt{})
		}
	}
	for _, block := range l.blocks {
		for cell := range block {
			check(cell, block[cell].valid())
		}
	}
	for cell, trials := range l.trials {
		for _, trial := range trials {
			check(cell, trial.valid())
		}
	}
	own := append([]string(nil), mixed...)
	for cell := range p.Cells {
		c := &p.Cells[cell]
		if c.Baseline == NoBaseline || mixed[cell] != "" {
			continue
		}
		mixed[cell] = own[c.Baseline]
		if a, b := first[c.Baseline], first[cell]; mixed[cell] == "" && a != nil && b != nil {
			mixed[cell] = difference(a, b, betweenCells(&p.Cells[c.Baseline], c))
		}
	}
	return mixed
}

// mixedWithStored says why a cell's runs can't be compared with its stored ones, or why these can't be
// taken together.
func (p *Planner) mixedWithStored(cell int, run *Run) string {
	stored := p.Stored[p.Cells[cell].Name]
	for i := range stored {
		if d := difference(&stored[i], run, acrossRounds); d != "" {
			return d
		}
	}
	return ""
}

// compared reports whether a cell is compared with another cell or with stored runs.
func (p *Planner) compared(cell int) bool {
	if p.Spec.Comparison == nil {
		return false
	}
	if p.rerun() {
		return p.Cells[cell].Baseline != NoBaseline
	}
	return len(p.Stored[p.Cells[cell].Name]) > 0
}

// rerun reports whether the baseline is a cell of the round.
func (p *Planner) rerun() bool { return p.Spec.Comparison.Baseline.Cell != nil }

// comparisons returns the number of comparisons of a gate: that of its metrics times that of the cells that
// are compared.
func (p *Planner) comparisons() int {
	cells, metrics := 0, 0
	for cell := range p.Cells {
		if p.compared(cell) {
			cells++
		}
	}
	for _, m := range p.Spec.Comparison.Metrics {
		if roleOf(&m) == v1alpha1.RoleGate {
			metrics++
		}
	}
	return cells * metrics
}
