package blocks_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/benchmark/blocks"
)

// These orders must never change: a round goes on in the order in which another release began it.
func TestBlockIsStable(t *testing.T) {
	for _, c := range []struct {
		seed         int64
		cells, block int
		want         []int
	}{
		{seed: 1, cells: 1, block: 0, want: []int{0}},
		{seed: 1, cells: 6, block: 0, want: []int{4, 5, 0, 2, 1, 3}},
		{seed: 1, cells: 6, block: 1, want: []int{3, 5, 1, 0, 4, 2}},
		{seed: 2, cells: 6, block: 0, want: []int{3, 4, 5, 2, 0, 1}},
		{seed: -7, cells: 10, block: 19, want: []int{0, 8, 7, 5, 1, 6, 3, 2, 9, 4}},
	} {
		if diff := cmp.Diff(c.want, blocks.Order(c.seed, c.cells, c.block)); diff != "" {
			t.Errorf("seed %d, %d cells, block %d: (-want +got)\n%s", c.seed, c.cells, c.block, diff)
		}
	}
}

// Each cell is in each place about equally often, over the blocks of one seed and over seeds.
func TestBlockIsRandom(t *testing.T) {
	const cells, drawn = 5, 5000
	for name, order := range map[string]func(i int) []int{
		"blocks of a seed": func(i int) []int { return blocks.Order(42, cells, i) },
		"seeds":            func(i int) []int { return blocks.Order(int64(i), cells, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var places [cells][cells]float64
			follows := 0 // cell 1 runs directly after cell 0
			for i := range drawn {
				order := order(i)
				for place, cell := range order {
					places[cell][place]++
				}
				if at := slices.Index(order, 0); at+1 < cells && order[at+1] == 1 {
					follows++
				}
				slices.Sort(order)
				if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
					t.Fatalf("block %d is no permutation: %v", i, order)
				}
			}
			square := 0.0
			for _, counts := range places {
				for _, n := range counts {
					square += (n - drawn/cells) * (n - drawn/cells) / (drawn / cells)
				}
			}
			if square > 39.3 { // chi-squared with 16 degrees of freedom, p = 0.001
				t.Errorf("chi-squared is %.1f: %v", square, places)
			}
			if follows < 900 || follows > 1100 { // 1 of 5, 3.5 standard deviations
				t.Errorf("cell 1 followed cell 0 in %d of %d blocks", follows, drawn)
			}
		})
	}
}
