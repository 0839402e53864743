// Package plan decides what a round does next: which run it creates, which it waits for, or that it has ended.
package plan

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
)

// Planner decides about a round. Its fields must not change during the round.
type Planner struct {
	inference.Design
	// Benchmark is the name of the Benchmark.
	Benchmark string
	// Number is the round's number, Seed determines the order of its runs.
	Number, Seed int64
}

// Step is the next action of a round. One of Waiting, Create and End is set.
type Step struct {
	// Waiting is the run under way, for whose end the round waits.
	Waiting *benchmark.Run
	// Create is the run to create: not before NotBefore, and not while Suspended.
	Create    *NextRun
	NotBefore time.Time
	Suspended bool
	// End is the outcome of a round that has ended.
	End *verdict.End
	// Blocks is the number of whole blocks.
	Blocks int
}

// NextRun is a run to create.
type NextRun struct {
	benchmark.RunKey
	// Name is the name of the BenchmarkRun.
	Name string
	// Load is the load that a trial tries; 0 for other runs.
	Load int64
}

// pause returns the time between two runs.
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
// whole block whether all claims are decided. Then come the capacity searches, cell by cell.
func (p *Planner) Next(runs []benchmark.Run) Step {
	l := p.ledger(runs)
	step := Step{Blocks: l.Full()}
	if l.UnderWay != nil {
		step.Waiting = l.UnderWay
		if next := p.nextOfAttempt(l, step.Blocks); next != nil {
			step.Waiting = nil
			p.create(&step, next)
		}
		return step
	}
	step.End = verdict.CutShort(&p.Design, l)
	if step.End != nil {
		return step
	}
	next := p.nextOfBlocks(l, step.Blocks)
	if next == nil {
		next = p.nextTrial(l)
	}
	if next == nil {
		step.End = verdict.Complete(&p.Design, l, capacitiesOf(l, p.Spec.Capacity))
		return step
	}
	p.create(&step, next)
	step.Suspended = ptr.Deref(p.Spec.Suspend, false)
	if l.Finished > 0 {
		step.NotBefore = l.Last.Add(p.pause())
	}
	return step
}

func (p *Planner) create(step *Step, next *NextRun) {
	next.Round = p.Number
	next.Name = next.RunKey.Name(p.Benchmark)
	step.Create = next
}

// nextOfAttempt returns the next run of the attempt at a block whose runs are made at the same time, or nil if it has all.
func (p *Planner) nextOfAttempt(l *blocks.Ledger, block int) *NextRun {
	if !blocks.Alternates(p.Spec) || l.Searching() {
		return nil
	}
	attempt, missing := l.Attempt(block)
	for _, cell := range blocks.Order(p.Seed, len(p.Cells), block) {
		if slices.Contains(missing, cell) {
			return &NextRun{RunKey: benchmark.RunKey{Cell: cell, Number: block, Replacement: attempt}}
		}
	}
	return nil
}

// Alternation returns the place of a run in its block, or nil if the cells of a block are run one after the other. Which variant a
// cell is differs from block to block.
func (p *Planner) Alternation(k benchmark.RunKey) *v1alpha1.Alternation {
	if !blocks.Alternates(p.Spec) || k.Trial {
		return nil
	}
	of := k
	of.Cell = 0
	variant := slices.Index(blocks.Order(p.Seed, len(p.Cells), k.Number), k.Cell)
	return &v1alpha1.Alternation{Block: of.Name(p.Benchmark), Variants: int32(len(p.Cells)), Variant: ptr.To(int32(variant))}
}

// ledger has the runs of the round by their places.
func (p *Planner) ledger(runs []benchmark.Run) *blocks.Ledger {
	var order v1alpha1.RunOrder
	if p.Spec.Repetitions != nil {
		order = p.Spec.Repetitions.Order
	}
	return blocks.NewLedger(runs, p.Number, len(p.Cells), order)
}

// Capacities returns the results of the capacity searches that have begun, by cell.
func (p *Planner) Capacities(runs []benchmark.Run) []benchmark.Capacity {
	return capacitiesOf(p.ledger(runs), p.Spec.Capacity)
}

// nextOfBlocks returns the next run of the blocks, or nil if they are complete: all of them are whole, or those that are decide
// all claims.
func (p *Planner) nextOfBlocks(l *blocks.Ledger, full int) *NextRun {
	least, most := blocks.Bounds(p.Spec)
	if full >= most || l.Searching() {
		return nil
	}
	if full >= least && !l.Begun(full) && p.Decided(l, full) {
		return nil
	}
	if blocks.Alternates(p.Spec) {
		return p.nextOfAttempt(l, full)
	}
	for _, cell := range blocks.Order(p.Seed, len(p.Cells), full) {
		var s blocks.Slot
		if full < len(l.Blocks) {
			s = l.Blocks[full][cell]
		}
		if s.Valid() == nil {
			return &NextRun{RunKey: benchmark.RunKey{Cell: cell, Number: full, Replacement: s.Replacement()}}
		}
	}
	return nil // not reached: the block isn't whole
}

// nextTrial returns the next trial of the capacity searches, or nil if they have ended.
func (p *Planner) nextTrial(l *blocks.Ledger) *NextRun {
	if p.Spec.Capacity == nil {
		return nil
	}
	for cell := range p.Cells {
		runs := l.TrialsOf(cell)
		step := search.Next(p.Spec.Capacity, trialsOf(runs))
		if step.Next == 0 {
			continue
		}
		k := benchmark.RunKey{Cell: cell, Trial: true, Number: len(runs)}
		if len(runs) < len(l.Trials[cell]) {
			k.Replacement = l.Trials[cell][len(runs)].Replacement()
		}
		return &NextRun{RunKey: k, Load: step.Next}
	}
	return nil
}
