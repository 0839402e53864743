package readers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// goldens is the directory of the golden files, which the tests of package report compare with what it writes.
const goldens = "../../internal/report/testdata"

// seen is what HdrHistogram sees at a percentile: the bounds of the values that it doesn't tell apart, in
// microseconds, and the number of values up to these.
type seen struct{ low, high, count int64 }

// histogram is what HdrHistogram sees in a histogram. Levels of percentiles and ticks are by their texts.
type histogram struct {
	total              int64
	percentiles, ticks map[string]seen
	// start and end are those of a log's interval in milliseconds since the epoch.
	start, end int64
}

// read passes lines to Reader.java and returns what it sees by the names of the histograms.
func read(t *testing.T, lines []string) map[string]*histogram {
	t.Helper()
	library := os.Getenv("ASSAY_READERS")
	if library == "" {
		t.Fatal("ASSAY_READERS is not set: run make test-readers")
	}
	command := exec.CommandContext(t.Context(), "java", "-cp", library+":"+library+"/*", "Reader")
	command.Stdin, command.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*histogram{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		h := all[f[1]]
		if h == nil {
			h = &histogram{percentiles: map[string]seen{}, ticks: map[string]seen{}}
			all[f[1]] = h
		}
		switch f[0] {
		case "total":
			h.total = whole(t, f[2])
		case "interval":
			h.start, h.end = whole(t, f[2]), whole(t, f[3])
		case "percentile":
			h.percentiles[f[2]] = seen{whole(t, f[3]), whole(t, f[4]), whole(t, f[5])}
		case "tick":
			h.ticks[f[2]] = seen{whole(t, f[3]), whole(t, f[4]), whole(t, f[5])}
		}
	}
	return all
}

func whole(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// document has the parts of a report as JSON that have histograms and percentiles.
type document struct {
	Merged struct {
		Latencies map[string]struct{ HDR string }
	}
	Summary struct {
		Merged struct {
			Latencies map[string]struct {
				Count       int64
				Percentiles map[string]int64 `json:"percentilesMicroseconds"`
			}
		}
	}
}

// hgrmLine is a line of a percentile distribution: the value in microseconds, the level as its text, and the number of
// values up to it.
type hgrmLine struct {
	value int64
	level string
	count int64
}

func readHgrm(t *testing.T, file string) []hgrmLine {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []hgrmLine
	for i, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(line)
		if i == 0 || len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		value, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, hgrmLine{int64(math.Round(value * 1000)), f[1], whole(t, f[2])})
	}
	return lines
}

// TestHdrHistogramSeesTheSamePercentiles compares the percentiles of reports as JSON, as hgrm and as a log with those
// that HdrHistogram's library for Java computes from the histograms in them.
func TestHdrHistogramSeesTheSamePercentiles(t *testing.T) {
	for _, name := range []string{"tomcat", "open"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(goldens, name+".json.golden"))
			if err != nil {
				t.Fatal(err)
			}
			var d document
			if err := json.Unmarshal(data, &d); err != nil {
				t.Fatal(err)
			}
			hgrm := readHgrm(t, filepath.Join(goldens, name+".hgrm.golden"))
			var levels, lines []string
			for percentile := range d.Summary.Merged.Latencies["total"].Percentiles {
				levels = append(levels, percentile)
			}
			for _, l := range hgrm {
				level, err := strconv.ParseFloat(l.level, 64)
				if err != nil {
					t.Fatal(err)
				}
				levels = append(levels, fmt.Sprint(math.Round(level*1e12)/1e10))
			}
			arguments := strings.Join(levels, "\t")
			for phase, l := range d.Merged.Latencies {
				lines = append(lines, "histogram\tjson/"+phase+"\t"+l.HDR+"\t"+arguments)
			}
			all := read(t, append(lines, "log\tlog\t"+filepath.Join(goldens, name+".hlog.golden")+"\t"+arguments))
			for phase, l := range d.Summary.Merged.Latencies {
				tag := phase
				if phase == "total" {
					tag = "" // the interval of the whole measurement
				}
				for _, from := range []string{"json/" + phase, "log/" + tag} {
					h := all[from]
					if h == nil || h.total != l.Count || len(l.Percentiles) < 10 {
						t.Fatalf("%s: %+v, want %d durations and 10 percentiles", from, h, l.Count)
					}
					for percentile, value := range l.Percentiles {
						if s, ok := h.percentiles[percentile]; !ok || value < s.low || value > s.high {
							t.Errorf("%s: p%s is %d µs in JSON, from %d to %d for HdrHistogram", from, percentile, value, s.low, s.high)
						}
					}
				}
			}
			compareHgrm(t, hgrm, all["json/total"])
			compareHgrm(t, hgrm, all["log/"])
			if h := all["log/"]; h.end-h.start < 1999 || h.end-h.start > 2003 || h.start < 1767323045000 || h.start > 1767323045999 {
				t.Errorf("the measurement is from %d to %d in the log", h.start, h.end)
			}
			if all["log/client-1-total"] == nil || all["log/client-1-total"].total != 1000 {
				t.Errorf("client 1 has %+v", all["log/client-1-total"])
			}
		})
	}
}

// compareHgrm compares each line of a distribution with what HdrHistogram sees at its level, and HdrHistogram's own
// lines with those of the distribution.
func compareHgrm(t *testing.T, lines []hgrmLine, h *histogram) {
	t.Helper()
	byLevel := map[string]hgrmLine{}
	for _, l := range lines {
		byLevel[l.level] = l
		level, err := strconv.ParseFloat(l.level, 64)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := h.percentiles[fmt.Sprint(math.Round(level*1e12)/1e10)]; !ok || l.value < s.low || l.value > s.high || l.count != s.count {
			t.Errorf("hgrm has %+v, HdrHistogram %+v", l, s)
		}
	}
	if len(h.ticks) < 20 {
		t.Errorf("HdrHistogram has %d lines", len(h.ticks))
	}
	for level, s := range h.ticks {
		if l, ok := byLevel[level]; !ok || l.value < s.low || l.value > s.high || l.count != s.count {
			t.Errorf("HdrHistogram's line %s with %+v is %+v in hgrm", level, s, l)
		}
	}
}
