package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	rounds "github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// startAndCollection is the time that a run needs for its pods, their start and the collection of its result, next
	// to warm-up and measurement.
	startAndCollection = 6 * time.Second
	// assumedRate is the rate of each client, in requests per second, from which the duration of a number of requests
	// follows: about that of report R4.
	assumedRate = 5000
	// smallLimit is the longest time that a small sample may take, invalid runs included, and smallReportLimit
	// that of a report's small form: R1's connectors differ by so little that 40 blocks decide.
	smallLimit, smallReportLimit = 10 * time.Minute, 45 * time.Minute
	// smallMilliCPUs is the CPU available to a run on a node with 2 CPUs: 1900m are allocatable there, some of which
	// Assay's manager and the cluster's DNS request.
	smallMilliCPUs = 1800
	// agentMilliCPUs is requested by the agent in the target's pod.
	agentMilliCPUs = 50
)

// cost holds the CPU and the time that a round of a sample needs.
type cost struct {
	runs, trials int
	// load describes the warm-up and the measurement of each run.
	load string
	// total is the duration of the round without invalid runs, replaced that of the invalid runs that it may replace.
	total, replaced time.Duration
	// milliCPUs is requested by a run's pods, of the cell that requests most.
	milliCPUs int64
}

func costOf(t *testing.T, b *v1alpha1.Benchmark) (c cost) {
	t.Helper()
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	loads, blocks, replace := span{}, 0, int32(3)
	if r := b.Spec.Repetitions; r != nil {
		blocks, replace = int(ptr.Deref(r.Max, *r.Min)), *r.InvalidRuns.Replace
	} else if b.Spec.Capacity == nil {
		blocks = 10
	}
	alternates := b.Spec.Repetitions != nil && b.Spec.Repetitions.Order == v1alpha1.OrderAlternating
	longest, block := time.Duration(0), startAndCollection
	count := func(spec *v1alpha1.BenchmarkRunSpec, err error, n int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		warmup, measurement := loadOf(t, spec)
		loads.warmup, loads.measurement = append(loads.warmup, warmup), append(loads.measurement, measurement)
		duration := warmup.duration() + measurement.duration()
		if alternates {
			block += duration
		} else {
			duration += startAndCollection
		}
		longest = max(longest, duration)
		c.total += time.Duration(n) * duration
		c.milliCPUs = max(c.milliCPUs, requestsOf(spec))
	}
	for i := range cells {
		if blocks > 0 {
			spec, err := cells[i].Spec(&b.Spec.Template.Spec)
			count(spec, err, blocks)
			c.runs += blocks
		}
		if s := b.Spec.Capacity; s != nil {
			spec := &v1alpha1.BenchmarkRunSpec{}
			doc, err := cells[i].TrialJSON(&b.Spec.Template.Spec, s, s.From)
			if err == nil {
				err = json.Unmarshal(doc, spec)
			}
			count(spec, err, search.MaxTrials(s))
			c.trials += search.MaxTrials(s)
		}
	}
	if alternates { // the runs of a block start together, and are replaced together
		longest, c.total = block, c.total+time.Duration(blocks)*startAndCollection
	}
	c.load = fmt.Sprintf("%s of warm-up and %s of measurement", between(t, loads.warmup), between(t, loads.measurement))
	c.replaced = time.Duration(replace) * longest
	return c
}

// span holds the warm-ups and the measurements of all cells.
type span struct{ warmup, measurement []amount }

// amount is a number of seconds or of requests.
type amount struct {
	number int64
	unit   string
}

func (a amount) duration() time.Duration {
	if a.unit == "s" {
		return time.Duration(a.number) * time.Second
	}
	return time.Duration(a.number) * time.Second / assumedRate
}

// between describes amounts, which have one unit: "20 s", or "12 to 40 s" if they differ.
func between(t *testing.T, all []amount) string {
	t.Helper()
	byNumber := func(a, b amount) int { return cmp.Compare(a.number, b.number) }
	least, most := slices.MinFunc(all, byNumber), slices.MaxFunc(all, byNumber)
	if least.unit != most.unit {
		t.Errorf("the cells have different loads: %d %s and %d %s", least.number, least.unit, most.number, most.unit)
	}
	if least == most {
		return fmt.Sprintf("%d %s", least.number, least.unit)
	}
	return fmt.Sprintf("%d to %d %s", least.number, most.number, most.unit)
}

