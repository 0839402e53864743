package inference_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/test/benchtest"
)

func TestFewBlocks(t *testing.T) {
	two := []v1alpha1.BenchmarkMetric{"LatencyP99", "RequestsPerSecond"}
	stored := benchtest.Compare("x", two...)
	stored.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	reported := benchtest.Compare("x", two...)
	reported.Metrics[0].Role, reported.Metrics[1].Role = v1alpha1.RoleReport, v1alpha1.RoleReport
	for name, c := range map[string]struct {
		axis       v1alpha1.Axis
		comparison *v1alpha1.Comparison
		confidence int32
		least      int32 // that works
		want       string
	}{
		"one":                   {benchtest.Options("a", "x", "y"), benchtest.Compare("x", "LatencyP99"), 95, 6, "spec.repetitions.min: 5, must be at least 6 for 1 claim, gate comparisons included, at 95% confidence: with fewer blocks no interval exists"},
		"two metrics":           {benchtest.Options("a", "x", "y"), benchtest.Compare("x", two...), 95, 7, "spec.repetitions.min: 6, must be at least 7 for 2 claims, gate comparisons included, at 95% confidence: with fewer blocks no interval exists"},
		"two metrics, 5 cells":  {benchtest.Options("a", "v", "w", "x", "y", "z"), benchtest.Compare("x", two...), 95, 9, "spec.repetitions.min: 8, must be at least 9 for 8 claims, gate comparisons included, at 95% confidence: with fewer blocks no interval exists"},
		"a higher confidence":   {benchtest.Options("a", "x", "y"), benchtest.Compare("x", "LatencyP99"), 99, 8, "spec.repetitions.min: 7, must be at least 8 for 1 claim, gate comparisons included, at 99% confidence: with fewer blocks no interval exists"},
		"only reported metrics": {benchtest.Options("a", "x", "y"), reported, 95, 1, ""},
		"a stored baseline":     {benchtest.Options("a", "x", "y"), stored, 95, 1, ""},
		"no comparison":         {benchtest.Options("a", "x", "y"), nil, 95, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{c.axis}, Comparison: c.comparison, Repetitions: benchtest.Repetitions(c.least), ConfidencePercent: &c.confidence}
			cells, err := cells.Of(spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := inference.CheckClaims(spec, cells); err != nil {
				t.Error(err)
			}
			if c.want == "" {
				return
			}
			spec.Repetitions.Min = ptr.To(c.least - 1)
			if err := inference.CheckClaims(spec, cells); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			spec.Repetitions = nil // 10 by default
			if err := inference.CheckClaims(spec, cells); err != nil {
				t.Error(err)
			}
		})
	}
}

// Claims count with the gate, and the largest number of blocks must be able to decide them.
func TestFewBlocksOfLooks(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y")}, Repetitions: benchtest.Repetitions(5),
		Claims: []v1alpha1.Claim{claim("one", "y", "x")}, Comparison: benchtest.Compare("x", "LatencyP99"),
	}
	all, err := cells.Of(spec)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int32]string{
		6: "spec.repetitions.max: 6, must be at least 7 for 2 claims, gate comparisons included, at 95% confidence: with fewer blocks no interval exists",
		7: "",
	} {
		spec.Repetitions.Max = &most
		if err := inference.CheckClaims(spec, all); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d blocks: %v", most, err)
		}
	}
}

// claim says that the p99 of a cell is lower.
func claim(name, cell, than string) v1alpha1.Claim {
	return v1alpha1.Claim{Name: name, Metric: "LatencyP99", Cell: v1alpha1.CellSelector{"a": cell}, Than: v1alpha1.CellSelector{"a": than}, Is: v1alpha1.ClaimLower}
}

// A claim must select two cells.
func TestClaimsSelectCells(t *testing.T) {
	for want, of := range map[string]v1alpha1.Claim{
		"": claim("a", "x", "y"),
		"spec.claims[0].cell: it selects no cell: use one of a=x,b=1, a=y,b=1":           claim("a", "z", "y"),
		"spec.claims[0].than: it selects no cell: use one of a=x,b=1, a=y,b=1":           {Cell: v1alpha1.CellSelector{"a": "x"}, Than: v1alpha1.CellSelector{"c": "x"}},
		"spec.claims[0].than: it selects a=x,b=1, as cell does: select another":          {Cell: v1alpha1.CellSelector{"a": "x"}, Than: v1alpha1.CellSelector{"a": "x", "b": "1"}},
		"spec.claims[0].cell: it selects a=x,b=1 and a=y,b=1: name a value of each axis": {Cell: v1alpha1.CellSelector{"b": "1"}, Than: v1alpha1.CellSelector{"a": "x"}},
	} {
		spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y"), benchtest.Values("b", "/b", "1")}, Claims: []v1alpha1.Claim{of}}
		all, err := cells.Of(spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := inference.CheckClaims(spec, all); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The cells of a claim must have its request and its level; others need neither.
func TestCheckCell(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")}, Claims: []v1alpha1.Claim{claim("r", "x", "y"), claim("l", "x", "y")}}
	spec.Claims[0].Request, spec.Claims[1].Level = "cart", ptr.To(int32(2))
	all, err := cells.Of(spec)
	if err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRunSpec{}
	check := func(cell int, want string) {
		t.Helper()
		if err := inference.CheckCell(spec, &all[cell], run); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v", err)
		}
	}
	check(0, `spec.claims[0].request: cell a=x has no request with the name "cart": set it as the name of one of load.requests, in the template and in the axes that replace requests`)
	check(2, "")
	run.Load.Requests = []v1alpha1.Request{{Name: "cart"}}
	run.Load.Stages = &v1alpha1.StagesLoad{Levels: make([]v1alpha1.LoadLevel, 1)}
	check(1, "spec.claims[1].level: 2, but the load of cell a=y has 1 level: set load.stages.levels, in the template and in the axes that replace them")
	run.Load.Stages.Levels = make([]v1alpha1.LoadLevel, 2)
	check(1, "")
}
