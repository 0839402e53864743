package round_test

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
)

// usersOfR5 is R5's Table 1: the users at which the CPU of a server passed 90%, by server and number of CPUs.
var usersOfR5 = map[string]map[string]int64{
	"httpd-tomcat": {"1": 188, "2": 346, "4": 656, "4-tls": 65},
	"tomcat":       {"1": 226, "2": 400, "4": 800, "4-tls": 160},
	"nginx-tomcat": {"1": 266, "2": 507, "4": 1001, "4-tls": 200}, // 1001 is above the load
}

// loaded returns the result of R5's load, up to 1000 users, against a target whose CPU passes 90% at some number of
// users. Each user has 2 requests/s. From twice that number on 10% of the requests fail.
func loaded(users int64) *result.Result {
	const most = 1000
	r := &result.Result{
		DurationMicroseconds: 3_300_000_000,
		Environment: result.Environment{
			Kernel: "6.1.0-40-amd64", TargetImageID: "sha256:0123", CPUExclusivity: "Shared", TargetCPULimit: 1000, SharedCPULimit: 1000,
			Backends: []result.BackendEnvironment{{Name: "tomcat", CPULimit: 1000}},
		},
		BreakingPoints: []result.BreakingPoint{
			{Kind: result.BreakingCPU, Container: "server"}, {Kind: result.BreakingPodCPU}, {Kind: result.BreakingFailedRequests}, {Kind: result.BreakingErrorRate}, {Kind: result.BreakingThroughput},
		},
	}
	reach := func(p *result.BreakingPoint, load int64) {
		if load <= most {
			p.Reached, p.Second, p.Connections = true, load*3, load
		}
	}
	reach(&r.BreakingPoints[1], users)
	reach(&r.BreakingPoints[2], 2*users)
	reach(&r.BreakingPoints[3], 2*users+10)
	reach(&r.BreakingPoints[4], users*10/9)
	capacity := float64(2*users) / 0.9 // requests/s
	for n := int64(200); n <= most; n += 200 {
		l := result.Level{TargetConnections: n, Start: n/200*660 - 600, End: n / 200 * 660}
		rate := min(float64(2*n), capacity)
		l.Requests = int64(600 * rate)
		l.BytesReceived = 8192 * l.Requests
		if n >= 2*users {
			l.Errors[result.ErrorConnect] = l.Requests / 10
		}
		// The time of a request is what the users wait beyond half a second.
		l.Latencies.Of(result.Total).Record(max(4000, int64(1e6*(float64(n)/rate-0.5))))
		used := int64(600e6 * rate / capacity)
		l.SetTarget(&result.TargetUsage{
			Server: &result.Used{UserCPU: used / 4, Resident: 50 << 20}, Backends: map[string]*result.Used{"tomcat": {UserCPU: used - used/4, Resident: 300 << 20}},
		})
		r.Levels = append(r.Levels, l)
		r.Merged.Merge(&l.Measure)
	}
	return r
}

// r5 returns a round of R5's twelve runs.
func r5(t *testing.T) *benchmark.Round {
	var servers, sizes []v1alpha1.AxisOption
	for _, name := range []string{"1", "2", "4", "4-tls"} {
		sizes = append(sizes, v1alpha1.AxisOption{Name: name})
	}
	for _, name := range []string{"httpd-tomcat", "tomcat", "nginx-tomcat"} {
		servers = append(servers, v1alpha1.AxisOption{Name: name})
	}
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{{Name: "cpu", Options: sizes}, {Name: "server", Options: servers}},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(1))},
		Comparison: &v1alpha1.Comparison{
			Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"server": "httpd-tomcat"}},
			Metrics:  []v1alpha1.ComparedMetric{{Name: v1alpha1.MetricBreakingPointCPU, Role: v1alpha1.RoleReport}},
		},
	}
	return roundtest.CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		run.Complete(loaded(usersOfR5[cell.Values["server"]][cell.Values["cpu"]]), "")
	})
}

