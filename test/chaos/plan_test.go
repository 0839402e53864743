package main

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func described(faults []fault) (all []string) {
	for i := range faults {
		all = append(all, faults[i].kind.name+" "+faults[i].describe())
	}
	return all
}

func TestASeedRepeatsItsFaults(t *testing.T) {
	first := described(draw(7, 100, kinds, 2*time.Minute))
	if diff := cmp.Diff(first, described(draw(7, 100, kinds, 2*time.Minute))); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(first[:20], described(draw(7, 20, kinds, 2*time.Minute))); diff != "" {
		t.Errorf("fewer faults (-100 +20):\n%s", diff)
	}
	if reflect.DeepEqual(first, described(draw(8, 100, kinds, 2*time.Minute))) {
		t.Error("another seed has the same faults")
	}
}

func TestFaultsAreWithinBounds(t *testing.T) {
	seen := map[string]int{}
	early := 0
	for _, f := range draw(3, 50*len(kinds), kinds, 10*time.Second) {
		seen[f.kind.name]++
		longest := max(f.kind.minHold, min(f.kind.maxHold, 10*time.Second))
		if f.hold < f.kind.minHold || f.hold > longest || f.delay < 0 || f.delay > span || f.early && f.kind.late {
			t.Errorf("%s: %+v", f.kind.name, f)
		}
		if f.early {
			early++
		}
	}
	for _, k := range kinds {
		if seen[k.name] != 50 {
			t.Errorf("%s: %d times, want 50", k.name, seen[k.name])
		}
	}
	if early == 0 {
		t.Error("no fault strikes before the measurement")
	}
}

func TestKinds(t *testing.T) {
	if _, err := choose("manager-killed,nothing"); err == nil {
		t.Error("a kind that there isn't is accepted")
	}
	chosen, err := choose("etcd-stopped,manager-killed")
	if err != nil || len(chosen) != 2 || chosen[0].name != "etcd-stopped" {
		t.Errorf("%v %v", chosen, err)
	}
	names := map[string]bool{}
	for _, k := range kinds {
		if names[k.name] || k.strike == nil || k.about == "" || k.says != nil && k.reasons == nil {
			t.Errorf("%+v", k)
		}
		names[k.name] = true
	}
}

func TestTableCountsFaultsByKindAndOutcome(t *testing.T) {
	outcomes := []*outcome{
		{Kind: "b", Reason: "Completed", Seconds: 3}, {Kind: "a", Reason: "Completed", Seconds: 7}, {Kind: "a", Reason: "ClientLost"}, {Kind: "a", Unmade: "why"},
	}
	outcomes[1].problem(wrongCount, "%d", 3)
	want := "\nfault  ClientLost  Completed  NOT MADE  WRONG COUNT  no end\n" +
		"a      1           1          1         1            1\n" +
		"b      .           1          .         .            .\n" +
		"\n4 faults, 1 problems; the longest run took 7s\n"
	if diff := cmp.Diff(want, table(outcomes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
