package roundpage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

// agrees reports whether a value was written as text, to within half of the text's last digit.
func agrees(text string, figure float64) bool {
	plain := strings.NewReplacer(",", "", "+", "", "%", "", "−", "-").Replace(text)
	if strings.HasPrefix(plain, "<") {
		limit, err := strconv.ParseFloat(plain[1:], 64)
		return err == nil && figure > 0 && figure < limit
	}
	written, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		return false
	}
	_, fraction, _ := strings.Cut(plain, ".")
	last := math.Pow10(-len(fraction))
	if fraction == "" {
		digits := strings.TrimLeft(plain, "-")
		last = math.Pow10(len(digits) - len(strings.TrimRight(digits, "0")))
		if digits == "0" {
			last = 1
		}
	}
	return math.Abs(written-figure) <= last*0.5000001
}

// TestMetrics checks that the tables of a page have every metric of the round's JSON: of all effects, medians, runs and
// trials.
func TestMetrics(t *testing.T) {
	for name, r := range roundtest.All(t) {
		t.Run(name, func(t *testing.T) {
			var document bytes.Buffer
			if err := round.Formats.Write(&document, "json", r); err != nil {
				t.Fatal(err)
			}
			var stored benchmark.Round
			if err := json.Unmarshal(document.Bytes(), &stored); err != nil {
				t.Fatal(err)
			}
			tables := tables(t, write(t, r))
			checkClaims(t, &stored, tables)
			checkEffects(t, &stored, tables)
			checkMedians(t, &stored, tables)
			checkRuns(t, &stored, tables)
			checkTrials(t, r, &stored, tables)
		})
	}
}

func find(rows [][]string, column int, text string) []string {
	at := slices.IndexFunc(rows, func(row []string) bool { return len(row) > column && row[column] == text })
	if at < 0 {
		return nil
	}
	return rows[at]
}

// effectIn returns what the tables of effects say of a cell in a metric, by their heads.
func effectIn(tables map[string][][]string, cell, metric string) map[string]string {
	for _, caption := range []string{"Exploration", "Medians of both sides, and their differences"} {
		for _, row := range tables[caption] {
			found := map[string]string{}
			for i, text := range row {
				found[tables[caption][0][i]] = text
			}
			if (cell == "" || found["cell"] == cell) && found["metric"] == metric {
				return found
			}
		}
	}
	return nil
}

func checkClaims(t *testing.T, stored *benchmark.Round, tables map[string][][]string) {
	for i := range stored.Claims {
		c := &stored.Claims[i]
		row := find(tables["Claims"], 0, c.Name)
		if row == nil || row[4] != string(c.Verdict) || c.Percent != nil && !agrees(row[2], *c.Percent) || c.Percent == nil && (row[2] == "-" || row[2] == "") {
			t.Errorf("%q, want %+v", row, c)
		}
		if low, high, _ := strings.Cut(row[3], " to "); c.LowPercent != nil && !agrees(low, *c.LowPercent) || c.HighPercent != nil && !agrees(high, *c.HighPercent) {
			t.Errorf("%q, want %v to %v", row, c.LowPercent, c.HighPercent)
		}
	}
}

func checkEffects(t *testing.T, stored *benchmark.Round, tables map[string][][]string) {
	for i := range stored.Effects {
		e := &stored.Effects[i]
		row := effectIn(tables, stored.Cells[e.Cell].Name, string(e.Metric))
		if e.Percent != nil && e.LowPercent == nil && e.HighPercent == nil { // has a sentence
			if row != nil {
				t.Errorf("%q has no interval", row)
			}
			continue
		}
		if row == nil {
			t.Fatalf("no row for %s in %s", stored.Cells[e.Cell].Name, e.Metric)
		}
		if e.Percent == nil {
			if row["difference"] == "-" {
				t.Errorf("%q has no words", row)
			}
			continue
		}
		low, high, _ := strings.Cut(row["interval"], " to ")
		if !agrees(row["difference"], *e.Percent) || e.LowPercent != nil && !agrees(low, *e.LowPercent) || e.HighPercent != nil && !agrees(high, *e.HighPercent) {
			t.Errorf("%q, want %g (%v to %v)", row, *e.Percent, e.LowPercent, e.HighPercent)
		}
	}
}

func checkMedians(t *testing.T, stored *benchmark.Round, tables map[string][][]string) {
	for i := range stored.Estimates {
		e := &stored.Estimates[i]
		medians, heading := tables["Medians of all cells"], round.Heading(e.Metric)
		if !slices.Contains(medians[0], heading) {
			medians = tables["Medians of all cells in other metrics"]
		}
		if len(medians) != len(stored.Cells)+1 {
			t.Fatalf("%d rows", len(medians))
		}
		column := slices.Index(medians[0], heading)
		row := find(medians, 0, stored.Cells[e.Cell].Name)
		if column < 0 || row == nil {
			t.Fatalf("no %s of %s", e.Metric, stored.Cells[e.Cell].Name)
		}
		median, rest, _ := strings.Cut(row[column], " (")
		low, high, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " to ")
		if !agrees(median, round.InUnit(e.Metric, e.Median)) || rest != "" && (!agrees(low, round.InUnit(e.Metric, *e.Low)) || !agrees(high, round.InUnit(e.Metric, *e.High))) {
			t.Errorf("%s, want %g (%v to %v)", row[column], e.Median, e.Low, e.High)
		}
		if bounded := e.Low != nil && e.High != nil && *e.High > 0; bounded != (rest != "") {
			t.Errorf("%s: with an interval %t", row[column], bounded)
		}
	}
}

func checkRuns(t *testing.T, stored *benchmark.Round, tables map[string][][]string) {
	for i := range stored.Runs {
		run := &stored.Runs[i]
		if run.Trial {
			continue
		}
		rows := tables["p99, ms of each run"]
		row := find(rows, 2, run.Name)
		if !run.Valid {
			if invalid := find(tables["Invalid runs"], 0, run.Name); row != nil || invalid == nil || invalid[3] == "" {
				t.Errorf("%s isn't valid: %q, %q", run.Name, row, invalid)
			}
			continue
		}
		if row == nil || row[1] != fmt.Sprint(run.Number+1) || !agrees(row[3], round.InUnit("LatencyP99", run.Metrics["LatencyP99"])) {
			t.Errorf("%s: %q, want %g", run.Name, row, run.Metrics["LatencyP99"])
		}
	}
}

func checkTrials(t *testing.T, report *round.Report, stored *benchmark.Round, tables map[string][][]string) {
	for i := range stored.Runs {
		run := &stored.Runs[i]
		if !run.Trial {
			continue
		}
		row := find(tables["Trials of "+report.Label(run.Cell)], 1, run.Name)
		if row == nil || strings.ReplaceAll(row[2], ",", "") != fmt.Sprint(run.Load) || row[3] != string(run.Outcome) {
			t.Errorf("%s: %q, want %d, %s", run.Name, row, run.Load, run.Outcome)
		}
	}
	for _, c := range stored.Capacities {
		row := find(tables["At the sustained load: medians of the trials that passed there"], 0, stored.Cells[c.Cell].Name)
		if row == nil || strings.ReplaceAll(row[1], ",", "") != fmt.Sprint(c.Sustained) || !agrees(row[5], c.RequestsPerDay) {
			t.Errorf("%q, want %+v", row, c)
		}
	}
}
