package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/plan"
)

// made makes a round of a Benchmark as its planner says, of runs whose metrics a function gives, and returns it as
// it is stored.
func made(t *testing.T, b *v1alpha1.Benchmark, metrics func(cell int) map[v1alpha1.BenchmarkMetric]float64) *benchmark.Round {
	t.Helper()
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Planner{Design: inference.Design{Spec: &b.Spec, Cells: cells}, Benchmark: b.Name, Number: 2, Seed: 5}
	round := &benchmark.Round{Benchmark: b.Name, Number: 2, Seed: 5, Spec: b.Spec, Cells: cells}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for {
		step := p.Next(round.Runs)
		if end := step.End; end != nil {
			round.Evaluation, round.Verdict, round.Reason, round.Message = end.Evaluation, end.Verdict, end.Reason, end.Message
			break
		}
		if step.Create == nil { // until the runs that are under way have ended: those of a block together
			for i := range round.Runs {
				if r := &round.Runs[i]; r.Ended.IsZero() {
					r.Ended = at
				}
			}
			at = at.Add(time.Second)
			continue
		}
		round.Runs = append(round.Runs, benchmark.Run{RunKey: step.Create.RunKey, Name: step.Create.Name, Started: at, Valid: true, Metrics: metrics(step.Create.Cell)})
		at = at.Add(time.Second)
	}
	data, err := round.Encode(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := benchmark.DecodeRound(data)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func testStage(name string) *stage {
	return &stage{name: name, namespace: "ns", options: &options{}}
}

// killedRound is one in which nothing was killed.
func killedRound(t *testing.T) *benchmark.Round {
	random := rand.New(rand.NewPCG(3, 0))
	return made(t, killedBenchmark(testStage("killed")), func(cell int) map[v1alpha1.BenchmarkMetric]float64 {
		return map[v1alpha1.BenchmarkMetric]float64{meanLatency: (10_000 + 100*random.Float64()) * float64(cell+1)}
	})
}

func seenAll(round *benchmark.Round) []sighting {
	var seen []sighting
	for i := range round.Runs {
		seen = append(seen, sighting{name: round.Runs[i].Name, uids: []types.UID{types.UID(fmt.Sprint(i))}})
	}
	return seen
}

func TestARoundThatIsComplete(t *testing.T) {
	round := killedRound(t)
	problems := append(incomplete(round, 2, killedBlocks), madeAgain(round, seenAll(round))...)
	if len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	if err := recomputed(round); err != nil {
		t.Error(err)
	}
	if e := claimOf(round, meanLatency); e.Verdict != v1alpha1.ClaimContradicted || round.Verdict != v1alpha1.BenchmarkFailed {
		t.Errorf("%+v, %s", e, round.Verdict)
	}
}

func TestARoundThatIsIncomplete(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*benchmark.Round)
		want   string
	}{
		"lost":         {func(r *benchmark.Round) { r.Runs = r.Runs[1:] }, "23 runs, want 24"},
		"twice":        {func(r *benchmark.Round) { r.Runs[3] = r.Runs[4] }, "is there 2 times"},
		"invalid":      {func(r *benchmark.Round) { r.Runs[3].Valid = false }, "has no valid result"},
		"unended":      {func(r *benchmark.Round) { r.Runs[3].Ended = time.Time{} }, "has no valid result"},
		"other name":   {func(r *benchmark.Round) { r.Runs[3].Name = "x" }, "x is in the place of killed-r2"},
		"other round":  {func(r *benchmark.Round) { r.Runs[3].Round = 1 }, "in the place of killed-r1"},
		"other place":  {func(r *benchmark.Round) { r.Runs[3].Number = 11 }, "2 valid runs of cell"},
		"a trial":      {func(r *benchmark.Round) { r.Runs[3].Trial = true }, "in the place of"},
		"another cell": {func(r *benchmark.Round) { r.Cells = append(r.Cells, r.Cells[0]) }, "3 cells, want 2"},
	} {
		round := killedRound(t)
		test.change(round)
		if problems := strings.Join(incomplete(round, 2, killedBlocks), "; "); !strings.Contains(problems, test.want) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}

func TestARunThatWasMadeAgain(t *testing.T) {
	for name, test := range map[string]struct {
		change func([]sighting) []sighting
		want   string
	}{
		"deleted and created": {func(s []sighting) []sighting { s[5].uids = append(s[5].uids, "again"); return s }, "was created 2 times"},
		"not recorded":        {func(s []sighting) []sighting { return append(s, sighting{name: "stray"}) }, "stray was created and is not in the artifact"},
		"not seen":            {func(s []sighting) []sighting { return s[1:] }, "was never seen"},
	} {
		round := killedRound(t)
		if problems := strings.Join(madeAgain(round, test.change(seenAll(round))), "; "); !strings.Contains(problems, test.want) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}

func TestAVerdictThatIsNotThatOfTheFigures(t *testing.T) {
	for name, change := range map[string]func(*benchmark.Round){
		"metric":  func(r *benchmark.Round) { r.Runs[3].Metrics[meanLatency] *= 1.5 },
		"verdict": func(r *benchmark.Round) { r.Verdict = v1alpha1.BenchmarkPassed },
		"claim":   func(r *benchmark.Round) { *r.Claims[0].HighPercent++ },
		"message": func(r *benchmark.Round) { r.Message = "" },
		"lost":    func(r *benchmark.Round) { r.Runs = r.Runs[1:] },
	} {
		round := killedRound(t)
		change(round)
		if err := recomputed(round); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
