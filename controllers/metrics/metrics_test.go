package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/fair"
	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/test/wrapper"
)

// cluster lists its runs and Benchmarks, and has statistics of sessions.
type cluster struct {
	client.Reader
	runs       []v1alpha1.BenchmarkRun
	benchmarks []v1alpha1.Benchmark
	err        error
	sessions   manager.Statistics
}

// List implements client.Reader.
func (c *cluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.BenchmarkRunList:
		list.Items = c.runs
	case *v1alpha1.BenchmarkList:
		list.Items = c.benchmarks
	}
	return c.err
}

// Statistics implements Sessions.
func (c *cluster) Statistics() manager.Statistics { return c.sessions }

var begin = time.Unix(1_000_000, 0)

// bench is Metrics over a cluster at a time.
type bench struct {
	*Metrics
	t        *testing.T
	cluster  *cluster
	clock    *clocktesting.FakePassiveClock
	registry *prometheus.Registry
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, cluster: &cluster{}, clock: clocktesting.NewFakePassiveClock(begin), registry: prometheus.NewPedanticRegistry()}
	b.Metrics = New(b.cluster, b.cluster, b.clock, "1.2.3")
	if err := b.Register(b.registry); err != nil {
		t.Fatal(err)
	}
	return b
}

// families returns what a scrape would, by the metrics' names.
func (b *bench) families() map[string]*dto.MetricFamily {
	b.t.Helper()
	gathered, err := b.registry.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	families := map[string]*dto.MetricFamily{}
	for _, family := range gathered {
		families[family.GetName()] = family
	}
	return families
}

// values returns a metric's values by its labels' values, of histograms their counts and sums.
func (b *bench) values(name string) map[string]string {
	b.t.Helper()
	values := map[string]string{}
	for _, m := range b.families()[name].GetMetric() {
		var labels []string
		for _, label := range m.GetLabel() {
			labels = append(labels, label.GetValue())
		}
		value := fmt.Sprint(m.GetCounter().GetValue() + m.GetGauge().GetValue())
		if h := m.GetHistogram(); h != nil {
			value = fmt.Sprintf("%d: %g", h.GetSampleCount(), h.GetSampleSum())
		}
		values[strings.Join(labels, " ")] = value
	}
	return values
}

func (b *bench) check(name string, want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.values(name)); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// newRun returns a run of a lane that waits since begin.
func newRun(lane, name string) *v1alpha1.BenchmarkRun {
	br := wrapper.NewRun("ns", name, "image").Lane(lane).Obj()
	br.CreationTimestamp = metav1.NewTime(begin)
	return br
}

func admitted(br *v1alpha1.BenchmarkRun, after time.Duration) *v1alpha1.BenchmarkRun {
	br.Status.AdmissionTime = ptr.To(metav1.NewTime(begin.Add(after)))
	br.Status.Conditions = append(br.Status.Conditions,
		metav1.Condition{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue},
		metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonMeasuring})
	return br
}

// finished returns a run that was admitted 10s after its creation and has finished after another 50s.
func finished(lane, reason string, valid metav1.ConditionStatus) *v1alpha1.BenchmarkRun {
	br := newRun(lane, "run")
	succeeded := metav1.ConditionFalse
	if reason == v1alpha1.ReasonCompleted {
		succeeded = metav1.ConditionTrue
		br.Status.Result = &v1alpha1.ResultStatus{Requests: ptr.To(int64(1000))}
	}
	br.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue},
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason},
		{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: reason},
		{Type: v1alpha1.ConditionValid, Status: valid},
	}
	br.Status.AdmissionTime = ptr.To(metav1.NewTime(begin.Add(10 * time.Second)))
	br.Status.CompletionTime = ptr.To(metav1.NewTime(begin.Add(time.Minute)))
	return br
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "run-result", errors.New("exceeded quota"))
}

// everything returns a bench whose metrics have a value each.
func everything(t *testing.T) *bench {
	b := newBench(t)
	b.cluster.runs = []v1alpha1.BenchmarkRun{*newRun("l", "waiting"), *admitted(newRun("l", "active"), time.Second)}
	b.cluster.benchmarks = []v1alpha1.Benchmark{{}}
	b.cluster.sessions = manager.Statistics{Clients: 3, Agents: 1, Ended: map[string]uint64{"OK": 4}, DuplicateSeconds: 2, StaleSeconds: 1}
	b.RunFinished(finished("l", v1alpha1.ReasonCompleted, metav1.ConditionTrue), []result.Finding{{Reason: "NoWarmup", Severity: result.Warns}})
	b.RoundFinished(v1alpha1.BenchmarkPassed)
	b.ArtifactFailed(KindBenchmarkRun, forbidden())
	fair.Options(1, nil).NewQueue("test", retry.Limiter()).ShutDown()
	return b
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(everything(t).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// documented returns type and labels of the metrics in docs/observability.md by their names.
func documented(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (counter|gauge|histogram) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = row[2] + " " + strings.ReplaceAll(strings.TrimSpace(row[3]), "`", "")
	}
	return documented
}

// TestDocumented compares docs/observability.md with what is served: name, type and labels of each metric.
func TestDocumented(t *testing.T) {
	b := everything(t)
	served := map[string]string{}
	for name, family := range b.families() {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		served[name] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, ", ")
	}
	own := documented(t)
	maps.DeleteFunc(own, func(name, _ string) bool { return !strings.HasPrefix(name, "assay_") })
	if diff := cmp.Diff(served, own); diff != "" {
		t.Errorf("docs/observability.md (-served +documented):\n%s", diff)
	}
	if descriptions := described(b); len(descriptions) != len(served) {
		t.Errorf("%d metrics are described, %d served", len(descriptions), len(served))
	}
}

