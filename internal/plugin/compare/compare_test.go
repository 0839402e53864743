package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// measured returns a completed run of an image with a label, and the ConfigMap with its result: 100 requests of a
// latency in microseconds. change changes the result.
func measured(t *testing.T, name, image string, latency int64, change func(*result.Result)) []client.Object {
	t.Helper()
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "uid", Labels: map[string]string{"image": image}}}
	run.Spec.Target.Image = image
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}, {Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue}}
	r := &result.Result{
		Run:         result.Run{Namespace: "default", Name: name, UID: "uid", Load: result.LoadClosed},
		Environment: result.Environment{TargetAddress: name, Kernel: "6.1", ServerVersion: "Tomcat/" + image, TargetImageID: "sha256:" + image, CPUExclusivity: "Shared"},
	}
	c := result.Client{Totals: result.Totals{StartedAt: 1, EndedAt: 1 + 100*latency}}
	c.Requests = 100
	for range 100 {
		c.Latencies.Of(result.Total).Record(latency)
	}
	r.AddClients([]result.Client{c})
	if change != nil {
		change(r)
	}
	data, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	config, reference := wrapper.Artifact("default", name+"-result", artifact.Key, data)
	run.Status.Artifact = reference
	return []client.Object{run, config}
}

// release returns six runs of an image.
func release(t *testing.T, image string, latency int64) (objects []client.Object) {
	for i := range int64(6) {
		objects = append(objects, measured(t, fmt.Sprintf("%s-%d", image, i), image, latency+10*i, nil)...)
	}
	return objects
}

// nightly returns a Benchmark with a completed round for each latency of its cell connector=apr; that of
// connector=nio is 1,000 microseconds.
func nightly(t *testing.T, latencies ...float64) []client.Object {
	t.Helper()
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"}}
	b.Spec.Axes = []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "apr"}}}}
	objects := []client.Object{b}
	for i, latency := range latencies {
		b.Spec.Template.Spec.Target.Image = fmt.Sprintf("tomcat:%d", i+1)
		cells, err := cells.Of(&b.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r := &benchmark.Round{Namespace: "default", Benchmark: "nightly", Number: int64(i + 1), Spec: b.Spec, Cells: cells, Verdict: v1alpha1.BenchmarkPassed}
		r.Blocks = 6
		for block := range r.Blocks {
			for cell, latency := range []float64{1000, latency} {
				r.Runs = append(r.Runs, benchmark.Run{
					RunKey: benchmark.RunKey{Round: r.Number, Cell: cell, Number: block}, Ended: began, Valid: true,
					Metrics:    map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": latency + float64(block)},
					Conditions: benchmark.Conditions{Kernel: "6.1", Image: fmt.Sprintf("sha256:%d", i+1)},
				})
			}
		}
		data, err := r.Encode(artifact.ConfigMapLimit)
		if err != nil {
			t.Fatal(err)
		}
		config, stored := wrapper.Artifact("default", fmt.Sprintf("nightly-r%d", r.Number), benchmark.ArtifactKey, data)
		objects = append(objects, config)
		reference := v1alpha1.RoundReference{Number: r.Number, Verdict: r.Verdict, CompletionTime: metav1.NewTime(began), Artifact: stored}
		b.Status.History = append([]v1alpha1.RoundReference{reference}, b.Status.History...)
	}
	return objects
}

// compare runs the command, and returns what it printed with its exit code and error.
func compare(t *testing.T, o options, objects ...client.Object) (string, int, error) {
	t.Helper()
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if o.format == "" {
		o.format = "json"
	}
	o.confidence = 95
	var out bytes.Buffer
	sources, err := o.check()
	if err == nil {
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
		err = o.write(t.Context(), &cluster.Cluster{WithWatch: c, Namespace: "default"}, sources, &out)
	}
	return out.String(), exit.Report(&bytes.Buffer{}, err), err
}

func decoded(t *testing.T, document string) (c round.Comparison) {
	t.Helper()
	if err := json.Unmarshal([]byte(document), &c); err != nil {
		t.Fatalf("%v:\n%s", err, document)
	}
	return c
}

