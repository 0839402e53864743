package round_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

var options = round.CompareOptions{ConfidencePercent: 95}

// set returns runs whose latency is about microseconds, and their facts.
func set(t *testing.T, cell string, runs int, microseconds float64, image, kernel string) round.Group {
	t.Helper()
	g := round.Group{Cell: cell}
	random := rand.New(rand.NewPCG(uint64(microseconds), uint64(runs)))
	for i := range runs {
		f := microseconds * (1 + 0.02*random.NormFloat64())
		g.Runs = append(g.Runs, benchmark.Run{Ended: roundtest.Start.Add(time.Duration(i) * time.Minute), Valid: true, Metrics: map[v1alpha1.BenchmarkMetric]float64{
			"LatencyP50": f / 5, "LatencyP99": f, "RequestsPerSecond": 1e8 / f, "ErrorRate": 0,
		}})
		spec, err := round.Flatten([]byte(`{"target": {"image": "` + image + `", "jvm": ["-Xmx1g"]}, "load": {"closed": {"connections": 25.0}}}`))
		if err != nil {
			t.Fatal(err)
		}
		g.Specs = append(g.Specs, spec)
		g.Environments = append(g.Environments, map[string]string{"/kernel": kernel, "/kubelet": "v1 of " + image, "/only/" + image: "x"})
	}
	return g
}

