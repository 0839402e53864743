package benchmark

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		if diff := cmp.Diff(c.want, Block(c.seed, c.cells, c.block)); diff != "" {
			t.Errorf("seed %d, %d cells, block %d: (-want +got)\n%s", c.seed, c.cells, c.block, diff)
		}
	}
}

// Each cell is in each place about equally often, over the blocks of one seed and over seeds.
func TestBlockIsRandom(t *testing.T) {
	const cells, blocks = 5, 5000
	for name, order := range map[string]func(i int) []int{
		"blocks of a seed": func(i int) []int { return Block(42, cells, i) },
		"seeds":            func(i int) []int { return Block(int64(i), cells, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var places [cells][cells]float64
			follows := 0 // cell 1 runs directly after cell 0
			for i := range blocks {
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
					square += (n - blocks/cells) * (n - blocks/cells) / (blocks / cells)
				}
			}
			if square > 39.3 { // chi-squared with 16 degrees of freedom, p = 0.001
				t.Errorf("chi-squared is %.1f: %v", square, places)
			}
			if follows < 900 || follows > 1100 { // 1 of 5, 3.5 standard deviations
				t.Errorf("cell 1 followed cell 0 in %d of %d blocks", follows, blocks)
			}
		})
	}
}

func TestRunName(t *testing.T) {
	long := strings.Repeat("n", 34)
	for _, c := range []struct {
		benchmark string
		key       RunKey
		want      string
	}{
		{"connectors", RunKey{Round: 1}, "connectors-r1-c000-b00"},
		{"connectors", RunKey{Round: 12, Cell: 255, Number: 99, Replacement: 3}, "connectors-r12-c255-b99-i3"},
		{"connectors", RunKey{Round: 3, Cell: 7, Trial: true, Number: 24}, "connectors-r3-c007-t24"},
		{"connectors", RunKey{Round: 3, Cell: 7, Trial: true, Number: 24, Replacement: 1}, "connectors-r3-c007-t24-i1"},
		{"a-r1-c000-b00", RunKey{Round: 2}, "a-r1-c000-b00-r2-c000-b00"},
		{long, RunKey{Round: 999, Cell: 255, Number: 99, Replacement: 99}, long + "-r999-c255-b99-i99"},
		{long, RunKey{Round: 1000, Cell: 255, Number: 99, Replacement: 99}, long[:27] + "cf103f-r1000-c255-b99-i99"},
		{long, RunKey{Round: 1000}, long[:27] + "cf103f-r1000-c000-b00"},
		{long, RunKey{Round: 1e17, Number: 99, Replacement: 99}, long[:13] + "cf103f-r100000000000000000-c000-b99-i99"},
	} {
		got := c.key.Name(c.benchmark)
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.key, got, c.want)
		}
		if len(got) > 52 {
			t.Errorf("%s has %d characters", got, len(got))
		}
		if parsed, ok := ParseRunName(c.benchmark, got); !ok || parsed != c.key {
			t.Errorf("%s was parsed as %+v, %t", got, parsed, ok)
		}
	}
}

func TestForeignRunNames(t *testing.T) {
	for _, name := range []string{
		"", "connectors", "connectors-r1-c000-b00-x", "connectors-r1-c0-b0", "connectors-r1-c000-x00",
		"connectors-r01-c000-b00", "connectors-r1-c000-b00-i0", "connectors-r1-c000-b00-i01",
		"other-r1-c000-b00", "my-connectors-r1-c000-b00", "-r1-c000-b00", "connectors-r99999999999999999999-c000-b00",
	} {
		if key, ok := ParseRunName("connectors", name); ok {
			t.Errorf("%q was parsed as %+v", name, key)
		}
	}
}
