package blocks

import (
	"math/rand/v2"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
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
// capacities.
func Bounds(spec *v1alpha1.BenchmarkSpec) (least, most int) {
	r := spec.Repetitions
	switch {
	case r == nil && spec.Capacity != nil:
		return 0, 0
	case r == nil:
		return defaultBlocks, defaultBlocks
	}
	least = int(ptr.Deref(r.Min, defaultBlocks))
	return least, max(least, int(ptr.Deref(r.Max, int32(least))))
}

// defaultBlocks is the number of blocks without spec.repetitions.
const defaultBlocks = 10
