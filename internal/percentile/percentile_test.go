package percentile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTable checks that the places of percentiles in stored summaries do not change.
// The list may only grow at its end.
func TestTable(t *testing.T) {
	var all []string
	for p := range Count {
		all = append(all, fmt.Sprintf("%s=%s", p.Name(), p))
	}
	if got := strings.Join(all, " "); got != "P50=50 P66=66 P75=75 P80=80 P90=90 P95=95 P98=98 P99=99 P999=99.9 P9999=99.99" {
		t.Errorf("percentiles %s", got)
	}
	if !slices.Equal(AB, []Percentile{P50, P66, P75, P80, P90, P95, P98, P99}) {
		t.Errorf("ab's are %v", AB)
	}
	if !slices.Equal(Common, []Percentile{P50, P90, P95, P99, P999, P9999}) {
		t.Errorf("the common ones are %v", Common)
	}
}

func TestRank(t *testing.T) {
	for _, test := range []struct {
		percent float64
		n, want int64
	}{
		{50, 1, 1}, {50, 2, 1}, {50, 3, 2}, {0, 10, 1}, {100, 10, 10}, {99, 100, 99}, {99, 101, 100}, {99.9, 1000, 999}, {99.9, 1001, 1000},
		{99.99, 10_000, 9_999}, {50, 0, 0},
	} {
		if got := Rank(test.percent, test.n); got != test.want {
			t.Errorf("rank of p%g of %d is %d, want %d", test.percent, test.n, got, test.want)
		}
	}
}