// loadOf returns the warm-up and the measurement of a run.
func loadOf(t *testing.T, spec *v1alpha1.BenchmarkRunSpec) (warmup, measurement amount) {
	t.Helper()
	var seconds *int32
	var requests *int64
	switch {
	case spec.Load.Closed != nil:
		seconds, requests = spec.Load.Closed.DurationSeconds, spec.Load.Closed.RequestCount
	case spec.Load.Open != nil:
		seconds, requests = spec.Load.Open.DurationSeconds, spec.Load.Open.RequestCount
	case spec.Load.Stages != nil:
		seconds = new(int32)
		for _, l := range spec.Load.Stages.Levels {
			*seconds += ptr.Deref(l.RampSeconds, 0) + l.HoldSeconds
		}
	}
	if spec.Load.Warmup == nil {
		t.Fatal("there is no warm-up")
	}
	if steady := spec.Load.Warmup.Steady; steady != nil {
		return amount{int64(*steady.TimeoutSeconds), "s"}, amountOf(t, seconds, requests)
	}
	return amountOf(t, spec.Load.Warmup.DurationSeconds, spec.Load.Warmup.RequestCount), amountOf(t, seconds, requests)
}

func amountOf(t *testing.T, seconds *int32, requests *int64) amount {
	t.Helper()
	switch {
	case seconds != nil:
		return amount{int64(*seconds), "s"}
	case requests != nil:
		return amount{*requests, "requests"}
	}
	t.Fatal("the load has neither durationSeconds nor requests")
	return amount{}
}

// requestsOf returns what the pods of a run request, in thousandths of a CPU.
func requestsOf(spec *v1alpha1.BenchmarkRunSpec) int64 {
	of := func(r *v1alpha1.Resources) int64 {
		if r.CPU == nil {
			return 1000
		}
		return r.CPU.MilliValue()
	}
	target := of(&spec.Target.Resources) + agentMilliCPUs
	for i := range spec.Target.Backends {
		target += of(&spec.Target.Backends[i].Resources)
	}
	if spec.Target.SharedCPU != nil {
		target = spec.Target.SharedCPU.MilliValue() // of the whole pod
	}
	return target + int64(*spec.Clients.Replicas)*of(&spec.Clients.Resources)
}

var (
	statedTime = regexp.MustCompile(`It takes (?:about|at most) ([\d.]+) (minutes|hours)[^:.]*: (\d+) (runs|trials) with ([^.,]* of measurement)`)
	statedCPUs = regexp.MustCompile(`It needs ([\d.]+) CPUs?\b`)
	command    = regexp.MustCompile(`benchmark[/ ]([a-z0-9-]+)`)
	table      = regexp.MustCompile(`--pivot ([a-z,-]+)(?: --metric ([A-Za-z0-9]+))?(?: --percent-of (\S+))?`)
)

