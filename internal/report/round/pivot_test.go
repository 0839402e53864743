package round_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

func pivot(t *testing.T, format string, r *benchmark.Round, o round.PivotOptions) string {
	t.Helper()
	p, err := round.NewPivot(r, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := round.PivotFormats.Write(&out, format, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGridOfR2(t *testing.T) {
	r := roundtest.Sizes(t)
	for _, format := range round.PivotFormats.Names() {
		t.Run(format, func(t *testing.T) {
			checkGolden(t, "sizes."+format, []byte(pivot(t, format, r, round.PivotOptions{Axes: []string{"size", "threads"}})))
		})
	}
	transposed := pivot(t, "csv", r, round.PivotOptions{Axes: []string{"threads", "size"}, Metric: "LatencyP99"})
	records, err := csv.NewReader(strings.NewReader(transposed)).ReadAll()
	if err != nil || len(records) != 7 || len(records[0]) != 8 || records[0][0] != `threads \ size: median of LatencyP99 ms` || records[6][0] != "30" || records[1][1] != "3.390" {
		t.Errorf("%v: %v", records, err)
	}
}

// TestExcludedCells checks that rows and columns keep their order and that a missing cell is none.
func TestExcludedCells(t *testing.T) {
	r := roundtest.Sizes(t, v1alpha1.CellSelector{"size": "1 KB", "threads": "5"}, v1alpha1.CellSelector{"size": "5 KB"})
	lines := strings.Split(pivot(t, "csv", r, round.PivotOptions{}), "\n")
	if lines[0] != `size \ threads: median of RequestsPerSecond,5,10,15,20,25,30` || !strings.HasPrefix(lines[1], "1 KB,,1455.00,") || !strings.HasPrefix(lines[2], "10 KB,1100.00,") {
		t.Errorf("%q", lines)
	}
}

// servers returns a round of R2's Tables J and K: servers by client machines, on two sizes of files. The clock of
// the whole round is off by a different factor in each block.
func servers(t *testing.T) *benchmark.Round {
	spec := &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{
			{Name: "server", Options: []v1alpha1.AxisOption{{Name: "tomcat"}, {Name: "httpd"}}},
			{Name: "client", Options: []v1alpha1.AxisOption{{Name: "laptop"}, {Name: "hpux"}, {Name: "netra"}}},
			{Name: "size", Path: "/x", Values: roundtest.Numbers("1", "10")},
		},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(5))},
	}
	rates := map[string]float64{"tomcat,laptop": 1164, "httpd,laptop": 1000, "tomcat,hpux": 1188, "httpd,hpux": 1000, "tomcat,netra": 834, "httpd,netra": 1000}
	return roundtest.CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		size, _ := strconv.ParseFloat(cell.Values["size"], 64)
		rate := rates[cell.Values["server"]+","+cell.Values["client"]] / size * (1 + 0.2*float64(run.Number))
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"RequestsPerSecond": rate}
	})
}

func TestPercentOfABaseline(t *testing.T) {
	r := servers(t)
	o := round.PivotOptions{Axes: []string{"client", "server"}, PercentOf: "server=httpd"}
	for _, format := range []string{"csv", "markdown"} {
		checkGolden(t, "servers."+format, []byte(pivot(t, format, r, o)))
	}
	// Of one cell alone: all others are compared with it.
	text := pivot(t, "text", r, round.PivotOptions{Axes: []string{"client", "server"}, PercentOf: "server=httpd,client=laptop,size=1"})
	if !strings.Contains(text, "laptop            +16.4   +0.0\n") || !strings.Contains(text, "laptop            -88.4  -90.0\n") {
		t.Error(text)
	}
	// Metrics that weren't stored: the medians are there.
	r.Omitted = []v1alpha1.BenchmarkMetric{"RequestsPerSecond"}
	for i := range r.Runs {
		r.Runs[i].Metrics = nil
	}
	if text := pivot(t, "text", r, o); !strings.Contains(text, "laptop            +16.4   +0.0\n") {
		t.Error(text)
	}
}

func TestPivotOfFewAxes(t *testing.T) {
	one := pivot(t, "json", roundtest.Connectors(t), round.PivotOptions{Axes: []string{"connector"}, Metric: "LatencyP99"})
	var p round.Pivot
	if err := json.Unmarshal([]byte(one), &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"nio", "nio2", "apr", "nginx"}, p.Grids[0].Rows); diff != "" || len(p.Grids[0].Columns) != 1 || *p.Grids[0].Values[3][0] < 5000 {
		t.Errorf("%s\n%s", diff, one)
	}
	none := roundtest.CarriedOut(t, &v1alpha1.BenchmarkSpec{Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(1))}}, func(run *benchmark.Run, _ *cells.Cell) {
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"RequestsPerSecond": 7}
	})
	if got := pivot(t, "csv", none, round.PivotOptions{}); got != "cell: median of RequestsPerSecond,RequestsPerSecond\ntemplate,7.00\n" {
		t.Error(got)
	}
}

func TestPivotRefused(t *testing.T) {
	r := servers(t)
	for want, o := range map[string]round.PivotOptions{
		`the round has no metric "LatencyP98": use one of RequestsPerSecond`:                              {Metric: "LatencyP98"},
		`unknown axis "file": the Benchmark has server, client, size`:                                     {Axes: []string{"file"}},
		`axis "size" is named twice: use different axes for rows and columns`:                             {Axes: []string{"size", "size"}},
		`3 axes: use one for rows and one for columns; the others have a table for each value`:            {Axes: []string{"size", "client", "server"}},
		`"httpd" is no value of an axis: use AXIS=VALUE; the Benchmark has the axes server, client, size`: {PercentOf: "httpd"},
		`no cell has server=nginx: see the cells with "kubectl assay report"`:                             {PercentOf: "server=nginx"},
	} {
		if _, err := round.NewPivot(r, o); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

func TestPivotOfHostileValues(t *testing.T) {
	r := servers(t)
	const hostile = "=HYPERLINK(\"http://x\")|<b>\x1b[2J`"
	for i := range r.Cells {
		r.Cells[i].Values["client"] = hostile
	}
	for _, format := range round.PivotFormats.Names() {
		document := pivot(t, format, r, round.PivotOptions{Axes: []string{"client", "server"}})
		if strings.ContainsFunc(document, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("%s: %q", format, document)
		}
		switch format {
		case "csv":
			if records, err := csv.NewReader(strings.NewReader(document)).ReadAll(); err != nil || records[1][1] != `'=HYPERLINK("http://x")|<b>[2J`+"`" {
				t.Errorf("%q: %v", records, err)
			}
		case "markdown":
			if strings.Contains(document, "<b>") || strings.Contains(document, "://") || strings.Contains(document, ")|") {
				t.Error(document)
			}
		}
	}
}