func compare(t *testing.T, a, b round.Side, o round.CompareOptions) *round.Comparison {
	t.Helper()
	c, err := round.Compare(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeComparison(t *testing.T, format string, c *round.Comparison) string {
	t.Helper()
	var out bytes.Buffer
	if err := round.ComparisonFormats.Write(&out, format, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompareSets(t *testing.T) {
	a := round.Side{Name: "runs with release=1.4 (12)", Groups: []round.Group{set(t, "", 12, 5000, "tomcat:9", "6.1")}, Notes: []string{"Not in runs with release=1.4: r7 isn't valid: ClientSaturated."}}
	b := round.Side{Name: "runs with release=1.5 (12)", Groups: []round.Group{set(t, "", 12, 6000, "tomcat:10", "6.1")}}
	c := compare(t, a, b, options)
	for _, format := range []string{"text", "markdown"} {
		checkGolden(t, "compare."+format, []byte(writeComparison(t, format, c)))
	}
	without := map[v1alpha1.BenchmarkMetric]bool{} // 0% in the interval
	for _, e := range c.Effects {
		without[e.Metric] = *e.LowPercent > 0 || *e.HighPercent < 0
		if !e.DifferentTimes {
			t.Errorf("%+v", e)
		}
	}
	want := map[v1alpha1.BenchmarkMetric]bool{"LatencyP50": true, "LatencyP99": true, "RequestsPerSecond": true, "ErrorRate": false}
	if diff := cmp.Diff(want, without); diff != "" {
		t.Error(diff)
	}
	differences := []round.Difference{{Path: "/target/image", Baseline: "tomcat:9", Candidate: "tomcat:10"}}
	if diff := cmp.Diff(differences, c.Specs); diff != "" {
		t.Error(diff)
	}
	// What one side doesn't know of its environment is no difference.
	if diff := cmp.Diff([]round.Difference{{Path: "/kubelet", Baseline: "v1 of tomcat:9", Candidate: "v1 of tomcat:10"}}, c.Environments); diff != "" {
		t.Error(diff)
	}
	var read struct {
		Effects         []map[string]any
		SpecDifferences []round.Difference
	}
	if err := json.Unmarshal([]byte(writeComparison(t, "json", c)), &read); err != nil || len(read.Effects) != 4 || read.Effects[0]["candidateRuns"] != 12.0 || len(read.SpecDifferences) != 1 {
		t.Errorf("%v: %+v", err, read)
	}
}

// TestCompareFewRuns checks that nothing is concluded from runs that are too few, and that the number that is asked
// for is enough and one less isn't.
func TestCompareFewRuns(t *testing.T) {
	unbounded := func(runs int) (few bool, note string) {
		a := round.Side{Name: "a", Groups: []round.Group{set(t, "", runs, 5000, "x", "y")}}
		b := round.Side{Name: "b", Groups: []round.Group{set(t, "", runs, 9000, "x", "y")}}
		c := compare(t, a, b, round.CompareOptions{ConfidencePercent: 95, Metrics: []v1alpha1.BenchmarkMetric{"LatencyP99", "LatencyP50"}})
		for _, e := range c.Effects {
			few = few || e.LowPercent == nil
			if e.LowPercent == nil && (e.HighPercent != nil || e.Percent == nil) {
				t.Errorf("%d runs: %+v", runs, e)
			}
		}
		return few, strings.Join(c.Notes, " ")
	}
	few, note := unbounded(1)
	if want := "A single run on a side says nothing about noise: such a difference may be noise alone. For 95% confidence make at least 4 runs on each side."; !few || note != want {
		t.Errorf("%v: %s", few, note)
	}
	if few, note := unbounded(3); !few || !strings.HasPrefix(note, "3 runs on a side are too few for an interval") {
		t.Errorf("%v: %s", few, note)
	}
	if few, note := unbounded(4); few || note != "" {
		t.Errorf("%v: %s", few, note)
	}
}

func TestCompareRounds(t *testing.T) {
	group := func(cell string, microseconds float64, image string) round.Group {
		return set(t, cell, 10, microseconds, image, "6.1")
	}
	a := round.Side{Name: "benchmark/x#1", Groups: []round.Group{group("c=1", 5000, "v1"), group("c=2", 7000, "v1"), group("c=3", 9000, "v1")}}
	b := round.Side{Name: "benchmark/x#2", Groups: []round.Group{group("c=0", 5000, "v2"), group("c=2", 5500, "v2"), group("c=1", 5005, "v2")}}
	b.Compared = []v1alpha1.BenchmarkMetric{"LatencyP99"}
	c := compare(t, a, b, round.CompareOptions{Metrics: []v1alpha1.BenchmarkMetric{"LatencyP99"}, ConfidencePercent: 95})
	if diff := cmp.Diff([]string{"c=2", "c=1"}, c.Cells); diff != "" {
		t.Error(diff)
	}
	if len(c.Effects) != 2 || *c.Effects[0].HighPercent >= 0 || *c.Effects[1].LowPercent > 0 || *c.Effects[1].HighPercent < 0 || c.Effects[0].ConfidencePercent < 95 {
		t.Errorf("%+v", c.Effects)
	}
	if diff := cmp.Diff([]round.Difference{{Path: "/target/image", Baseline: "v1", Candidate: "v2", Cells: []string{"c=2", "c=1"}}}, c.Specs); diff != "" {
		t.Error(diff)
	}
	if want := []string{"Cell c=0 is only in benchmark/x#2.", "Cell c=3 is only in benchmark/x#1."}; !slices.Equal(c.Notes, want) {
		t.Errorf("notes %q", c.Notes)
	}
	if text := writeComparison(t, "text", c); !strings.HasPrefix(text, "benchmark/x#2 compared with benchmark/x#1: 2 differences: the intervals of 1 don't contain 0%, those of 1 do, 0 have none\n") || !strings.Contains(text, "\nc=2   LatencyP99 ms") {
		t.Error(text)
	}

	b.Groups[1].Specs[0]["/x"] = "1"
	c = compare(t, a, b, options)
	if text := writeComparison(t, "text", c); !strings.Contains(text, "\n/x             not set   1 | not set  in 1 of 2 cells, first in c=2\n") {
		t.Error(text)
	}

	// A set of runs is compared with each cell.
	runs := round.Side{Name: "runs", Groups: []round.Group{set(t, "", 10, 7000, "v1", "6.1")}}
	for _, sides := range [][2]round.Side{{a, runs}, {runs, a}} {
		if c := compare(t, sides[0], sides[1], options); !slices.Equal(c.Cells, []string{"c=1", "c=2", "c=3"}) || len(c.Notes) > 0 {
			t.Errorf("cells %q, notes %q", c.Cells, c.Notes)
		}
	}
}

// TestManifest checks that the Benchmark of two runs has a cell with each of their specs.
func TestManifest(t *testing.T) {
	var a, b v1alpha1.BenchmarkRunSpec
	a.Target.Image, b.Target.Image = "tomcat:9", "tomcat:10"
	a.Load.Requests = []v1alpha1.Request{{Path: "/a"}, {Path: "/b"}}
	b.Load.Requests = []v1alpha1.Request{{Path: "/a"}}
	a.Load.Closed, b.Load.Closed = &v1alpha1.ClosedLoad{Connections: 25}, &v1alpha1.ClosedLoad{Connections: 50}
	a.Thresholds = []v1alpha1.Threshold{{Metric: v1alpha1.MetricLatencyP99, Below: "50ms"}}
	b.Suspend = ptr.To(true)
	c := round.NotCompared(round.Side{Name: "x\n\x1b", Spec: &a}, round.Side{Name: "y", Spec: &b}, "")
	manifest, err := c.Manifest()
	if err != nil || !strings.HasPrefix(manifest, "# a is x, b is y\n") {
		t.Fatal(err, manifest)
	}
	var read v1alpha1.Benchmark
	if err := yaml.UnmarshalStrict([]byte(manifest), &read); err != nil {
		t.Fatalf("%v:\n%s", err, manifest)
	}
	cells, err := cells.Of(&read.Spec)
	if err != nil || len(cells) != 2 || cells[1].Baseline != 0 {
		t.Fatalf("%+v: %v", cells, err)
	}
	b.Suspend = nil
	for i, want := range []*v1alpha1.BenchmarkRunSpec{&a, &b} {
		got, err := cells[i].JSON(&read.Spec.Template.Spec)
		if err != nil {
			t.Fatal(err)
		}
		var spec v1alpha1.BenchmarkRunSpec
		if err := json.Unmarshal(got, &spec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &spec); diff != "" {
			t.Errorf("cell %d: %s", i, diff)
		}
	}
	c.Baseline.Spec = nil
	if none, err := c.Manifest(); none != "" || err != nil {
		t.Error(none, err)
	}
}

// TestRefused has each reason not to compare two sides. Both texts and JSON then have no effect.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(a, b *round.Group){
		"Not compared: a ran on kernel 6.1, b on 6.2. Measure both under the same conditions.":                   func(_, b *round.Group) { b.Environments[0]["/kernel"] = "6.2"; b.Environments = b.Environments[:1] },
		"Not compared: a ran on node type big, b on small. Measure both under the same conditions.":              setBoth("/nodeType", "big", "small"),
		"Not compared: a ran on CPU model fast, b on slow. Measure both under the same conditions.":              setBoth("/machine/cpuModel", "fast", "slow"),
		"Not compared: a ran on number of CPUs 2, b on 64. Measure both under the same conditions.":              setBoth("/machine/cpus", "2", "64"),
		"Not compared: a ran on CPU exclusivity Exclusive, b on Shared. Measure both under the same conditions.": setBoth("/cpuExclusivity", "Exclusive", "Shared"),
		"The runs of b have different images: sha256:1 | sha256:2. Compare runs of one image on each side.": func(_, b *round.Group) {
			for i, e := range b.Environments {
				e["/targetImageID"] = []string{"sha256:1", "sha256:2"}[i%2]
			}
		},
		"The load of a is of the closed model, that of b of the open model. Make both runs with the same kind of load.": func(_, b *round.Group) {
			for _, spec := range b.Specs {
				delete(spec, "/load/closed/connections")
				spec["/load/open/requestsPerSecond"] = "100"
			}
		},
		"The load of a is of the closed model, that of b a script. Make both runs with the same kind of load.": func(_, b *round.Group) {
			for _, spec := range b.Specs {
				delete(spec, "/load/closed/connections")
				spec["/script/file"] = "a.js"
			}
		},
	} {
		a, b := set(t, "", 5, 5000, "v1", "6.1"), set(t, "", 5, 6000, "v1", "6.1")
		change(&a, &b)
		c := compare(t, round.Side{Name: "a", Groups: []round.Group{a}}, round.Side{Name: "b", Groups: []round.Group{b}}, options)
		if c.Refusal != want || len(c.Effects) > 0 {
			t.Errorf("%q, %d effects, want %q", c.Refusal, len(c.Effects), want)
		}
		if text := writeComparison(t, "text", c); !strings.HasPrefix(text, "b compared with a: not compared\n"+want+"\n") || strings.Contains(text, "LatencyP99") {
			t.Error(text)
		}
		if document := writeComparison(t, "json", c); !strings.Contains(document, `"effects": []`) || !strings.Contains(document, `"refusal": "`) {
			t.Error(document)
		}
	}
}

// setBoth returns a change that sets a fact of all runs of both sides.
func setBoth(path, baseline, candidate string) func(a, b *round.Group) {
	return func(a, b *round.Group) {
		for i, g := range []*round.Group{a, b} {
			for _, e := range g.Environments {
				e[path] = []string{baseline, candidate}[i]
			}
		}
	}
}

func TestNothingToCompare(t *testing.T) {
	full := round.Side{Name: "full", Groups: []round.Group{set(t, "c=1", 3, 5000, "v1", "k"), set(t, "c=2", 3, 5000, "v1", "k")}}
	for want, side := range map[string]round.Side{
		"no cell of the same name with valid runs. r1 isn't valid.": {Name: "none", Groups: []round.Group{{}}, Notes: []string{"r1 isn't valid."}},
		"no cell of the same name with valid runs. ":                {Name: "no groups"},
		"Cell c=8 is only in other. ":                               {Name: "other", Groups: []round.Group{set(t, "c=8", 3, 5000, "v1", "k"), set(t, "c=9", 3, 5000, "v1", "k")}},
	} {
		if _, err := round.Compare(full, side, options); !errors.Is(err, round.ErrNoRuns) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", side.Name, err)
		}
	}
	if _, err := round.Compare(full, full, round.CompareOptions{Metrics: []v1alpha1.BenchmarkMetric{"TargetPeakMemory"}}); !errors.Is(err, round.ErrNoRuns) {
		t.Error(err)
	}
}

func TestCompareHostileTexts(t *testing.T) {
	const hostile = "\x1b[2J<b>`|https://x"
	a, b := set(t, "", 5, 5000, "v1", "k"), set(t, "", 5, 5000, "v2", "k")
	a.Environments[0]["/kubelet"] = hostile
	a.Specs[0][hostile] = strings.Repeat(hostile, 50)
	c := compare(t, round.Side{Name: hostile, Groups: []round.Group{a}}, round.Side{Name: "b", Groups: []round.Group{b}, Notes: []string{hostile}}, options)
	for _, format := range round.ComparisonFormats.Names() {
		document := writeComparison(t, format, c)
		if strings.ContainsFunc(document, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("%s: %q", format, document)
		}
		if format == "markdown" && (strings.Contains(document, "<b>") || strings.Contains(document, "://") || strings.Contains(document, "`|")) {
			t.Error(document)
		}
	}
}
