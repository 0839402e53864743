package lane

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// of makes a run one of a block of two.
func of(block string, variant int32) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.Spec.Alternation = &v1alpha1.Alternation{Block: block, Variants: 2, Variant: ptr.To(variant)}
	}
}

// The runs of a block hold their lane together, and nobody else does meanwhile.
func TestBlocksShareALane(t *testing.T) {
	admitted := with(v1alpha1.ConditionAdmitted)
	elsewhere := func(run *v1alpha1.BenchmarkRun) { run.Namespace = "other" }
	for name, test := range map[string]struct {
		run    v1alpha1.BenchmarkRun
		others []v1alpha1.BenchmarkRun
		room   int
		free   bool
	}{
		"the first of a block":                            {laneRun("a", 1, of("x", 0)), []v1alpha1.BenchmarkRun{laneRun("b", 2, of("x", 1))}, 4, true},
		"the second, while the first holds the lane":      {laneRun("b", 2, of("x", 1)), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0), admitted)}, 0, true},
		"the second, before the first":                    {laneRun("b", 2, of("x", 1)), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0))}, 4, true},
		"the same variant again":                          {laneRun("b", 2, of("x", 0)), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0), admitted)}, 4, false},
		"another block":                                   {laneRun("b", 2, of("y", 1)), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0), admitted)}, 4, false},
		"a block of that name in another namespace":       {laneRun("b", 2, of("x", 1)), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0), admitted, elsewhere)}, 4, false},
		"a run without a block":                           {laneRun("b", 2), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0), admitted)}, 4, false},
		"a block after a run without one":                 {laneRun("b", 2, of("x", 1)), []v1alpha1.BenchmarkRun{laneRun("a", 1, admitted)}, 4, false},
		"the first of a block without room for two":       {laneRun("a", 1, of("x", 0)), nil, 1, false},
		"a run behind a block for which there is no room": {laneRun("b", 2), []v1alpha1.BenchmarkRun{laneRun("a", 1, of("x", 0))}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			lane := &Lane{Runs: []*v1alpha1.BenchmarkRun{&test.run}, Room: map[string]int{"ns": test.room}, Full: map[string]string{}}
			if test.room == 0 {
				lane.Full["ns"] = "it is full"
			}
			for i := range test.others {
				lane.Runs = append(lane.Runs, &test.others[i])
			}
			if p := PositionOf(&test.run, lane, now); p.Free != test.free {
				t.Errorf("%+v", p)
			}
		})
	}
}

// A block holds a lane by several runs. Which of them a waiting run names doesn't depend on the order in which the cache has them: its
// status would be written again and again.
func TestTheHolderThatIsNamed(t *testing.T) {
	admitted := with(v1alpha1.ConditionAdmitted)
	a, b, waiting := laneRun("a", 1, of("x", 0), admitted), laneRun("b", 2, of("x", 1), admitted), laneRun("c", 3)
	elsewhere := laneRun("0", 1, admitted, func(run *v1alpha1.BenchmarkRun) { run.Namespace = "other" })
	for _, runs := range [][]*v1alpha1.BenchmarkRun{{&a, &b, &elsewhere, &waiting}, {&waiting, &elsewhere, &b, &a}} {
		if p := PositionOf(&waiting, &Lane{Runs: runs}, now); p.Holder != "Run a or its pods" || p.Ahead != 3 {
			t.Errorf("%+v", p)
		}
	}
}