// described returns the labels of a collector's metrics by their names.
func described(c prometheus.Collector) map[string]string {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		c.Describe(descriptions)
	}()
	described := map[string]string{}
	pattern := regexp.MustCompile(`fqName: "(\w+)".* variableLabels: \{([^}]*)\}`)
	for d := range descriptions {
		if match := pattern.FindStringSubmatch(d.String()); match != nil {
			labels := strings.Split(match[2], ",")
			slices.Sort(labels)
			described[match[1]] = strings.Join(labels, ", ")
		}
	}
	return described
}

// TestOthersDocumented checks the documented metrics of controller-runtime, client-go and the process.
func TestOthersDocumented(t *testing.T) {
	registered := described(crmetrics.Registry.(prometheus.Collector))
	n := 0
	for name, what := range documented(t) {
		if strings.HasPrefix(name, "assay_") {
			continue
		}
		n++
		_, labels, _ := strings.Cut(what, " ")
		if got, ok := registered[name]; !ok || got != labels {
			t.Errorf("%s has the labels %q, the documented ones are %q", name, got, labels)
		}
	}
	if n == 0 {
		t.Error("none is documented")
	}
}

// TestReasonsOfAlerts checks that the alerts name reasons that runs end with.
func TestReasonsOfAlerts(t *testing.T) {
	alerts, err := os.ReadFile("../../charts/assay/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	constants, err := os.ReadFile("../../api/v1alpha1/conditions.go")
	if err != nil {
		t.Fatal(err)
	}
	matches := regexp.MustCompile(`reason=~?"([^"]*)"`).FindAllStringSubmatch(string(alerts), -1)
	for _, match := range matches {
		for reason := range strings.SplitSeq(match[1], "|") {
			if !strings.Contains(string(constants), fmt.Sprintf("Reason%[1]s = %[1]q", reason)) {
				t.Errorf("no run ends with %s", reason)
			}
		}
	}
	if len(matches) == 0 {
		t.Error("no alert names a reason")
	}
}

func TestRunFinished(t *testing.T) {
	b := newBench(t)
	b.RunFinished(finished("a", v1alpha1.ReasonCompleted, metav1.ConditionTrue), []result.Finding{
		{Reason: "NoWarmup", Severity: result.Accepted}, {Reason: "StartSkew", Severity: result.Warns},
	})
	b.RunFinished(finished("a", v1alpha1.ReasonCompleted, metav1.ConditionFalse), []result.Finding{{Reason: "StartSkew", Severity: result.Warns}})
	never := finished("b", v1alpha1.ReasonInvalidSpec, metav1.ConditionFalse)
	never.Status.AdmissionTime = nil
	b.RunFinished(never, nil)
	b.check("assay_benchmarkruns_finished_total", map[string]string{"a Completed True": "1", "a Completed False": "1", "b InvalidSpec False": "1"})
	b.check("assay_findings_total", map[string]string{"NoWarmup Accepted": "1", "StartSkew Warns": "2"})
	b.check("assay_requests_measured_total", map[string]string{"": "2000"})
	b.check("assay_benchmarkrun_wait_seconds", map[string]string{"a": "2: 20"})
	b.check("assay_benchmarkrun_duration_seconds", map[string]string{"a": "2: 100"})
}

func TestLanes(t *testing.T) {
	b := newBench(t)
	suspended, failed := newRun("a", "suspended"), finished("b", v1alpha1.ReasonTargetCrashed, metav1.ConditionFalse)
	suspended.Spec.Suspend = ptr.To(true)
	late := newRun("a", "late")
	late.CreationTimestamp = metav1.NewTime(begin.Add(time.Minute))
	full := newRun("a", "full")
	full.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNamespaceFull}}
	b.cluster.runs = []v1alpha1.BenchmarkRun{*newRun("a", "first"), *late, *full, *suspended, *admitted(newRun("a", "active"), time.Second), *failed}
	b.clock.SetTime(begin.Add(2 * time.Minute))
	b.check("assay_benchmarkruns", map[string]string{"Queued": "4", "Measuring": "1", "TargetCrashed": "1"})
	b.check("assay_lane_benchmarkruns", map[string]string{"a Waiting": "2", "a Active": "1", "b Waiting": "0", "b Active": "0"})
	b.check("assay_lane_longest_wait_seconds", map[string]string{"a": "120", "b": "0"})
	b.check("assay_lane_last_admission_timestamp_seconds", map[string]string{"a": "1.000001e+06", "b": "1.00001e+06"})
}

