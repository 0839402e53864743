package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/browser"
)

// abPercentiles is the number of percentiles in ab's report below 100%.
const abPercentiles = 8

// threeDigits is the largest relative error of a metric with three significant digits.
const threeDigits = 5.001e-3

// document has what `-o json` says of a run, as far as pages repeat it.
type document struct {
	Merged struct {
		Requests int64            `json:"requests"`
		Errors   map[string]int64 `json:"errors"`
	} `json:"merged"`
	Summary struct {
		Merged struct {
			RequestsPerSecond float64 `json:"requestsPerSecond"`
			Latencies         map[string]struct {
				Count       int64              `json:"count"`
				Mean        float64            `json:"meanMicroseconds"`
				Max         float64            `json:"maxMicroseconds"`
				Percentiles map[string]float64 `json:"percentilesMicroseconds"`
			} `json:"latencies"`
		} `json:"merged"`
	} `json:"summary"`
	DurationMicroseconds int64           `json:"durationMicroseconds"`
	Series               []result.Second `json:"series"`
}

// TestRunPagesHaveTheFiguresOfTheResult compares what a browser shows with the JSON of the same result.
func TestRunPagesHaveTheFiguresOfTheResult(t *testing.T) {
	b, all := start(t), runs(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, b, name, written(t, func(w io.Writer) error { return runpage.Write(w, all[name], "") }), true)
			var encoded bytes.Buffer
			if err := report.Write(&encoded, "json", all[name]); err != nil {
				t.Fatal(err)
			}
			d := &document{}
			if err := json.Unmarshal(encoded.Bytes(), d); err != nil {
				t.Fatal(err)
			}
			tables := tablesOf(t, tab)
			checkHead(t, tab, d, all[name])
			checkPercentiles(t, tables, d)
			checkErrors(t, tables, d)
			checkSeries(t, tab, tables, d)
		})
	}
}

// checkHead checks the metrics of the page's head. Of a load with stages none is of all levels together.
func checkHead(t *testing.T, tab *browser.Tab, d *document, r *result.Result) {
	t.Helper()
	head, err := browser.Evaluate[map[string]string](tab, `Object.fromEntries([...document.querySelectorAll('.answer dl.figures > div')].map((e) => [e.querySelector('dt').textContent, e.querySelector('dd').textContent]))`)
	if err != nil {
		t.Fatal(err)
	}
	throughput, name := d.Summary.Merged.RequestsPerSecond, "throughput"
	if len(r.Levels) > 0 {
		throughput, name = 0, "largest throughput"
		for i := range r.Levels {
			throughput = max(throughput, r.Levels[i].RequestsPerSecond())
		}
	}
	if !agrees(head[name], throughput) {
		t.Errorf("%s %q, want %g", name, head[name], throughput)
	}
	if total := d.Summary.Merged.Latencies["total"]; total.Count > 0 && len(r.Levels) == 0 {
		for _, p := range []string{"50", "99"} {
			name := "p" + p + " " + report.LatencyName(&r.Run)
			if want := total.Percentiles[p] / 1000; !agrees(head[name], want) {
				t.Errorf("%s %q, want %g", name, head[name], want)
			}
		}
	}
	failed, requests, _ := strings.Cut(head["failed"], " of ")
	if !equals(failed, float64(d.Merged.Errors["total"])) || !equals(requests, float64(d.Merged.Requests)) {
		t.Errorf("failed %q, want %d of %d", head["failed"], d.Merged.Errors["total"], d.Merged.Requests)
	}
}

