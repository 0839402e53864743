package blocks

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// Order returns the order in which a block runs the cells: a permutation of the indexes from 0 to
// cells-1.
//
// It is stable across releases, because a round that another release began goes on in its order:
// the shuffle of Fisher and Yates (Knuth, The Art of Computer Programming, algorithm 3.4.2P), from
// the last place to the second, that draws each index as the remainder of the next number of PCG
// (PCG-DXSM with 128 bits of state, as in math/rand/v2), which is seeded with seed and block.
func Order(seed int64, cells, block int) []int {
	order := make([]int, cells)
	for i := range order {
		order[i] = i
	}
	random := rand.NewPCG(uint64(seed), uint64(block))
	for i := cells - 1; i > 0; i-- {
		j := random.Uint64() % uint64(i+1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// Bounds returns the smallest and the largest number of blocks of a round: 0 for both if it only searches for
// capacities. Both are the largest with a gate that compares with stored runs, which is done once.
func Bounds(spec *v1alpha1.BenchmarkSpec) (least, most int) {
	r := spec.Repetitions
	switch {
	case r == nil && spec.Capacity != nil:
		return 0, 0
	case r == nil:
		return defaultBlocks, defaultBlocks
	}
	least = int(ptr.Deref(r.Min, defaultBlocks))
	most = max(least, int(ptr.Deref(r.Max, int32(least))))
	if c := spec.Comparison; c != nil && c.Baseline.Cell == nil && len(benchmark.GateMetrics(spec)) > 0 {
		least = most
	}
	return least, most
}

// Replacements returns the number of invalid runs that are replaced.
func Replacements(spec *v1alpha1.BenchmarkSpec) int {
	const usual = 3
	if r := spec.Repetitions; r != nil {
		return int(ptr.Deref(r.InvalidRuns.Replace, usual))
	}
	return usual
}

// Range returns bounds in words: "10 to 20", or "10" if both are the same.
func Range(least, most int) string {
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(most)
}

// defaultBlocks is the number of blocks without spec.repetitions.
const defaultBlocks = 10

// Alternates reports whether the cells of a block are run at the same time.
func Alternates(spec *v1alpha1.BenchmarkSpec) bool {
	return spec.Repetitions != nil && spec.Repetitions.Order == v1alpha1.OrderAlternating
}

// maxVariants is the largest number of cells between which a load alternates.
const maxVariants = 4

// CheckOrder returns an error if the cells of a block can't be run in the order that the spec asks for.
func CheckOrder(spec *v1alpha1.BenchmarkSpec, cells int) error {
	switch {
	case !Alternates(spec):
		return nil
	case cells < 2 || cells > maxVariants:
		return fmt.Errorf("spec.repetitions.order: Alternating needs 2 to %d cells, but there are %d: use fewer values of axes, or RandomizedBlocks", maxVariants, cells)
	}
	return nil
}
