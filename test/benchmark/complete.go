package main

import (
	"encoding/json"
	"fmt"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/plan"
)

// incomplete returns what is wrong with the runs of a round that must have one valid run of each cell in each
// block and no other.
func incomplete(round *benchmark.Round, cells, blocks int) []string {
	var problems []string
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(round.Cells) != cells {
		problem("%d cells, want %d", len(round.Cells), cells)
	}
	if want := cells * blocks; len(round.Runs) != want {
		problem("%d runs, want %d", len(round.Runs), want)
	}
	names := map[string]int{}
	places := map[benchmark.RunKey]int{}
	for i := range round.Runs {
		r := &round.Runs[i]
		names[r.Name]++
		if want := r.RunKey.Name(round.Benchmark); r.Name != want || r.Round != round.Number || r.Trial {
			problem("%s is in the place of %s of round %d", r.Name, want, r.Round)
		}
		if !r.Valid || r.Ended.IsZero() {
			problem("%s has no valid result: %s", r.Name, r.Message)
			continue
		}
		places[benchmark.RunKey{Cell: r.Cell, Number: r.Number}]++
	}
	for name, n := range names {
		if n > 1 {
			problem("%s is there %d times", name, n)
		}
	}
	for cell := range cells {
		for block := range blocks {
			if n := places[benchmark.RunKey{Cell: cell, Number: block}]; n != 1 {
				problem("%d valid runs of cell %d in block %d", n, cell, block)
			}
		}
	}
	return problems
}

// recomputed returns an error unless the recorded metrics of a round's runs give its verdict, its message and its
// effects.
func recomputed(round *benchmark.Round) error {
	cells, err := cells.Of(&round.Spec)
	if err != nil {
		return err
	}
	planner := &plan.Planner{Design: inference.Design{Spec: &round.Spec, Cells: cells}, Benchmark: round.Benchmark, Number: round.Number, Seed: round.Seed}
	end := planner.Next(round.Runs).End
	if end == nil {
		return fmt.Errorf("by its recorded metrics the round has not ended, recorded is %s", round.Verdict)
	}
	want, err := json.Marshal(end.Evaluation)
	if err != nil {
		return err
	}
	got, err := json.Marshal(round.Evaluation)
	if err != nil {
		return err
	}
	if end.Verdict != round.Verdict || end.Reason != round.Reason || end.Message != round.Message || string(got) != string(want) {
		return fmt.Errorf("by its recorded metrics the round is %s: %s %s %s, recorded is %s: %s %s %s",
			end.Verdict, end.Reason, end.Message, want, round.Verdict, round.Reason, round.Message, got)
	}
	return nil
}

// madeAgain returns what contradicts that each run of a round was made once: runs that were seen but aren't in the
// artifact, the reverse, and names that were seen with several UIDs.
func madeAgain(round *benchmark.Round, seen []sighting) []string {
	var problems []string
	recorded := map[string]bool{}
	for i := range round.Runs {
		recorded[round.Runs[i].Name] = true
	}
	for _, s := range seen {
		if n := len(s.uids); n > 1 {
			problems = append(problems, fmt.Sprintf("%s was created %d times", s.name, n))
		}
		if !recorded[s.name] {
			problems = append(problems, s.name+" was created and is not in the artifact")
		}
		delete(recorded, s.name)
	}
	for name := range recorded {
		problems = append(problems, name+" is in the artifact and was never seen")
	}
	return problems
}