// TestLaneGone deletes the runs of a lane: its gauges go at once, what was counted after a while.
func TestLaneGone(t *testing.T) {
	b := newBench(t)
	br := finished("gone", v1alpha1.ReasonCompleted, metav1.ConditionTrue)
	b.cluster.runs = []v1alpha1.BenchmarkRun{*br, *newRun("kept", "waiting")}
	b.RunFinished(br, nil)
	b.RunFinished(finished("kept", v1alpha1.ReasonCompleted, metav1.ConditionTrue), nil)
	b.check("assay_lane_longest_wait_seconds", map[string]string{"gone": "0", "kept": "0"})
	b.cluster.runs = b.cluster.runs[1:]
	b.clock.SetTime(begin.Add(laneRetention - time.Second))
	b.check("assay_lane_longest_wait_seconds", map[string]string{"kept": "3599"})
	b.check("assay_benchmarkrun_wait_seconds", map[string]string{"gone": "1: 10", "kept": "1: 10"})
	b.clock.SetTime(begin.Add(laneRetention))
	b.families()
	for _, name := range []string{"assay_benchmarkruns_finished_total", "assay_benchmarkrun_wait_seconds", "assay_benchmarkrun_duration_seconds"} {
		if keys := slices.Collect(maps.Keys(b.values(name))); len(keys) != 1 || !strings.HasPrefix(keys[0], "kept") {
			t.Errorf("%s: %v", name, keys)
		}
	}
}

// TestManyLanes has more lanes than labels, of which one is named like the label of the others.
func TestManyLanes(t *testing.T) {
	b := newBench(t)
	const lanes = 3 * maxLanes
	for i := range lanes {
		b.cluster.runs = append(b.cluster.runs, *newRun(fmt.Sprintf("lane-%03d", i), "run"))
		b.RunFinished(finished(fmt.Sprintf("lane-%03d", i), v1alpha1.ReasonCompleted, metav1.ConditionTrue), nil)
	}
	b.cluster.runs = append(b.cluster.runs, *newRun(otherLanes, "run"))
	waiting := b.values("assay_lane_benchmarkruns")
	if len(waiting) != 2*(maxLanes+1) || waiting["other Waiting"] != fmt.Sprint(lanes-maxLanes+1) || waiting["lane-000 Waiting"] != "1" {
		t.Errorf("%d series: %v", len(waiting), waiting)
	}
	durations := b.values("assay_benchmarkrun_duration_seconds")
	if len(durations) != maxLanes+1 || durations[otherLanes] != fmt.Sprintf("%d: %d", lanes-maxLanes, 50*(lanes-maxLanes)) {
		t.Errorf("%d series: %v", len(durations), durations)
	}
	// The labels of lanes that have gone are free for others.
	b.cluster.runs = b.cluster.runs[maxLanes:]
	b.clock.SetTime(begin.Add(laneRetention))
	b.families()
	waiting = b.values("assay_lane_benchmarkruns")
	if len(waiting) != 2*(maxLanes+1) || waiting["lane-000 Waiting"] != "" || waiting["lane-032 Waiting"] != "1" {
		t.Errorf("afterwards %d series: %v", len(waiting), waiting)
	}
}

func TestArtifactFailed(t *testing.T) {
	b := newBench(t)
	unusual := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: "TenantSaysNo"}}
	for _, err := range []error{forbidden(), fmt.Errorf("create: %w", forbidden()), unusual, errors.New("connection refused")} {
		b.ArtifactFailed(KindBenchmark, err)
	}
	b.check("assay_artifact_failures_total", map[string]string{"Benchmark Forbidden": "2", "Benchmark Rejected": "1", "Benchmark Unavailable": "1"})
}

// TestCacheFails serves what needs no cache.
func TestCacheFails(t *testing.T) {
	b := everything(t)
	b.cluster.err = errors.New("the cache is not started")
	families := b.families()
	if families["assay_benchmarkruns"] != nil || families["assay_lane_benchmarkruns"] != nil || families["assay_benchmarks"] != nil {
		t.Error("it serves what it could not list")
	}
	b.check("assay_sessions", map[string]string{"client": "3", "agent": "1"})
}

// TestNone records nothing.
func TestNone(*testing.T) {
	var none *Metrics
	none.RunFinished(finished("a", v1alpha1.ReasonCompleted, metav1.ConditionTrue), nil)
	none.RoundFinished(v1alpha1.BenchmarkPassed)
	none.ArtifactFailed(KindBenchmark, forbidden())
}
