package round

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// Side is one of two sides of a comparison: a run, a set of runs, or a round.
type Side struct {
	// Name is the side's name on the command line.
	Name string `json:"name"`
	// Groups are the cells of a round, or one group with all runs.
	Groups []Group `json:"groups"`
	// Compared are the metrics that a round's own claims and comparison name.
	Compared []v1alpha1.BenchmarkMetric `json:"-"`
	// Notes say what was left out.
	Notes []string `json:"-"`
	// Spec is that of a single run; nil for rounds and sets of runs.
	Spec *v1alpha1.BenchmarkRunSpec `json:"-"`
}

// Group is a set of runs of which one value each is a sample.
type Group struct {
	// Cell is the name of the cell; empty for runs that were selected in another way.
	Cell string `json:"cell,omitempty"`
	// Runs are valid and have ended.
	Runs []benchmark.Run `json:"runs"`
	// Specs and Environments are what is known of the runs.
	Specs        Facts `json:"-"`
	Environments Facts `json:"-"`
}

// Comparison says how a side differs from another that was measured at another time.
type Comparison struct {
	Baseline  Side `json:"baseline"`
	Candidate Side `json:"candidate"`
	// Cells has the names of the effects' cells, by index.
	Cells   []string         `json:"cells"`
	Effects []ComparedEffect `json:"effects"`
	// Refusal says why the sides aren't compared; empty if they are. There are no effects then.
	Refusal string `json:"refusal,omitempty"`
	// ConfidencePercent is that of each interval by itself.
	ConfidencePercent int32 `json:"confidencePercent"`
	// Specs and Environments are what differs between the sides beside the metrics.
	Specs        []Difference `json:"specDifferences"`
	Environments []Difference `json:"environmentDifferences"`
	Notes        []string     `json:"notes,omitempty"`
	// Results are the results of two single runs; nil for rounds and sets of runs.
	Results [2]*result.Result `json:"-"`
	// Others compare further sides with the same baseline.
	Others []*Comparison `json:"others,omitempty"`
}

// MaxSides is the largest number of sides that are compared: each has a color and a mark.
const MaxSides = plot.Variants

// All returns the comparison and Others: one for each side but the baseline.
func (c *Comparison) All() []*Comparison { return append([]*Comparison{c}, c.Others...) }

// candidates returns the names of all sides but the baseline.
func (c *Comparison) candidates() string {
	all := c.All()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Candidate.Name
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// ComparedEffect is an effect with the medians of both sides, in the units of result.Metrics.
type ComparedEffect struct {
	benchmark.Effect
	BaselineMedian  float64 `json:"baselineMedian"`
	CandidateMedian float64 `json:"candidateMedian"`
	BaselineRuns    int     `json:"baselineRuns"`
	CandidateRuns   int     `json:"candidateRuns"`
}

// pair has the groups of both sides that are compared with each other.
type pair struct {
	cell                string
	baseline, candidate *Group
}

// NotCompared returns a comparison that only says why there is none.
func NotCompared(baseline, candidate Side, reason string) *Comparison {
	return &Comparison{
		Baseline: baseline, Candidate: candidate, Refusal: reason, Cells: []string{}, Effects: []ComparedEffect{}, Specs: []Difference{},
		Environments: []Difference{}, Notes: slices.Concat(baseline.Notes, candidate.Notes),
	}
}

func (c *Comparison) pairs() (pairs []pair) {
	a, b := c.Baseline.Groups, c.Candidate.Groups
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	add := func(cell string, x, y *Group) {
		if len(x.Runs) > 0 && len(y.Runs) > 0 {
			pairs = append(pairs, pair{cell, x, y})
		}
	}
	for i := range b {
		switch {
		case len(a) == 1 && len(b) == 1, len(a) == 1 && a[0].Cell == "":
			add(b[i].Cell, &a[0], &b[i])
		case len(b) == 1 && b[0].Cell == "":
			for j := range a {
				add(a[j].Cell, &a[j], &b[i])
			}
		default:
			at := slices.IndexFunc(a, func(g Group) bool { return g.Cell == b[i].Cell })
			if at < 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("Cell %s is only in %s.", b[i].Cell, c.Candidate.Name))
				continue
			}
			add(b[i].Cell, &a[at], &b[i])
		}
	}
	for i := range a {
		if len(a) > 1 && (len(b) > 1 || b[0].Cell != "") && !slices.ContainsFunc(b, func(g Group) bool { return g.Cell == a[i].Cell }) {
			c.Notes = append(c.Notes, fmt.Sprintf("Cell %s is only in %s.", a[i].Cell, c.Baseline.Name))
		}
	}
	return pairs
}
