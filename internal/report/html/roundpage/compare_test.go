package roundpage_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
)

// side returns a side of n runs whose p99 is about microseconds.
func side(t *testing.T, name string, n int, microseconds float64, image string) round.Side {
	t.Helper()
	g := round.Group{}
	for i := range n {
		f := microseconds * (1 + 0.01*float64(i%5))
		g.Runs = append(g.Runs, benchmark.Run{Name: name, Ended: roundtest.Start.Add(time.Duration(i) * time.Minute), Valid: true, Metrics: map[v1alpha1.BenchmarkMetric]float64{
			"LatencyP50": f / 5, "LatencyP99": f, "RequestsPerSecond": 1e8 / f, "ErrorRate": 0,
		}})
		spec, err := round.Flatten([]byte(`{"target": {"image": "` + image + `", "port": 8080}, "load": {"closed": {"connections": 25}}}`))
		if err != nil {
			t.Fatal(err)
		}
		g.Specs = append(g.Specs, spec)
		g.Environments = append(g.Environments, map[string]string{"/kernel": "6.1", "/targetImageID": image})
	}
	return round.Side{Name: name, Groups: []round.Group{g}}
}

func comparison(t *testing.T, a, b round.Side) *round.Comparison {
	t.Helper()
	c, err := round.Compare(a, b, round.CompareOptions{ConfidencePercent: 95})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeComparison(t *testing.T, c *round.Comparison) string {
	t.Helper()
	var out bytes.Buffer
	if err := roundpage.WriteComparison(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// resultOf returns a result of 10,000 requests, of which 1 in 50 takes slow microseconds and the others fast.
func resultOf(fast, slow int64) *result.Result {
	r := &result.Result{Run: result.Run{Load: result.LoadClosed}}
	for i := range 10_000 {
		if i%50 == 0 {
			r.Merged.Latencies.Of(result.Total).Record(slow)
		} else {
			r.Merged.Latencies.Of(result.Total).Record(fast)
		}
	}
	return r
}

// TestComparisonOfSets checks that the page has the effects of the comparison, with the words of the text.
func TestComparisonOfSets(t *testing.T) {
	c := comparison(t, side(t, "release 1.4", 12, 5000, "v1"), side(t, "release 1.5", 12, 6000, "v2"))
	page := writeComparison(t, c)
	if page != writeComparison(t, c) {
		t.Error("other bytes the second time")
	}
	root := parse(t, page)
	checkSelfContained(t, root)
	if h1 := text(all(root, "h1")[0]); h1 != c.Conclusions() || h1 != "4 differences: the intervals of 3 don't contain 0%, those of 1 do, 0 have none" {
		t.Error(h1)
	}
	found := tables(t, page)
	for i := range c.Effects {
		e := &c.Effects[i]
		row := effectIn(found, "", round.Heading(e.Metric))
		if !agrees(row["difference"], *e.Percent) || !agrees(row["baseline"], round.InUnit(e.Metric, e.BaselineMedian)) || !agrees(row["candidate"], round.InUnit(e.Metric, e.CandidateMedian)) {
			t.Errorf("%q, want %+v", row, e)
		}
	}
	if n := len(all(root, "figure")); n != 4 {
		t.Errorf("%d pictures of the effects in 4 metrics", n)
	}
	if row := find(found["Spec"], 0, "/target/image"); !slices.Equal(row, []string{"/target/image", "v1", "v2"}) {
		t.Errorf("%q", row)
	}
	for _, part := range []string{"Spec: 1 difference, 2 equal", "2 things differ; the effect is of all of them together."} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q", part)
		}
	}
}

// TestComparisonOfTwoRuns checks the table of percentiles against the histograms, and that the page draws no conclusion.
func TestComparisonOfTwoRuns(t *testing.T) {
	c := comparison(t, side(t, "a", 1, 94_000, "v1"), side(t, "b", 1, 81_000, "v1"))
	c.Results = [2]*result.Result{resultOf(5000, 94_000), resultOf(6000, 81_000)}
	page := writeComparison(t, c)
	root := parse(t, page)
	checkSelfContained(t, root)
	header := all(root, "header")[0]
	if want := "b answered 99% within 81.0 ms, a within 94.0 ms. One run each: this doesn't tell which is better. Repeat with a Benchmark."; !strings.Contains(text(header), want) || attribute(header, "class") != "answer same" {
		t.Errorf("%s, %s", attribute(header, "class"), text(header))
	}
	rows := tables(t, page)["Percentiles"]
	for _, percent := range []float64{50, 90, 99, 99.9, 99.99} {
		row := find(rows, 0, strconv.FormatFloat(percent, 'f', -1, 64)+"%")
		if row == nil {
			t.Fatalf("no %g%% in %q", percent, rows)
		}
		for i, r := range c.Results {
			if want := float64(r.Merged.Latencies.Get(result.Total).Percentile(percent)) / 1000; !agrees(row[1+i], want) {
				t.Errorf("%q, want %g ms", row, want)
			}
		}
		if enough := percent < 99.95; (row[3] == "-") == enough {
			t.Errorf("%q", row)
		}
	}
	_, body, _ := strings.Cut(page, "<body>")
	for _, none := range []string{`id="effects"`, "s-good", "s-bad"} {
		if body == "" || strings.Contains(body, none) {
			t.Errorf("%s on the page of two runs", none)
		}
	}
}

// TestRefusedComparison checks that a page that compares nothing has the reason and no plot.
func TestRefusedComparison(t *testing.T) {
	a, b := side(t, "a", 1, 5000, "v1"), side(t, "b", 1, 6000, "v1")
	b.Groups[0].Environments[0]["/kernel"] = "6.2"
	refused := comparison(t, a, b)
	refused.Results = [2]*result.Result{resultOf(5000, 94_000), resultOf(6000, 81_000)}
	invalid := round.Side{Name: "c", Notes: []string{"Not in c: c isn't valid: Client 0 used 99%."}}
	for want, c := range map[string]*round.Comparison{
		"Not compared: a ran on kernel 6.1, b on 6.2. Measure both under the same conditions.": refused,
		"c has no valid run.": round.NotCompared(a, invalid, "c has no valid run."),
	} {
		page := writeComparison(t, c)
		root := parse(t, page)
		checkSelfContained(t, root)
		if header := text(all(root, "header")[0]); !strings.Contains(header, "Not compared") || !strings.Contains(header, want) || len(all(root, "svg")) > 0 {
			t.Errorf("%s, %d pictures", header, len(all(root, "svg")))
		}
		for _, picture := range picturesIn(roundpage.ComparisonFormats.Names()) {
			if err := roundpage.ComparisonFormats.Write(&bytes.Buffer{}, "svg="+picture, c); !errors.Is(err, html.ErrNoPicture) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", picture, err)
			}
		}
	}
}

