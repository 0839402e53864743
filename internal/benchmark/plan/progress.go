package plan

import (
	"time"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/search"
)

// Progress counts what a round has completed.
type Progress struct {
	// Blocks is the number of whole blocks.
	Blocks int
	// FinishedRuns counts runs that have ended, including invalid ones and trials, InvalidRuns those of
	// them that are invalid.
	FinishedRuns, InvalidRuns int
	// ExpectedEnd is the time at which the round will end if all goes on as it did; zero until the first run
	// has a result. All blocks up to max are assumed to be needed.
	ExpectedEnd time.Time
}

// typicalTrials is the number of trials that a capacity search needs on average in the simulation of
// TestSearchIsRobust.
const typicalTrials = 16

// Progress returns how far a round has come. It only changes when a run begins or ends.
func (p *Planner) Progress(runs []benchmark.Run) Progress {
	l := p.ledger(runs)
	progress := Progress{Blocks: l.Full(), FinishedRuns: l.Finished, InvalidRuns: len(l.Invalid)}
	blocks, trials := pace(l.Blocks), pace(l.Trials)
	// Until there is a trial, one is assumed to take as long as a run of a block.
	if trials.valid == 0 {
		trials.took, trials.valid = blocks.took, blocks.valid
	}
	if blocks.valid+trials.valid > 0 {
		progress.ExpectedEnd = l.Last.Add(blocks.of(p.runsLeft(l, blocks.valid)) + trials.of(p.trialsLeft(l)))
	}
	return progress
}

// runsLeft returns the number of runs that the blocks still need, of which some are valid.
func (p *Planner) runsLeft(l *blocks.Ledger, valid int) int {
	if l.Searching() {
		return 0
	}
	_, most := blocks.Bounds(p.Spec)
	return max(0, most*len(p.Cells)-valid)
}

// trialsLeft returns the number of trials that the capacity searches probably still need.
func (p *Planner) trialsLeft(l *blocks.Ledger) int {
	left := 0
	if p.Spec.Capacity == nil {
		return left
	}
	for cell := range p.Cells {
		done := l.TrialsOf(cell)
		if search.Next(p.Spec.Capacity, trialsOf(done)).Next != 0 {
			left += max(1, typicalTrials-len(done))
		}
	}
	return left
}

// speed is the number of valid runs, and the time from the start of the first run to the end of the last one:
// with invalid runs, pauses and the runs of others in the lane.
type speed struct {
	valid int
	took  time.Duration
}

func pace(places [][]blocks.Slot) speed {
	var s speed
	var first, last time.Time
	for _, slots := range places {
		for _, slot := range slots {
			if slot.Valid() != nil {
				s.valid++
			}
			for _, r := range slot {
				if first.IsZero() || r.Started.Before(first) {
					first = r.Started
				}
				if r.Ended.After(last) {
					last = r.Ended
				}
			}
		}
	}
	if last.After(first) {
		s.took = last.Sub(first)
	}
	return s
}

// of returns the time that the given number of runs will take.
func (s speed) of(runs int) time.Duration {
	if s.valid == 0 {
		return 0
	}
	const most = 1 << 61 // nanoseconds, so that sums don't overflow
	return time.Duration(min(float64(s.took)/float64(s.valid)*float64(runs), most))
}