// checkPercentiles checks the tables of latencies and phases.
func checkPercentiles(t *testing.T, tables map[string][][]string, d *document) {
	t.Helper()
	total := d.Summary.Merged.Latencies["total"]
	if total.Count == 0 {
		return
	}
	rows := tables["Latency in ms by percentile"]
	row := find(rows, "all clients")
	if row == nil {
		t.Fatalf("no percentiles in %q", rows)
	}
	compared := 0
	for i, name := range rows[0] {
		want, exists := total.Percentiles[strings.TrimSuffix(name, "%")]
		if !exists {
			continue
		}
		if compared++; !equals(row[i], want/1000) {
			t.Errorf("%s of requests: %s ms, want %g", name, row[i], want/1000)
		}
	}
	if compared < abPercentiles {
		t.Errorf("%d percentiles in %q", compared, rows[0])
	}
	for phase, of := range d.Summary.Merged.Latencies {
		row := find(tables["Each phase of all clients in ms; percentiles don't add up"], phase)
		if of.Count == 0 {
			continue
		}
		if row == nil || !equals(row[1], float64(of.Count)) || !agrees(row[2], of.Mean/1000) || !equals(row[3], of.Percentiles["50"]/1000) || !equals(row[5], of.Max/1000) {
			t.Errorf("%s: %q, want %+v", phase, row, of)
		}
	}
}

// checkErrors checks the table of errors.
func checkErrors(t *testing.T, tables map[string][][]string, d *document) {
	t.Helper()
	for kind, n := range d.Merged.Errors {
		if kind == "total" || n == 0 {
			continue
		}
		if row := find(tables["Failed requests by kind"], kind); row == nil || !equals(row[1], float64(n)) {
			t.Errorf("%s errors: %q, want %d", kind, row, n)
		}
	}
}

// checkSeries checks the metrics over time: those in the table, and those that the page's script reads.
func checkSeries(t *testing.T, tab *browser.Tab, tables map[string][][]string, d *document) {
	t.Helper()
	series := (&result.Result{Series: d.Series, DurationMicroseconds: d.DurationMicroseconds}).Points()
	if len(series) == 0 {
		return
	}
	metrics := map[string]func(*result.Second) float64{
		"requests/s": func(s *result.Second) float64 { return float64(s.Requests-s.Errors) / s.Length() },
		"p50, ms":    func(s *result.Second) float64 { return known(s, s.P50) }, "p90, ms": func(s *result.Second) float64 { return known(s, s.P90) },
		"p99, ms": func(s *result.Second) float64 { return known(s, s.P99) }, "max, ms": func(s *result.Second) float64 { return known(s, s.Max) },
	}
	rows, every := tables["Values of each point"], 1
	for caption, of := range tables {
		if n, _ := fmt.Sscanf(caption, "The largest value of each %d points", &every); n == 1 {
			rows = of
		}
	}
	if len(rows) != 1+(len(series)+every-1)/every {
		t.Fatalf("%d rows of %d points", len(rows)-1, len(series))
	}
	for column, name := range rows[0] {
		metric := metrics[name]
		if metric == nil {
			continue
		}
		for i, row := range rows[1:] {
			want := math.NaN()
			for p := i * every; p < min((i+1)*every, len(series)); p++ {
				if v := metric(&series[p]); math.IsNaN(want) || v > want {
					want = v
				}
			}
			if !agrees(row[column], want) {
				t.Fatalf("row %d: %s %s, want %g", i, name, row[column], want)
			}
		}
	}
	drawn, err := browser.Evaluate[struct {
		Panels []struct {
			ID    string
			Lines []struct {
				Name   string
				Values []*float64
				All    *float64
			}
		}
	}](tab, `JSON.parse(document.getElementById('series').textContent)`)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, panel := range drawn.Panels {
		for _, line := range panel.Lines {
			metric := metrics[line.Name]
			if panel.ID == "latency" {
				metric = metrics[line.Name+", ms"]
			}
			if metric == nil || panel.ID != "latency" && panel.ID != "throughput" {
				continue
			}
			compared++
			if line.All != nil {
				line.Values = slices.Repeat([]*float64{line.All}, len(series))
			}
			if len(line.Values) != len(series) {
				t.Fatalf("%s: %d values of %d points", line.Name, len(line.Values), len(series))
			}
			for i, v := range line.Values {
				if want := metric(&series[i]); (v == nil) != math.IsNaN(want) || v != nil && math.Abs(*v-want) > threeDigits*math.Abs(want) {
					t.Fatalf("point %d: %s %v, want %g", i, line.Name, v, want)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("nothing compared")
	}
}

func known(s *result.Second, microseconds int64) float64 {
	if microseconds == result.Unknown || s.Requests == s.Errors {
		return math.NaN()
	}
	return float64(microseconds) / 1000
}

// TestRoundPagesHaveTheFiguresOfTheRound compares what a browser shows with the round.
func TestRoundPagesHaveTheFiguresOfTheRound(t *testing.T) {
	b, all := start(t), roundtest.All(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := all[name]
			tables := tablesOf(t, open(t, b, name, written(t, func(w io.Writer) error { return roundpage.Write(w, r) }), true))
			for i := range r.Estimates {
				e := &r.Estimates[i]
				medians := tables["Medians of all cells"]
				if len(medians) > 0 && !slices.Contains(medians[0], round.Heading(e.Metric)) {
					medians = tables["Medians of all cells in other metrics"]
				}
				row := find(medians, r.Cells[e.Cell].Name)
				if row == nil || !slices.Contains(medians[0], round.Heading(e.Metric)) {
					t.Fatalf("no median of %s of %s in %q", e.Metric, r.Cells[e.Cell].Name, medians)
				}
				column := slices.Index(medians[0], round.Heading(e.Metric))
				median, _, _ := strings.Cut(row[column], " (")
				if !agrees(median, round.InUnit(e.Metric, e.Median)) {
					t.Errorf("%s of %s: %s, want %g", e.Metric, r.Cells[e.Cell].Name, row[column], round.InUnit(e.Metric, e.Median))
				}
			}
			for i := range r.Effects {
				e := &r.Effects[i]
				rows := tables["Exploration"]
				if r.Verdict == "Error" || e.Percent == nil || e.LowPercent == nil && e.HighPercent == nil { // the last have a sentence
					continue
				}
				if !slices.ContainsFunc(rows[min(1, len(rows)):], func(row []string) bool {
					return row[0] == r.Cells[e.Cell].Name && row[2] == string(e.Metric) && (agrees(row[3], *e.Percent) || strings.Contains(row[3], "×") && agrees(strings.TrimPrefix(row[3], "×"), 1+*e.Percent/100))
				}) {
					t.Errorf("no effect of %g%% in %q", *e.Percent, rows)
				}
			}
		})
	}
}

// tablesOf returns the tables of a page by caption, with their heads.
func tablesOf(t *testing.T, tab *browser.Tab) map[string][][]string {
	t.Helper()
	all, err := tab.Tables()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][][]string{}
	for _, table := range all {
		tables[table.Caption] = table.Rows
	}
	return tables
}