func TestHostileComparison(t *testing.T) {
	const hostile = "\x1b[2J\u202e</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&lt;"
	a, b := side(t, "a"+hostile, 12, 5000, "v1"), side(t, "b"+hostile, 12, 6000, "v1")
	a.Groups[0].Specs[0][hostile], a.Notes = hostile, []string{hostile}
	sets := comparison(t, a, b)
	single := comparison(t, side(t, "a"+hostile, 1, 5000, "v1"), side(t, "b"+hostile, 1, 6000, "v1"))
	single.Results = [2]*result.Result{resultOf(5000, 94_000), resultOf(6000, 81_000)}
	for _, c := range []*round.Comparison{sets, single, round.NotCompared(a, b, hostile)} {
		page := writeComparison(t, c)
		checkSelfContained(t, parse(t, page))
		checkPrintable(t, c.Baseline.Name, page)
		for _, picture := range picturesIn(roundpage.ComparisonFormats.Names()) {
			var out bytes.Buffer
			if err := roundpage.ComparisonFormats.Write(&out, "svg="+picture, c); err == nil {
				checkSelfContained(t, parse(t, out.String()))
				checkPrintable(t, picture, out.String())
			}
		}
	}
}

// TestSeveral compares four single runs, of which one can't be compared, and three sets of runs: the page has each side by its name.
func TestSeveral(t *testing.T) {
	sides := []round.Side{side(t, "a", 1, 5000, "x"), side(t, "b", 1, 4000, "x"), side(t, "c", 1, 6000, "x")}
	results := []*result.Result{resultOf(100, 5000), resultOf(100, 4000), resultOf(100, 6000)}
	compare := func() string {
		c, err := round.CompareAll(sides, results, round.CompareOptions{ConfidencePercent: 95})
		if err != nil {
			t.Fatal(err)
		}
		return writeComparison(t, c)
	}
	page := compare()
	for _, want := range []string{"b and c compared with a", "b answered 99% within 4.00 ms, c within 6.00 ms, a within 5.00 ms. One run each", "difference of C", `id="differences-c"`, "Percentile curves of a and b and c"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for i, name := range []string{"a", "b", "c"} {
		sides[i] = side(t, name, 10, []float64{5000, 4000, 5001}[i], "x")
	}
	sides, results = append(sides, side(t, "d", 10, 5000, "x")), make([]*result.Result, 4)
	for _, environment := range sides[3].Groups[0].Environments {
		environment["/kernel"] = "6.2"
	}
	if page = compare(); !strings.Contains(page, "1 of 3 not compared") || !strings.Contains(page, "a ran on kernel 6.1, d on 6.2") || strings.Count(page, `class="row-name">b<`) != 4 || strings.Count(page, `class="row-name">c<`) != 4 {
		t.Error(text(parse(t, page)))
	}
}
