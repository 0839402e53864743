package chart_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// TestPercentilesText checks that the curve as text is a line from the left to the right, rises, and fits into 80 columns.
func TestPercentilesText(t *testing.T) {
	r := reporttest.Tomcat()
	text := chart.PercentilesText(r)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 15 || !strings.Contains(lines[0], "service time, ms, log scale") || !strings.HasSuffix(lines[14], "%") {
		t.Fatalf("%d lines:\n%s", len(lines), text)
	}
	heights := map[int]int{} // the topmost row of each column of characters
	for row, line := range lines[1:13] {
		if n := utf8.RuneCountInString(line); n > 79 {
			t.Errorf("a line of %d characters", n)
		}
		_, plot, _ := strings.Cut(strings.ReplaceAll(line, "┤", "│"), "│")
		column := 0
		for _, c := range plot {
			if _, known := heights[column]; !known && c > 0x2800 && c <= 0x28ff {
				heights[column] = row
			}
			column++
		}
	}
	for column := range 60 {
		row, drawn := heights[column]
		if !drawn || column > 0 && row > heights[column-1] {
			t.Errorf("column %d: row %d, drawn %t:\n%s", column, row, drawn, text)
		}
	}
}

// TestPercentilesTextOfOne checks that a single request has a curve.
func TestPercentilesTextOfOne(t *testing.T) {
	h := result.NewHistogram()
	h.Record(1500)
	r := &result.Result{}
	r.Merged.Latencies[result.Total] = h
	if text := chart.PercentilesText(r); !strings.Contains(text, "┤") {
		t.Error(text)
	}
}
