package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// part is a level of a load, or a step between two.
type part struct {
	*result.Level
	step bool
	from int64 // of a step
}

// name is the load: "400", or of a step "200 to 400".
func (p *part) name() string {
	if p.step {
		return fmt.Sprintf("%d to %d", p.from, p.Load())
	}
	return fmt.Sprint(p.Load())
}

func levelsOf(r *result.Result) []part {
	var parts []part
	for i := range r.Levels {
		parts = append(parts, part{Level: &r.Levels[i]})
	}
	return parts
}

func stepsOf(r *result.Result) []part {
	var parts []part
	for i := range r.Steps {
		parts = append(parts, part{&r.Steps[i].Level, true, r.Steps[i].From})
	}
	return parts
}

// allParts returns levels and steps in the order of time.
func allParts(r *result.Result) []part {
	parts := append(stepsOf(r), levelsOf(r)...)
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.Start, b.Start) })
	return parts
}

// UnitOfLoad returns the unit in which a load is counted.
func UnitOfLoad(r *result.Result) string {
	if r.Run.Load == result.LoadOpen {
		return "requests/s"
	}
	return r.Run.UsersOrConnections()
}

// heldUnit returns the heading of the column of levels.
func heldUnit(r *result.Result) string {
	if r.Run.Load == result.LoadOpen {
		return "target/s"
	}
	return r.Run.UsersOrConnections()
}
