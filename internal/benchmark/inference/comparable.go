package inference

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
)

// exempt says which conditions may differ between runs that are compared.
type exempt struct{ node, image, cpus, placement bool }

// The fields of the template that decide about a condition.
var (
	nodeFields  = []string{"/target/nodeSelector", "/target/affinity", "/target/runtimeClassName"}
	imageFields = []string{"/target/image", "/target/backends"}
	cpuFields   = []string{"/target/resources", "/target/backends"}
	// placementFields decide on which nodes clients may run, and whether the target's is one of them.
	placementFields = []string{
		"/clients/placement", "/clients/nodeSelector", "/clients/affinity", "/clients/tolerations", "/clients/topologySpreadConstraints",
		"/target/nodeSelector", "/target/affinity",
	}
)

// betweenCells returns which conditions may differ between two cells: those that the axes on which the cells
// differ are there to change.
func betweenCells(a, b *cells.Cell) exempt {
	return exempt{
		node: a.DiffersIn(b, nodeFields), image: a.DiffersIn(b, imageFields), cpus: a.DiffersIn(b, cpuFields), placement: a.DiffersIn(b, placementFields),
	}
}

// acrossRounds says which conditions may differ from stored runs: another image is what a baseline of an
// earlier time is compared with.
var acrossRounds = exempt{image: true}

// difference says in which condition two runs differ, or returns an empty text if they can be compared.
func difference(a, b *benchmark.Run, e exempt) string {
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
			return fmt.Sprintf("The %s of %s is %s, that of %s is %s.", c.name, b.Name, cmp.Or(c.y, "unknown"), a.Name, cmp.Or(c.x, "unknown"))
		}
	}
	return ""
}

// Mixed says for each cell why its runs can't be compared with each other or with those of its
// baseline; empty if they can. A cell's first valid run stands for the cell.
func (d *Design) Mixed(l *blocks.Ledger) []string {
	first, mixed := make([]*benchmark.Run, len(d.Cells)), make([]string, len(d.Cells))
	check := func(cell int, run *benchmark.Run) {
		switch {
		case run == nil:
		case first[cell] == nil:
			first[cell] = run
		case mixed[cell] == "":
			mixed[cell] = difference(first[cell], run, exempt{})
		}
	}
	for _, block := range l.Blocks {
		for cell := range block {
			check(cell, block[cell].Valid())
		}
	}
	for cell, trials := range l.Trials {
		for _, trial := range trials {
			check(cell, trial.Valid())
		}
	}
	own := slices.Clone(mixed)
	with := func(cell, than int) {
		if than == cells.NoBaseline || mixed[cell] != "" {
			return
		}
		mixed[cell] = own[than]
		if a, b := first[than], first[cell]; mixed[cell] == "" && a != nil && b != nil {
			mixed[cell] = difference(a, b, betweenCells(&d.Cells[than], &d.Cells[cell]))
		}
	}
	for cell := range d.Cells {
		with(cell, d.Cells[cell].Baseline)
	}
	if claims, err := d.stated(); err == nil {
		for i := range claims {
			with(claims[i].Cell, claims[i].Than)
		}
	}
	return mixed
}

// mixedWithStored says why a cell's runs can't be compared with its stored ones, or why these can't be
// taken together.
func (d *Design) mixedWithStored(cell int, run *benchmark.Run) string {
	stored := d.Stored[d.Cells[cell].Name]
	for i := range stored {
		if d := difference(&stored[i], run, acrossRounds); d != "" {
			return d
		}
	}
	return ""
}