// checkComment checks the comment at the head of a sample: its duration and CPUs against the spec, and that its
// commands name the Benchmark and print whole tables. A sample is small unless another one is its small form, that of a report
// if it is in the directory of the small ones.
func checkComment(t *testing.T, path string, b *v1alpha1.Benchmark) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\napiVersion:")
	comment := strings.ReplaceAll(strings.TrimPrefix(head, "# "), "\n# ", " ")

	c := costOf(t, b)
	t.Logf("%d runs and %d trials, %s; %v, and %v for invalid runs; %d milliCPUs", c.runs, c.trials, c.load, c.total, c.replaced, c.milliCPUs)
	_, err = os.Stat(strings.TrimSuffix(path, ".yaml") + "-small.yaml")
	small, limit := err != nil, smallLimit
	if strings.HasPrefix(path, reportDirectory) {
		small, limit = filepath.Base(filepath.Dir(path)) == "small", smallReportLimit
	}
	if small && (c.total+c.replaced >= limit || c.milliCPUs > smallMilliCPUs) {
		t.Errorf("it takes %v, and %v for invalid runs, with %d milliCPUs; a small sample takes less than %v with at most %d",
			c.total, c.replaced, c.milliCPUs, limit, smallMilliCPUs)
	}
	if said := statedTime.FindStringSubmatch(comment); said == nil {
		t.Errorf("the comment doesn't say how long it takes, as %s", statedTime)
	} else {
		unit := map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour}[said[2]]
		n, err := strconv.ParseFloat(said[1], 64)
		if off := time.Duration(n*float64(unit)) - c.total; err != nil || off.Abs() > max(c.total/10, 30*time.Second) {
			t.Errorf("the comment says that it takes %s %s; it takes %v", said[1], said[2], c.total)
		}
		if want := fmt.Sprintf("%d %s with %s", c.runs+c.trials, said[4], c.load); !strings.HasSuffix(said[0], want) {
			t.Errorf("the comment says %q, want %q", said[0], want)
		}
	}
	need := math.Ceil(float64(c.milliCPUs)/100) / 10
	if said := statedCPUs.FindStringSubmatch(comment); said == nil || said[1] != strconv.FormatFloat(need, 'f', -1, 64) {
		t.Errorf("the comment must say: It needs %v CPUs", need)
	}
	checkCommands(t, path, comment, b)
}

func checkCommands(t *testing.T, path, comment string, b *v1alpha1.Benchmark) {
	t.Helper()
	for _, said := range command.FindAllStringSubmatch(comment, -1) {
		if said[1] != b.Name {
			t.Errorf("%q is of another Benchmark", said[0])
		}
	}
	for _, verb := range []string{"apply -f " + strings.TrimPrefix(path, "../../"), "watch benchmark/" + b.Name} {
		if !strings.Contains(comment, verb) {
			t.Errorf("the comment lacks the command %q", verb)
		}
	}
	tables := table.FindAllStringSubmatch(comment, -1)
	if len(b.Spec.Axes) > 0 && len(b.Spec.Claims) == 0 && len(tables) == 0 {
		t.Error("the comment lacks the command that prints its table, with --pivot")
	}
	for _, said := range tables {
		o := round.PivotOptions{Axes: strings.Split(said[1], ","), Metric: v1alpha1.BenchmarkMetric(said[2]), PercentOf: said[3]}
		for _, grid := range gridsOf(t, b, o) {
			if slices.ContainsFunc(slices.Concat(grid.Values...), func(v *float64) bool { return v == nil }) {
				t.Errorf("%q prints a table with empty cells", said[0])
			}
		}
	}
}

// gridsOf returns the tables that kubectl assay table prints of a round of the Benchmark. The median of each cell is the
// number of the cell, from 1.
func gridsOf(t *testing.T, b *v1alpha1.Benchmark, o round.PivotOptions) []round.Grid {
	t.Helper()
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if o.Metric == "" {
		o.Metric = v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)
	}
	r := &rounds.Round{Benchmark: b.Name, Spec: b.Spec, Cells: cells, Omitted: []v1alpha1.BenchmarkMetric{o.Metric}}
	for i := range cells {
		r.Estimates = append(r.Estimates, rounds.Estimate{Cell: i, Metric: o.Metric, Median: float64(i + 1)})
		if stages := b.Spec.Template.Spec.Load.Stages; stages != nil {
			for j := range stages.Levels {
				r.Levels = append(r.Levels, rounds.LevelEstimate{
					Cell: i, Level: j, Load: int64(ptr.Deref(stages.Levels[j].Connections, ptr.Deref(stages.Levels[j].Users, 0))), Medians: levelMedians(float64(i + 1)),
				})
			}
		}
	}
	p, err := round.NewPivot(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Grids
}

// levelMedians returns a value as each of the metrics that a level has.
func levelMedians(value float64) map[v1alpha1.BenchmarkMetric]float64 {
	medians := map[v1alpha1.BenchmarkMetric]float64{}
	for _, m := range result.LevelMetrics {
		medians[v1alpha1.BenchmarkMetric(m.Name)] = value
	}
	return medians
}