func TestCompareSelectors(t *testing.T) {
	objects := append(release(t, "v1", 1000), release(t, "v2", 1200)...)
	objects = append(objects, measured(t, "v2-invalid", "v2", 9000, func(r *result.Result) {
		r.Findings = []result.Finding{{Reason: "ClientSaturated", Severity: result.Invalidates, Message: "Client 0 used 99%."}}
	})...)
	unfinished := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "v2-new", Labels: map[string]string{"image": "v2"}}}
	trial := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bm-r1-c000-t03", Labels: map[string]string{"image": "v2", benchmark.LabelBenchmark: "bm"}}}
	document, code, err := compare(t, options{selectors: []string{"image=v1", "image=v2"}, metrics: []string{"LatencyP99"}}, append(objects, unfinished, trial)...)
	if err != nil || code != exit.Success {
		t.Fatal(code, err)
	}
	c := decoded(t, document)
	if e := c.Effects[0]; len(c.Effects) != 1 || e.LowPercent == nil || *e.LowPercent <= 0 || e.BaselineRuns != 6 || e.CandidateRuns != 6 || !e.DifferentTimes {
		t.Errorf("%+v", c.Effects)
	}
	if diff := cmp.Diff([]round.Difference{{Path: "/target/image", Baseline: "v1", Candidate: "v2"}}, c.Specs); diff != "" {
		t.Error(diff)
	}
	environments := []round.Difference{{Path: "/serverVersion", Baseline: "Tomcat/v1", Candidate: "Tomcat/v2"}, {Path: "/targetImageID", Baseline: "sha256:v1", Candidate: "sha256:v2"}}
	if diff := cmp.Diff(environments, c.Environments); diff != "" {
		t.Error(diff)
	}
	if c.Candidate.Name != "runs with image=v2 (6)" || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "v2-invalid isn't valid: Client 0 used 99%.") ||
		!strings.Contains(c.Notes[0], "v2-new has no result yet") || !strings.Contains(c.Notes[0], "trials of capacity searches, which measure different loads (1)") {
		t.Errorf("%s: %q", c.Candidate.Name, c.Notes)
	}
}

func TestCompareTwoRuns(t *testing.T) {
	objects := append(measured(t, "a", "v1", 1000, nil), measured(t, "b", "v1", 1500, nil)...)
	text, code, err := compare(t, options{names: []string{"a", "benchmarkrun/b"}, format: "text"}, objects...)
	if err != nil || code != exit.Success {
		t.Fatal(code, err)
	}
	for _, part := range []string{
		"benchmarkrun/b compared with a: ", "LatencyP99 ms", "+50.0%", "None has an interval.", "A single run on a side says nothing about noise",
		"The specs don't differ.\n", "Nothing that is known of the environments differs.\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestCompareRounds(t *testing.T) {
	objects := nightly(t, 2000, 1500)
	document, _, err := compare(t, options{names: []string{"benchmark/nightly#1", "benchmark/nightly"}}, objects...)
	if err != nil {
		t.Fatal(err)
	}
	c := decoded(t, document)
	if c.Candidate.Name != "benchmark/nightly#2" || len(c.Effects) != 2 || *c.Effects[0].HighPercent < 0 || *c.Effects[1].HighPercent >= 0 {
		t.Errorf("%s: %+v", c.Candidate.Name, c.Effects)
	}
	all := []string{"connector=nio", "connector=apr"}
	if diff := cmp.Diff([]round.Difference{{Path: "/target/image", Baseline: "tomcat:1", Candidate: "tomcat:2", Cells: all}}, c.Specs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]round.Difference{{Path: "/targetImageID", Baseline: "sha256:1", Candidate: "sha256:2", Cells: all}}, c.Environments); diff != "" {
		t.Error(diff)
	}

	// Runs with a round: a name comes before a selector.
	document, _, err = compare(t, options{names: []string{"benchmark/nightly#2"}, selectors: []string{"image=v1"}, metrics: []string{"LatencyP99"}}, append(objects, release(t, "v1", 1000)...)...)
	if err != nil {
		t.Fatal(err)
	}
	if c := decoded(t, document); c.Baseline.Name != "benchmark/nightly#2" || len(c.Effects) != 2 || c.Effects[0].CandidateRuns != 6 || c.Environments[0].Path != "/targetImageID" {
		t.Errorf("%s: %+v, %+v", c.Baseline.Name, c.Effects, c.Environments)
	}
}

// TestPages has the page of two runs, of two rounds, and of sides that aren't compared, and the pictures.
func TestPages(t *testing.T) {
	objects := append(nightly(t, 2000, 1500), measured(t, "a", "v1", 1000, nil)...)
	objects = append(objects, measured(t, "b", "v1", 1500, nil)...)
	objects = append(objects, measured(t, "other", "v1", 1500, func(r *result.Result) { r.Environment.Kernel = "6.2" })...)
	objects = append(objects, measured(t, "invalid", "v1", 1000, func(r *result.Result) {
		r.Findings = []result.Finding{{Severity: result.Invalidates, Message: "Client 0 used 99%."}}
	})...)
	for _, test := range []struct {
		names  []string
		format string
		code   int
		parts  []string
	}{
		{[]string{"a", "b"}, "html", exit.Success, []string{"<!DOCTYPE html>", "One run each: this doesn&#39;t tell which is better", `id="percentiles"`}},
		{[]string{"a", "b"}, "svg=percentiles", exit.Success, []string{"<svg ", "1.50"}},
		{[]string{"a", "b"}, "svg=difference", exit.Success, []string{"<svg "}},
		{[]string{"a", "b"}, "svg=effects", exit.Failed, nil},
		{[]string{"benchmark/nightly#1", "benchmark/nightly"}, "html", exit.Success, []string{`id="effects"`, "2 differences: the intervals of 1 don&#39;t contain 0%, those of 1 do, 0 have none"}},
		{[]string{"benchmark/nightly#1", "benchmark/nightly"}, "svg=effects", exit.Success, []string{"<svg "}},
		{[]string{"a", "other"}, "html", exit.Failed, []string{"Not compared", "Not compared: a ran on kernel 6.1, other on 6.2."}},
		{[]string{"a", "other"}, "text", exit.Failed, []string{"other compared with a: not compared\n"}},
		{[]string{"a", "invalid"}, "html", exit.Failed, []string{"Not compared", "Client 0 used 99%."}},
		{[]string{"a", "invalid"}, "svg=percentiles", exit.Failed, nil},
	} {
		out, code, err := compare(t, options{names: test.names, format: test.format}, objects...)
		if code != test.code || len(test.parts) == 0 && out != "" {
			t.Errorf("%q as %s: exit code %d, want %d: %v", test.names, test.format, code, test.code, err)
		}
		for _, part := range test.parts {
			if !strings.Contains(out, part) {
				t.Errorf("%q as %s: no %q in:\n%s", test.names, test.format, part, out)
			}
		}
		if code == exit.Failed && strings.Contains(out, `id="percentiles"`) {
			t.Errorf("%q as %s: a picture of what isn't compared", test.names, test.format)
		}
	}
}