// find returns the row of a table that begins with a word; nil if there is none.
func find(rows [][]string, first string) []string {
	for _, row := range rows {
		if len(row) > 0 && row[0] == first {
			return row
		}
	}
	return nil
}

// number returns the number with which a text begins, as pages write it; its last digit is of that weight.
func number(text string) (x, weight float64, ok bool) {
	digits := strings.NewReplacer("−", "-", "+", "", ",", "").Replace(text)
	end := strings.IndexFunc(digits, func(r rune) bool { return !strings.ContainsRune("-.0123456789", r) })
	if end >= 0 {
		digits = digits[:end]
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, 0, false
	}
	if _, decimals, some := strings.Cut(digits, "."); some {
		return x, math.Pow(10, -float64(len(decimals))), true
	}
	zeros := len(digits) - len(strings.TrimRight(digits, "0")) // rounded ones, or not
	return x, math.Pow(10, float64(zeros)), true
}

// agrees reports whether a text is a number rounded to the text's digits; "-" stands for NaN.
func agrees(text string, want float64) bool {
	if math.IsNaN(want) {
		return text == "-"
	}
	x, weight, ok := number(text)
	return ok && math.Abs(x-want) <= weight/2+1e-9*math.Abs(want) && (x != 0 || math.Abs(want) < 1)
}

// equals reports whether a text is a number, without rounding to more than a millionth.
func equals(text string, want float64) bool {
	x, _, ok := number(text)
	return ok && math.Abs(x-want) <= 1e-6*max(1, math.Abs(want))
}