// TestTablesOfR5 checks that the samples' tables have the rows and columns of the report's: Table 1, and a table of levels
// by servers for each number of CPUs. The small form has two levels more, for its smaller CPUs.
func TestTablesOfR5(t *testing.T) {
	servers, levels := []string{"httpd-ajp", "httpd-http", "nginx", "tomcat"}, []string{"200", "400", "600", "800", "1000"}
	for _, c := range []struct {
		name          string
		sizes, levels []string
	}{
		{"original/r5", []string{"1", "2", "4", "4-tls"}, levels},
		{"small/r5-small", []string{"250m", "500m", "1", "1-tls"}, slices.Concat([]string{"50", "150"}, levels)},
	} {
		name, sizes := c.name, c.sizes
		b := &v1alpha1.Benchmark{}
		for _, object := range sampleObjects(t, filepath.Join(reportDirectory, "r5", name+".yaml")) {
			if object.GetKind() != "Benchmark" {
				continue
			}
			typedOf(t, object.Object, b)
		}
		grids := gridsOf(t, b, round.PivotOptions{Axes: []string{"server", "cpu"}, Metric: v1alpha1.MetricBreakingPointCPU})
		if diff := gocmp.Diff([][]string{servers, sizes}, [][]string{grids[0].Rows, grids[0].Columns}); len(grids) != 1 || diff != "" {
			t.Errorf("%s: %d tables like Table 1, -report +sample:\n%s", name, len(grids), diff)
		}
		grids = gridsOf(t, b, round.PivotOptions{Axes: []string{"level", "server"}, Metric: "TargetCPUIdle"})
		if len(grids) != len(sizes) {
			t.Fatalf("%s: %d tables of levels, want %d", name, len(grids), len(sizes))
		}
		for _, grid := range grids {
			if diff := gocmp.Diff([][]string{c.levels, servers}, [][]string{grid.Rows, grid.Columns}); diff != "" {
				t.Errorf("%s: %s: -report +sample:\n%s", name, grid.Title, diff)
			}
		}
	}
}

// TestTablesOfR2 checks that the samples' tables have the rows and columns of the report's.
func TestTablesOfR2(t *testing.T) {
	sizes := []string{"/1KB", "/5KB", "/10KB", "/20KB", "/40KB", "/80KB", "/160KB"}
	sudden := []string{"100", "150", "200"}
	for _, c := range []struct {
		name, rows, columns     string
		wantRows, wantColumns   []string
		wantTables, wantNumbers int
	}{
		{"original/r2", "size", "connections", sizes, []string{"5", "10", "15", "20", "25", "30"}, 3, 126},
		{"small/r2-small", "size", "connections", sizes, []string{"5", "10", "15", "20", "25", "30"}, 3, 126},
		{"original/r2-sudden", "server", "connections", []string{"tomcat-9", "tomcat-11", "httpd-prefork", "httpd-worker"}, sudden, 2, 24},
		{"original/r2-jvm", "jvm", "connections", []string{"jdk8-c1", "jdk21-c1", "jdk21-c2", "jdk21-tiered", "jdk21-interpreted"}, sudden, 2, 30},
		{"small/r2-jvm-small", "jvm", "connections", []string{"c1", "tiered", "interpreted"}, sudden, 1, 9},
		{"small/r2-sudden-small", "server", "connections", []string{"tomcat", "httpd"}, sudden, 1, 6},
	} {
		objects := sampleObjects(t, filepath.Join(reportDirectory, "r2", c.name+".yaml"))
		b := &v1alpha1.Benchmark{}
		typedOf(t, objects[0].Object, b)
		grids := gridsOf(t, b, round.PivotOptions{Axes: []string{c.rows, c.columns}})
		if len(grids) != c.wantTables {
			t.Errorf("%s: %d tables, want %d", c.name, len(grids), c.wantTables)
		}
		numbers := 0
		for _, grid := range grids {
			if diff := gocmp.Diff([][]string{c.wantRows, c.wantColumns}, [][]string{grid.Rows, grid.Columns}); diff != "" {
				t.Errorf("%s: rows and columns, -report +sample:\n%s", c.name, diff)
			}
			numbers += len(slices.Concat(grid.Values...))
		}
		if numbers != c.wantNumbers {
			t.Errorf("%s: %d numbers, want %d", c.name, numbers, c.wantNumbers)
		}
	}
}
