package round

import (
	"fmt"
	"strings"
)

// mustEqual are the facts of environments without which a difference says nothing of the servers, and their names.
var mustEqual = []struct{ path, name string }{{"/nodeType", "node type"}, {"/machine/cpuModel", "CPU model"}, {"/machine/cpus", "number of CPUs"}, {"/kernel", "kernel"}, {"/cpuExclusivity", "CPU exclusivity"}}

// refusal says why two sides can't be compared; empty if they can. Facts that a side doesn't have are unknown.
func refusal(baseline, candidate string, pairs []pair) string {
	for i := range pairs {
		p := &pairs[i]
		if a, b := models(p.baseline.Specs), models(p.candidate.Specs); a != "" && b != "" && a != b {
			return fmt.Sprintf("The load of %s is %s, that of %s %s. Make both runs with the same kind of load.", baseline, a, candidate, b)
		}
		for _, fact := range mustEqual {
			for _, d := range differ(p.baseline.Environments, p.candidate.Environments, true) {
				if d.Path == fact.path {
					return fmt.Sprintf("Not compared: %s ran on %s %s, %s on %s. Measure both under the same conditions.", baseline, fact.name, d.Baseline, candidate, d.Candidate)
				}
			}
		}
		for j, group := range []*Group{p.baseline, p.candidate} {
			if images := group.Environments.values("/targetImageID"); len(group.Environments) > 1 && strings.Contains(images, " | ") {
				return fmt.Sprintf("The runs of %s have different images: %s. Compare runs of one image on each side.", []string{baseline, candidate}[j], images)
			}
		}
	}
	return ""
}

// models returns the kinds of load of specs: the closed model, the open model, or a script.
func models(specs Facts) string {
	found := map[string]bool{}
	for _, spec := range specs {
		for path := range spec {
			switch {
			case strings.HasPrefix(path, "/script/"):
				found["a script"] = true
			case strings.HasPrefix(path, "/load/closed/"), strings.HasPrefix(path, "/load/stages/") && strings.HasSuffix(path, "/connections"):
				found["of the closed model"] = true
			case strings.HasPrefix(path, "/load/open/"), strings.HasPrefix(path, "/load/stages/") && strings.HasSuffix(path, "/requestsPerSecond"):
				found["of the open model"] = true
			}
		}
	}
	var names []string
	for _, name := range []string{"a script", "of the closed model", "of the open model"} {
		if found[name] {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}
