package round_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

// TestTrials checks the bounds after each trial: they end at the result.
func TestTrials(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	if len(r.Capacities) != 4 {
		t.Fatalf("%d searches", len(r.Capacities))
	}
	for i, want := range []string{
		"nio sustains 11,815/s, fails at 12,338/s.", "nio2 sustains 9,935/s, fails at 10,375/s.", "apr sustains 14,672/s, fails at 15,322/s.",
		"nginx sustains at least 4,000/s. At 4,177/s the clients were the limit: give them more CPU, or use more of them.",
	} {
		c := &r.Capacities[i]
		trials := r.Trials(c.Cell)
		last := trials[len(trials)-1]
		if got := r.Sustains(c); got != want || last.Lower != c.Sustained || last.Upper != c.Failed || len(trials) != c.Trials {
			t.Errorf("%s; %d trials, last %+v, want %s", got, len(trials), last, want)
		}
		for _, trial := range trials[1:] {
			if trial.Upper > 0 && trial.Lower >= trial.Upper {
				t.Errorf("bounds %d and %d", trial.Lower, trial.Upper)
			}
		}
	}
}

// TestTrends checks the levels of a series whose level rises with round 9, and the conditions that changed.
func TestTrends(t *testing.T) {
	r := &round.Report{Round: roundtest.Trending(t)}
	trends := r.Trends()
	if len(trends) < 2 || trends[0].Label != "nio2" || len(trends[0].Levels) != 2 || len(trends[1].Levels) != 0 {
		t.Fatalf("%+v", trends)
	}
	first, second := trends[0].Levels[0], trends[0].Levels[1]
	if first.Last != 7 || second.First != 8 || second.Last != 13 || second.Change == nil || second.Change.Round != 9 || second.Median < first.Median*1.1 {
		t.Errorf("%+v", trends[0].Levels)
	}
	if conditions := r.TrendConditions(); conditions[11] != "kernel" || strings.Join(conditions, "") != "kernel" {
		t.Errorf("%q", conditions)
	}
	if none := (&round.Report{Round: roundtest.Failed(t)}).Trends(); none != nil {
		t.Error("a trend of one round")
	}
}

// TestRunsOf checks which runs of a cell there are, in which order, and what was made in place of an invalid one.
func TestRunsOf(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	runs := r.RunsOf(1)
	if len(runs) != 11 || runs[4].Name != "connectors-r3-c001-b04" || runs[4].Valid || r.Replacement(runs[4]) != "connectors-r3-c001-b04-i1" || runs[5].Name != "connectors-r3-c001-b04-i1" {
		t.Errorf("%d runs: %+v", len(runs), runs[4])
	}
	sizes := &round.Report{Round: roundtest.Sizes(t)}
	g := sizes.Grids("RequestsPerSecond").Grids[0]
	if warned := sizes.Warnings(g.Cells[4][0]); !slices.Equal(warned, []string{"NetworkLimited"}) || len(sizes.Warnings(g.Cells[3][0])) > 0 {
		t.Errorf("%q", warned)
	}
}

// TestLevelsTable checks that levels have medians with intervals.
func TestLevelsTable(t *testing.T) {
	table := roundtest.Staged(t).LevelsTable()
	if len(table.Rows) != 12*7 || len(table.Columns) != 3+4 || table.Rows[0][1] != "50" || table.Rows[0][5] != "500 (500 to 500)" {
		t.Errorf("%+v: %q", table.Columns, table.Rows[0])
	}
}

// TestOrder checks that the conditions say whether the runs of a block alternated.
func TestOrder(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	for order, want := range map[v1alpha1.RunOrder]string{
		v1alpha1.OrderRandomizedBlocks: "randomized complete blocks, seed 7", v1alpha1.OrderAlternating: "blocks of runs that alternate, in random order, seed 7",
	} {
		r.Spec.Repetitions = &v1alpha1.Repetitions{Order: order}
		if !slices.Contains(r.Conditions(), doc.Fact{Name: "Order", Value: want}) {
			t.Errorf("%s: %+v", order, r.Conditions())
		}
	}
}