func TestRefusals(t *testing.T) {
	invalid := measured(t, "invalid", "v1", 1000, func(r *result.Result) {
		r.Findings = []result.Finding{{Severity: result.Invalidates, Message: "Client 0 used 99%."}}
	})
	objects := append(append(nightly(t, 2000), invalid...), measured(t, "a", "v1", 1000, nil)...)
	for _, tc := range []struct {
		options options
		code    int
		text    string
	}{
		{options{names: []string{"a"}}, exit.Unknown, "compare needs 2 to 6 sides, not 1"},
		{options{names: []string{"a", "b#3"}}, exit.Unknown, `"b#3" must be benchmark/NAME#ROUND with the number of a round`},
		{options{names: []string{"a", "benchmark/b#x"}}, exit.Unknown, `"benchmark/b#x" must be benchmark/NAME#ROUND`},
		{options{names: []string{"a", "pod/b"}}, exit.Unknown, `unknown kind "pod"`},
		{options{selectors: []string{"a=b=c", "d"}}, exit.Unknown, `--selector "a=b=c"`},
		{options{names: []string{"a", "b"}, format: "yaml"}, exit.Unknown, `unknown output format "yaml": use one of html, json, markdown, svg=difference|effects|percentiles, text`},
		{options{names: []string{"a", "b"}, metrics: []string{"p99"}}, exit.Unknown, `unknown metric "p99": use one of BreakingPointCPU, `},
		{options{names: []string{"a", "a"}}, exit.Failed, "nothing to compare: both sides are a"},
		{options{names: []string{"a", "gone"}}, exit.Unknown, `BenchmarkRun "gone" not found`},
		{options{names: []string{"a", "benchmark/gone"}}, exit.Unknown, `Benchmark "gone" not found`},
		{options{names: []string{"a", "benchmark/nightly#9"}}, exit.Unknown, "round 9 of Benchmark"},
		{options{names: []string{"a", "invalid"}}, exit.Failed, "invalid isn't valid: Client 0 used 99%."},
		{options{names: []string{"a"}, selectors: []string{"image=v7"}}, exit.Failed, "no run matches"},
	} {
		out, code, err := compare(t, tc.options, objects...)
		if err == nil || !strings.Contains(err.Error(), tc.text) || code != tc.code || out != "" {
			t.Errorf("%+v: exit code %d, error %v, want %q", tc.options, code, err, tc.text)
		}
	}
}

// TestCompareByLabel has a side for each value of a label, of which the first is the baseline.
func TestCompareByLabel(t *testing.T) {
	objects := append(append(release(t, "v1", 1000), release(t, "v2", 1200)...), release(t, "v3", 1000)...)
	document, code, err := compare(t, options{by: "image", metrics: []string{"LatencyP99"}}, objects...)
	if err != nil || code != exit.Success {
		t.Fatal(code, err)
	}
	c := decoded(t, document)
	if c.Baseline.Name != "image=v1 (6)" || len(c.Others) != 1 || *c.Effects[0].LowPercent <= 0 || c.Others[0].Candidate.Name != "image=v3 (6)" || *c.Others[0].Effects[0].LowPercent > 0 {
		t.Errorf("%+v", c)
	}
	for want, o := range map[string]options{
		"the runs have 1 values of the label image": {by: "image", selectors: []string{"image=v1"}},
		"name no other side":                        {by: "image", names: []string{"a"}},
		"compare needs 2 to 6 sides, not 7":         {names: strings.Split("abcdefg", "")},
		`nothing to compare: both sides are v1-0`:   {names: []string{"v1-0", "v2-0", "v1-0"}},
	} {
		if _, _, err := compare(t, o, objects...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
