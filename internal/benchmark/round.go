package benchmark

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Planner decides about a round. Its fields must not change during the round.
type Planner struct {
	// Benchmark is the name of the Benchmark.
	Benchmark string
	Spec      *v1alpha1.BenchmarkSpec
	// Cells are those of the spec.
	Cells []Cell
	// Number is the round's number, Seed determines the order of its runs.
	Number, Seed int64
	// Stored has the runs of a stored baseline by the names of the cells that are compared with them: those
	// of the same cells of another round, or for each cell all selected runs.
	Stored map[string][]Run
}

// Step is the next action of a round. One of Waiting, Create and End is set.
type Step struct {
	// Waiting is the run under way, for whose end the round waits.
	Waiting *Run
	// Create is the run to create: not before NotBefore, and not while Suspended.
	Create    *NextRun
	NotBefore time.Time
	Suspended bool
	// End is the outcome of a round that has ended.
	End *End
	// Blocks is the number of whole blocks.
	Blocks int
}

// NextRun is a run to create.
type NextRun struct {
	RunKey
	// Name is the name of the BenchmarkRun.
	Name string
	// Load is the load that a trial tries; 0 for other runs.
	Load int64
}

// End is the outcome of a round.
type End struct {
	Verdict v1alpha1.BenchmarkVerdict
	// Reason is a CamelCase word for the condition.
	Reason  string
	Message string
	// Evaluation holds the estimates and effects of the whole blocks.
	Evaluation Evaluation
}

const (
	defaultBlocks  = 10
	defaultReplace = 3
)

// bounds returns the smallest and the largest number of blocks.
func (p *Planner) bounds() (least, most int) {
	r := p.Spec.Repetitions
	switch {
	case r == nil && p.Spec.Capacity != nil:
		return 0, 0
	case r == nil:
		return defaultBlocks, defaultBlocks
	}
	least = int(ptr.Deref(r.Min, defaultBlocks))
	return least, max(least, int(ptr.Deref(r.Max, int32(least))))
}

// replace returns the number of invalid runs that are replaced, and pause the time between two runs.
func (p *Planner) replace() int {
	if r := p.Spec.Repetitions; r != nil {
		return int(ptr.Deref(r.InvalidRuns.Replace, defaultReplace))
	}
	return defaultReplace
}

func (p *Planner) pause() time.Duration {
	if r := p.Spec.Repetitions; r != nil {
		return time.Duration(ptr.Deref(r.PauseSeconds, 0)) * time.Second
	}
	return 0
}

// Next returns the next step of the round, given all its runs in any order. The same runs always give the
// same step, so that a round goes on where it stood, whatever happened to the manager.
//
// Blocks come first, one after the other. An invalid run is replaced at once, as long as no more runs are
// invalid than repetitions.invalidRuns.replace. Between min and max blocks the round looks after each
// whole block whether the intervals are narrow enough. Then come the capacity searches, cell by cell.
func (p *Planner) Next(runs []Run) Step {
	l := p.ledger(runs)
	step := Step{Blocks: l.wholeBlocks()}
	if l.underWay != nil {
		step.Waiting = l.underWay
		return step
	}
	step.End = p.cutShort(l, step.Blocks)
	if step.End != nil {
		return step
	}
	next, narrow := p.nextOfBlocks(l, step.Blocks)
	if next == nil {
		next = p.nextTrial(l)
	}
	if next == nil {
		step.End = p.complete(l, step.Blocks, narrow)
		return step
	}
	next.Round = p.Number
	next.Name = next.RunKey.Name(p.Benchmark)
	step.Create, step.Suspended = next, ptr.Deref(p.Spec.Suspend, false)
	if l.finished > 0 {
		step.NotBefore = l.last.Add(p.pause())
	}
	return step
}

// nextOfBlocks returns the next run of the blocks, or nil if they are complete. narrow reports whether they
// are because the intervals are narrow enough.
func (p *Planner) nextOfBlocks(l *ledger, blocks int) (next *NextRun, narrow bool) {
	least, most := p.bounds()
	if blocks >= most || l.searching() {
		return nil, blocks < most
	}
	if blocks >= least && !l.begun(blocks) && p.narrow(l, blocks) {
		return nil, true
	}
	for _, cell := range Block(p.Seed, len(p.Cells), blocks) {
		var s slot
		if blocks < len(l.blocks) {
			s = l.blocks[blocks][cell]
		}
		if s.valid() == nil {
			return &NextRun{RunKey: RunKey{Cell: cell, Number: blocks, Replacement: s.replacement()}}, false
		}
	}
	return nil, false // not reached: the block isn't whole
}

// nextTrial returns the next trial of the capacity searches, or nil if they have ended.
func (p *Planner) nextTrial(l *ledger) *NextRun {
	if p.Spec.Capacity == nil {
		return nil
	}
	for cell := range p.Cells {
		runs := l.trialsOf(cell)
		step := Search(p.Spec.Capacity, trialsOf(runs))
		if step.Next == 0 {
			continue
		}
		k := RunKey{Cell: cell, Trial: true, Number: len(runs)}
		if len(runs) < len(l.trials[cell]) {
			k.Replacement = l.trials[cell][len(runs)].replacement()
		}
		return &NextRun{RunKey: k, Load: step.Next}
	}
	return nil
}

func trialsOf(runs []*Run) []Trial {
	trials := make([]Trial, len(runs))
	for i, r := range runs {
		trials[i] = Trial{r.Load, r.Outcome}
	}
	return trials
}
