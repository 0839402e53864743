package benchmark

import (
	"cmp"
	"slices"
	"time"
)

// maxSlots bounds the indexes of blocks and trials: names have two digits for them.
const maxSlots = 100

// ledger has the runs of a round by their places, whatever order they are listed in.
type ledger struct {
	cells    int
	blocks   [][]slot // by block and cell
	trials   [][]slot // by cell and trial
	underWay *Run
	finished int
	invalid  []*Run    // finished ones, in the order of their keys
	last     time.Time // the end of the last run
}

// slot has a run and those that replace it, by their replacement numbers.
type slot []*Run

// valid returns the valid run, or nil. No run replaces a valid one.
func (s slot) valid() *Run {
	for _, r := range s {
		if r.Valid && !r.Ended.IsZero() {
			return r
		}
	}
	return nil
}

// replacement returns the number of the next run of a slot without a valid one.
func (s slot) replacement() int {
	next := 0
	for _, r := range s {
		next = max(next, r.Replacement+1)
	}
	return next
}

// ledger ignores runs of other rounds and of cells that don't exist.
func (p *Planner) ledger(runs []Run) *ledger {
	l := &ledger{cells: len(p.Cells), trials: make([][]slot, len(p.Cells))}
	for i := range runs {
		r := &runs[i]
		if r.Round != p.Number || r.Cell < 0 || r.Cell >= l.cells || r.Number < 0 || r.Number >= maxSlots {
			continue
		}
		s := l.slot(r)
		*s = append(*s, r)
		slices.SortFunc(*s, func(a, b *Run) int { return cmp.Compare(a.Replacement, b.Replacement) })
		if r.Ended.IsZero() {
			if l.underWay == nil || compareKeys(r.RunKey, l.underWay.RunKey) < 0 {
				l.underWay = r
			}
			continue
		}
		l.finished++
		if r.Ended.After(l.last) {
			l.last = r.Ended
		}
		if !r.Valid {
			l.invalid = append(l.invalid, r)
		}
	}
	slices.SortFunc(l.invalid, func(a, b *Run) int { return compareKeys(a.RunKey, b.RunKey) })
	return l
}

func compareKeys(a, b RunKey) int {
	kind := func(k RunKey) int {
		if k.Trial {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Replacement, b.Replacement))
}

func (l *ledger) slot(r *Run) *slot {
	if r.Trial {
		for len(l.trials[r.Cell]) <= r.Number {
			l.trials[r.Cell] = append(l.trials[r.Cell], nil)
		}
		return &l.trials[r.Cell][r.Number]
	}
	for len(l.blocks) <= r.Number {
		l.blocks = append(l.blocks, make([]slot, l.cells))
	}
	return &l.blocks[r.Number][r.Cell]
}

// wholeBlocks returns the number of blocks, from the first on, in which every cell has a valid run.
func (l *ledger) wholeBlocks() int {
	for i, block := range l.blocks {
		if slices.ContainsFunc(block, func(s slot) bool { return s.valid() == nil }) {
			return i
		}
	}
	return len(l.blocks)
}

// begun reports whether a block has any run.
func (l *ledger) begun(block int) bool {
	return block < len(l.blocks) && slices.ContainsFunc(l.blocks[block], func(s slot) bool { return len(s) > 0 })
}

// searching reports whether there is any trial.
func (l *ledger) searching() bool {
	return slices.ContainsFunc(l.trials, func(trials []slot) bool { return len(trials) > 0 })
}

// trialsOf returns the valid trials of a cell in their order, up to the first that is missing.
func (l *ledger) trialsOf(cell int) (trials []*Run) {
	for _, s := range l.trials[cell] {
		run := s.valid()
		if run == nil {
			break
		}
		trials = append(trials, run)
	}
	return trials
}
