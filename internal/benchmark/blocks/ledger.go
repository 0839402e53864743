// Package blocks orders the runs of a block, and has the runs of a round by their places.
package blocks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// maxSlots bounds the indexes of blocks and trials: names have two digits for them.
const maxSlots = 100

// Ledger has the runs of a round by their places, whatever order they are listed in.
type Ledger struct {
	cells int
	// together reports whether the runs of a block are made at the same time. They count only together: an attempt at a block
	// has the runs with the same replacement number.
	together bool
	// attempts has the runs of each block by their replacement numbers, if they are made together.
	attempts []map[int][]*benchmark.Run
	Blocks   [][]Slot // by block and cell
	Trials   [][]Slot // by cell and trial
	UnderWay *benchmark.Run
	Finished int
	Invalid  []*benchmark.Run // finished ones, in the order of their keys
	// Replaced counts the runs, or attempts at blocks, that had no valid result.
	Replaced int
	Last     time.Time // the end of the last run
}

// Slot has a run and those that replace it, by their replacement numbers.
type Slot []*benchmark.Run

// Valid returns the valid run, or nil. No run replaces a valid one.
func (s Slot) Valid() *benchmark.Run {
	for _, r := range s {
		if r.Valid && !r.Ended.IsZero() {
			return r
		}
	}
	return nil
}

// Replacement returns the number of the next run of a slot without a valid one.
func (s Slot) Replacement() int {
	next := 0
	for _, r := range s {
		next = max(next, r.Replacement+1)
	}
	return next
}

// NewLedger returns the ledger of a round of the given number of cells, whose blocks are made in the given order. It ignores
// runs of other rounds and of cells that don't exist.
func NewLedger(runs []benchmark.Run, round int64, cells int, order v1alpha1.RunOrder) *Ledger {
	l := &Ledger{cells: cells, together: order == v1alpha1.OrderAlternating, Trials: make([][]Slot, cells)}
	for i := range runs {
		r := &runs[i]
		if r.Round != round || r.Cell < 0 || r.Cell >= l.cells || r.Number < 0 || r.Number >= maxSlots {
			continue
		}
		s := l.slot(r)
		*s = append(*s, r)
		slices.SortFunc(*s, func(a, b *benchmark.Run) int { return cmp.Compare(a.Replacement, b.Replacement) })
		if r.Ended.IsZero() {
			if l.UnderWay == nil || compareKeys(r.RunKey, l.UnderWay.RunKey) < 0 {
				l.UnderWay = r
			}
			continue
		}
		l.Finished++
		if r.Ended.After(l.Last) {
			l.Last = r.Ended
		}
		if !r.Valid {
			l.Invalid = append(l.Invalid, r)
		}
	}
	slices.SortFunc(l.Invalid, func(a, b *benchmark.Run) int { return compareKeys(a.RunKey, b.RunKey) })
	l.Replaced = len(l.Invalid)
	if l.together {
		l.Replaced = 0
		for block := range l.Blocks {
			l.Replaced += l.keepTogether(block)
		}
	}
	return l
}

// keepTogether leaves in a block only the valid runs of the attempt whose runs are all valid, if there is one, and returns the
// number of attempts with an invalid run, or after which there was another. Runs under way and invalid ones stay.
func (l *Ledger) keepTogether(block int) (failed int) {
	attempts := map[int][]*benchmark.Run{}
	for _, s := range l.Blocks[block] {
		for _, r := range s {
			attempts[r.Replacement] = append(attempts[r.Replacement], r)
		}
	}
	whole, latest := -1, slices.Max(append(slices.Collect(maps.Keys(attempts)), 0))
	for attempt, runs := range attempts {
		if len(runs) == l.cells && !slices.ContainsFunc(runs, func(r *benchmark.Run) bool { return !r.Valid || r.Ended.IsZero() }) {
			whole = max(whole, attempt)
		}
		if attempt < latest || slices.ContainsFunc(runs, func(r *benchmark.Run) bool { return !r.Valid && !r.Ended.IsZero() }) {
			failed++
		}
	}
	for cell := range l.Blocks[block] {
		s := &l.Blocks[block][cell]
		*s = slices.DeleteFunc(*s, func(r *benchmark.Run) bool { return r.Replacement != whole && r.Valid && !r.Ended.IsZero() })
	}
	l.attempts = append(l.attempts, attempts)
	return failed
}

// Attempt returns the number of the attempt at a block that is under way or comes next, and the cells that have no run in it yet.
// There are none while the attempt can't succeed any more.
func (l *Ledger) Attempt(block int) (number int, missing []int) {
	var runs []*benchmark.Run
	if block < len(l.attempts) {
		for attempt, of := range l.attempts[block] {
			if attempt >= number {
				number, runs = attempt, of
			}
		}
	}
	if slices.ContainsFunc(runs, func(r *benchmark.Run) bool { return !r.Ended.IsZero() }) {
		if l.UnderWay != nil {
			return number, nil
		}
		number, runs = number+1, nil
	}
	for cell := range l.cells {
		if !slices.ContainsFunc(runs, func(r *benchmark.Run) bool { return r.Cell == cell }) {
			missing = append(missing, cell)
		}
	}
	return number, missing
}

func compareKeys(a, b benchmark.RunKey) int {
	kind := func(k benchmark.RunKey) int {
		if k.Trial {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Replacement, b.Replacement))
}

func (l *Ledger) slot(r *benchmark.Run) *Slot {
	if r.Trial {
		for len(l.Trials[r.Cell]) <= r.Number {
			l.Trials[r.Cell] = append(l.Trials[r.Cell], nil)
		}
		return &l.Trials[r.Cell][r.Number]
	}
	for len(l.Blocks) <= r.Number {
		l.Blocks = append(l.Blocks, make([]Slot, l.cells))
	}
	return &l.Blocks[r.Number][r.Cell]
}

// Full returns the number of blocks, from the first on, in which every cell has a valid run.
func (l *Ledger) Full() int {
	for i, block := range l.Blocks {
		if slices.ContainsFunc(block, func(s Slot) bool { return s.Valid() == nil }) {
			return i
		}
	}
	return len(l.Blocks)
}

// Values returns the values of a metric of a cell in each of the first blocks.
func (l *Ledger) Values(blocks, cell int, metric v1alpha1.BenchmarkMetric) []float64 {
	values := make([]float64, blocks)
	for i := range values {
		values[i] = l.Blocks[i][cell].Valid().Metric(metric)
	}
	return values
}

// Begun reports whether a block has any run.
func (l *Ledger) Begun(block int) bool {
	return block < len(l.Blocks) && slices.ContainsFunc(l.Blocks[block], func(s Slot) bool { return len(s) > 0 })
}

// Searching reports whether there is any trial.
func (l *Ledger) Searching() bool {
	return slices.ContainsFunc(l.Trials, func(trials []Slot) bool { return len(trials) > 0 })
}

// TrialsOf returns the valid trials of a cell in their order, up to the first that is missing.
func (l *Ledger) TrialsOf(cell int) (trials []*benchmark.Run) {
	for _, s := range l.Trials[cell] {
		run := s.Valid()
		if run == nil {
			break
		}
		trials = append(trials, run)
	}
	return trials
}
