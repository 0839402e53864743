package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// elsewhere holds the findings that no scenario provokes, each with where it is shown.
var elsewhere = map[string]string{
	"ForeignTool":                     "test/e2e TestTools",
	validity.ReasonClockUncertain:     "make chaos ARGS='-kinds client-clock-set'",
	validity.ReasonClockStepped:       "make chaos ARGS='-kinds manager-clock-set'",
	validity.ReasonServerExited:       "make chaos ARGS='-kinds server-killed'",
	validity.ReasonTargetUsageUnknown: "TestExternal in test/e2e",
	validity.ReasonContainerInjected:  "TestInjectedContainers in test/e2e: it needs an admission policy",
	validity.ReasonPodChanged:         "TestInjectedContainers in test/e2e: it needs an admission policy",
	validity.ReasonTargetUnverified:   "unit tests: it needs an image that doesn't write its log to its output",
	validity.ReasonClientLimited:      "TestOutOfDescriptors in cmd/assay-load",
	validity.ReasonRequestsUnanswered: "TestTerminatedInAHang in cmd/assay-load: nothing stops the load of a run before its end",
	validity.ReasonIterationsFailed:   "TestRunScriptThrows in k6/cmd/assay-k6",
	validity.ReasonLatencyClamped:     "unit tests: it needs a request that takes two hours",
	validity.ReasonSharedCore:         "unit tests: it needs a machine with two threads for each core",
}

// nearElsewhere holds the findings that no scenario comes near, each with where a run does.
var nearElsewhere = map[string]string{
	validity.ReasonSharedNode: "make test-nodes",
}

// TestEveryFindingIsProvoked checks that each finding has a run that provokes it and one that comes near it.
func TestEveryFindingIsProvoked(t *testing.T) {
	api, err := os.ReadFile("../../api/v1alpha1/finding_types.go")
	if err != nil {
		t.Fatal(err)
	}
	_, marker, _ := strings.Cut(string(api), "+kubebuilder:validation:Enum=")
	marker, _, _ = strings.Cut(marker, "\n")
	reasons := strings.Split(marker, ";")
	if len(reasons) < 20 {
		t.Fatalf("only %d findings: %v", len(reasons), reasons)
	}
	names := map[string]bool{}
	for i := range scenarios {
		s := &scenarios[i]
		if names[s.name] || len(s.raises)+len(s.near) == 0 {
			t.Errorf("%s is there twice, or about nothing", s.name)
		}
		names[s.name] = true
		for reason := range s.raises {
			if !slices.Contains(reasons, reason) || slices.Contains(s.near, reason) {
				t.Errorf("%s can't raise %s", s.name, reason)
			}
		}
	}
	for _, reason := range reasons {
		raised := slices.ContainsFunc(scenarios, func(s scenario) bool { _, ok := s.raises[reason]; return ok })
		near := slices.ContainsFunc(scenarios, func(s scenario) bool { return slices.Contains(s.near, reason) })
		if raised == (elsewhere[reason] != "") {
			t.Errorf("%s is provoked: %t, elsewhere: %q", reason, raised, elsewhere[reason])
		}
		if raised && near == (nearElsewhere[reason] != "") {
			t.Errorf("no run comes near %s", reason)
		}
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(scenarios) {
		t.Errorf("%d scenarios, %v", len(all), err)
	}
	some, err := choose("overload, NotKeepingUp")
	if err != nil || len(some) != 3 || some[0].name != "overload" {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := choose("overload,Nothing"); err == nil {
		t.Error("Nothing is no finding")
	}
}

func TestJudge(t *testing.T) {
	s := scenario{raises: findings{"A": result.Invalidates, "B": result.Warns}, near: []string{"C"}}
	for _, test := range []struct {
		findings []result.Finding
		wrong    int
	}{
		{[]result.Finding{{Reason: "A", Severity: result.Invalidates}, {Reason: "B", Severity: result.Warns}, {Reason: "D", Severity: result.Warns}}, 0},
		{[]result.Finding{{Reason: "A", Severity: result.Warns}, {Reason: "B", Severity: result.Warns}}, 1},
		{[]result.Finding{{Reason: "C", Severity: result.Warns}}, 3},
	} {
		if wrong := s.judge(test.findings); len(wrong) != test.wrong {
			t.Errorf("%v: %v", test.findings, wrong)
		}
	}
}

func TestCleanScenarios(t *testing.T) {
	kinds := map[string]int{}
	for _, s := range cleanScenarios(30) {
		kinds[s.about]++
		if image := s.run().Spec.Target.Image; image == "" {
			t.Errorf("%s has no image", s.name)
		}
	}
	if len(kinds) != 5 || kinds[cleanRuns[0].about] != 6 {
		t.Errorf("%v", kinds)
	}
}