// TestTablesOfR5 has R5's tables in shape: Table 1, and by users and server the time of a request, hits/s, idle CPU and
// the percentage of errors.
func TestTablesOfR5(t *testing.T) {
	r := r5(t)
	one := round.PivotOptions{Axes: []string{"server", "cpu"}, Metric: v1alpha1.MetricBreakingPointCPU}
	for _, format := range round.PivotFormats.Names() {
		checkGolden(t, "r5-table1."+format, []byte(pivot(t, format, r, one)))
	}
	records, err := csv.NewReader(strings.NewReader(pivot(t, "csv", r, one))).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%v: %v", records, err)
	}
	for _, record := range records[1:] {
		for i, size := range records[0][1:] {
			want := strconv.FormatInt(usersOfR5[record[0]][size], 10)
			if want == "1001" {
				want = "none up to 1000"
			}
			if record[1+i] != want {
				t.Errorf("%s with %s CPUs: %s, want %s", record[0], size, record[1+i], want)
			}
		}
	}
	for name, metric := range map[string]v1alpha1.BenchmarkMetric{
		"page-time": "LatencyMean", "hits": "", "idle": "TargetCPUIdle", "errors": "ErrorRate",
	} {
		checkGolden(t, "r5-"+name+".text", []byte(pivot(t, "text", r, round.PivotOptions{Axes: []string{"level", "server"}, Metric: metric})))
	}
	checkGolden(t, "r5-hits.csv", []byte(pivot(t, "csv", r, round.PivotOptions{Axes: []string{"level", "server"}})))
	checkGolden(t, "r5-ratios.markdown", []byte(pivot(t, "markdown", r, round.PivotOptions{Axes: []string{"level", "server"}, Metric: "LatencyMean", PercentOf: "server=httpd-tomcat"})))
	checkGolden(t, "r5-users.text", []byte(pivot(t, "text", r, round.PivotOptions{Axes: []string{"server", "cpu"}, Metric: one.Metric, PercentOf: "server=httpd-tomcat"})))
}

// TestNoBreakingPoint checks that a round in which no cell met a breaking point says so in a sentence.
func TestNoBreakingPoint(t *testing.T) {
	for name, test := range map[string]struct {
		r    *round.Report
		want string
	}{"none": {roundtest.Staged(t), "No cell met one of them up to 1,000 connections."}, "some": {&round.Report{Round: r5(t)}, "none up to 1000"}} {
		var out bytes.Buffer
		if err := round.Formats.Write(&out, "text", test.r); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"No cell met one of them up to 1,000 connections.", "none up to 1000"} {
			if strings.Contains(out.String(), text) != (text == test.want) {
				t.Errorf("%s: %q\n%s", name, text, out.String())
			}
		}
	}
}

func TestReportOfR5(t *testing.T) {
	r := r5(t)
	for _, format := range []string{"text", "markdown"} {
		var out bytes.Buffer
		if err := round.Formats.Write(&out, format, &round.Report{Round: r}); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, "r5."+format, out.Bytes())
	}
}

func TestLevelsRefused(t *testing.T) {
	r := r5(t)
	for want, o := range map[string]round.PivotOptions{
		`the levels have no metric "BreakingPointCPU": use one of `: {Axes: []string{"level"}, Metric: v1alpha1.MetricBreakingPointCPU},
		`the round has no metric "TargetCPUIdle": use one of `:      {Axes: []string{"server"}, Metric: "TargetCPUIdle"},
		`no cell has server=iis: `:                                  {Axes: []string{"level"}, PercentOf: "server=iis"},
	} {
		if _, err := round.NewPivot(r, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	r.Levels = nil
	if _, err := round.NewPivot(r, round.PivotOptions{Axes: []string{"level"}}); err == nil || err.Error() != `unknown axis "level": the Benchmark has no such axis, and its load has no levels` {
		t.Error(err)
	}
	r.LevelsOmitted = true
	if _, err := round.NewPivot(r, round.PivotOptions{Axes: []string{"level"}}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Error(err)
	}
	// A Benchmark's own axis of that name is meant.
	own := servers(t)
	own.Spec.Axes[2].Name = "level"
	for i := range own.Cells {
		own.Cells[i].Values["level"] = own.Cells[i].Values["size"]
		delete(own.Cells[i].Values, "size")
	}
	if got := pivot(t, "csv", own, round.PivotOptions{Axes: []string{"level", "server"}}); !strings.HasPrefix(got, `table,level \ server: median of RequestsPerSecond,tomcat,httpd`) {
		t.Error(got)
	}
}

// TestLevelsThatComeTwice checks the names and the order of levels of a load that rises and falls.
func TestLevelsThatComeTwice(t *testing.T) {
	r := r5(t)
	r.Cells, r.Spec.Axes = r.Cells[:1], nil
	r.Cells[0].Values = map[string]string{}
	r.Levels = []benchmark.LevelEstimate{
		{Load: 200, Medians: map[v1alpha1.BenchmarkMetric]float64{"ErrorRate": 1}}, {Level: 1, Load: 1000, Medians: map[v1alpha1.BenchmarkMetric]float64{"ErrorRate": 2}},
		{Level: 2, Load: 200, Medians: map[v1alpha1.BenchmarkMetric]float64{"ErrorRate": 3}}, {Level: 3, Load: 600},
	}
	if got := pivot(t, "csv", r, round.PivotOptions{Axes: []string{"level"}, Metric: "ErrorRate"}); got != "level: median of ErrorRate %,ErrorRate\n200,1.00\n1000,2.00\n200 (level 3),3.00\n600,\n" {
		t.Error(got)
	}
}
