package round_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/round"
)

func TestCompareSaysThatTheMachineWasSlower(t *testing.T) {
	side := func(name, cell, image string, target, clients float64) round.Side {
		g := set(t, cell, 5, 5000, image, "6.1")
		for i := range g.Runs {
			if target > 0 {
				g.Runs[i].Metrics["TargetCPUPerRequest"] = target
			}
			g.Runs[i].Metrics["ClientCPUPerRequest"] = clients
		}
		return round.Side{Name: name, Groups: []round.Group{g}}
	}
	for name, tc := range map[string]struct {
		cell, image     string
		target, clients float64
		want            string // empty for no note
	}{
		"both slower":           {"", "a", 110, 53, "The machine of b was slower: each request cost the target 10% more CPU time, and the clients 6% more."},
		"both faster":           {"", "a", 90, 46, "The machine of b was faster: each request cost the target 10% less CPU time, and the clients 8% less."},
		"of a cell":             {"c=1", "a", 110, 53, "was slower in c=1:"},
		"of another image":      {"", "z", 110, 53, "The machine of b may have been slower:"},
		"the target alone":      {"", "a", 110, 51, ""},
		"the clients alone":     {"", "a", 101, 60, ""},
		"the target much more":  {"", "a", 150, 53, ""},
		"in opposite ways":      {"", "a", 110, 46, ""},
		"the target is unknown": {"", "a", 0, 53, ""},
	} {
		c := compare(t, side("a", tc.cell, "a", 100, 50), side("b", tc.cell, tc.image, tc.target, tc.clients), options)
		at := slices.IndexFunc(c.Notes, func(note string) bool { return strings.Contains(note, "machine") })
		if (at >= 0) != (tc.want != "") || at >= 0 && !strings.Contains(c.Notes[at], tc.want) {
			t.Errorf("%s: %q, want %q", name, c.Notes, tc.want)
		}
	}
}
