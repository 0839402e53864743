package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/golden"
)

// secondly returns the result forwarding with all metrics of its seconds.
func secondly() *result.Result {
	r := forwarding()
	for i := range r.Series {
		s := &r.Series[i]
		counts, times := r.Clients[i].Counts, r.Clients[i].Latencies.Times()
		s.SetCounts(counts, times)
		s.SetLatency(r.Clients[i].Latencies.Get(result.Total))
		used := r.Server.Spent()
		s.SetServer(&used, true)
	}
	return r
}

func written(t *testing.T, format string, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// TestFormatsGolden has an example of each format that is for other programs.
func TestFormatsGolden(t *testing.T) {
	for name, r := range map[string]*result.Result{"tomcat": tomcat(), "failing": failing(), "open": opened(), "stages": staged(), "pages": paged(), "seconds": secondly()} {
		for _, format := range map[string][]string{
			"tomcat":  {"benchstat", "csv=percentiles", "csv=requests", "hgrm", "junit", "markdown"},
			"failing": {"benchstat", "junit", "markdown", "hgrm=tls"},
			"open":    {"hgrm", "hgrm=delay", "markdown"},
			"stages":  {"markdown", "csv=percentiles"},
			"pages":   {"markdown", "csv=requests"},
			"seconds": {"csv=series", "json"},
		}[name] {
			t.Run(name+"."+format, func(t *testing.T) {
				got := written(t, format, r)
				golden.Check(t, filepath.Join("testdata", name+"."+strings.ReplaceAll(format, "=", "-")+".golden"), got)
			})
		}
	}
}

// TestEveryFormatIsDeterministic writes each format twice, from results that were built apart.
func TestEveryFormatIsDeterministic(t *testing.T) {
	build := func() *result.Result {
		r, levels := secondly(), staged()
		r.Levels, r.Steps, r.BreakingPoints = levels.Levels, levels.Steps, levels.BreakingPoints
		return r
	}
	for _, format := range report.Names() {
		if strings.HasPrefix(format, "hgrm=") { // not all phases occurred
			continue
		}
		if a, b := written(t, format, build()), written(t, format, build()); a != b || a == "" {
			t.Errorf("%s: %s", format, cmp.Diff(a, b))
		}
	}
}

func TestCheckFormat(t *testing.T) {
	for format, want := range map[string]string{
		"csv": "", "csv=series": "", "hgrm=tls": "", "requests": "",
		"csv=foo":  `unknown part "foo" of output format csv: use one of levels, percentiles, requests, series`,
		"json=all": `output format json has no parts: use json instead of "json=all"`,
		"yaml":     `unknown output format "yaml": use one of benchstat, csv[=levels|percentiles|requests|series], hgrm[=connect|`,
		"":         `unknown output format ""`,
	} {
		err := doc.CheckFormat(format, report.Names())
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", format, err, want)
		}
	}
	if got := doc.Usage([]string{"svg=runs", "html", "svg=effects"}); got != "html, svg=effects|runs" {
		t.Error(got)
	}
}

// TestWithoutData checks that a format says what the result doesn't have.
func TestWithoutData(t *testing.T) {
	for format, want := range map[string]string{
		"csv": "no levels", "csv=levels": "use csv=series or csv=percentiles", "csv=series": "no series", "csv=percentiles": "no request succeeded",
		"hgrm": "no successful request has the phase total", "hgrm=tls": "the phase tls", "requests": "no request succeeded",
	} {
		if err := report.Write(io.Discard, format, nothing()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", format, err, want)
		}
	}
	for _, format := range []string{"benchstat", "json", "junit", "markdown", "text"} {
		_ = written(t, format, nothing())
	}
}

func TestCellsAreNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1+1": "'+1+1", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'=1", "\r=1": "'=1", "\n=1": "'=1", " =1": "' =1", "＝1": "'＝1",
		"-12.5": "-12.5", "-3": "-3", "-1e-7": "-1e-7", "-": "-", "- 3": "'- 3", "-Infinity": "'-Infinity", "+3": "'+3", "-0x1p2": "'-0x1p2",
		"": "", "1": "1", "tomcat": "tomcat", "a=b": "a=b",
	} {
		if got := doc.Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCSVHasNoFormulas writes all kinds of CSV of a result whose texts are formulas.
func TestCSVHasNoFormulas(t *testing.T) {
	formulas := []string{"=cmd|'/c calc'!A1", "+1", "-1+1", "@x", "\t=1", "\r=1", ` ="a"`}
	for _, formula := range formulas {
		r, levels := secondly(), staged()
		r.Levels, r.Steps, r.BreakingPoints = levels.Levels, levels.Steps, levels.BreakingPoints
		r.Run.Name, r.Run.Namespace, r.Run.Server = formula, formula, formula
		r.Environment.Backends[0].Name, r.Backends[0].Name, r.BreakingPoints[1].Container = formula, formula, formula
		r.Findings = []result.Finding{{Reason: formula, Severity: result.Invalidates, Message: formula}}
		var table bytes.Buffer
		if err := report.WriteTable(&table, "csv", []report.Row{report.NewRow(formula, r), {Name: formula, NoResult: formula}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{table.String(), written(t, "csv=levels", r), written(t, "csv=series", r), written(t, "csv=percentiles", r)} {
			all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range all {
				for _, cell := range record {
					if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "-" && strings.ContainsAny(strings.TrimLeft(cell+"x", " ")[:1], "=+-@\t\r") {
						t.Errorf("%q in CSV of a result with %q", cell, formula)
					}
				}
			}
		}
	}
}

// TestJUnit reads test cases back: how many there are, and which didn't pass.
func TestJUnit(t *testing.T) {
	invalid := tomcat()
	invalid.Findings = failing().Findings
	hostile := tomcat()
	hostile.Run.Name = "</testsuite>\x00\x1b&<![CDATA["
	for name, test := range map[string]struct {
		r    *result.Result
		want map[string]string
	}{
		"missed threshold": {tomcat(), map[string]string{"LatencyP99 below 50ms": "failure: LatencyP99 is 99.007ms, must be below 50ms"}},
		"invalid": {invalid, map[string]string{
			"result is valid": "failure: not valid: ClientSaturated", "ClientSaturated": "failure: client 1 used 97 % of its CPU limit; raise it",
			"LatencyP99 below 50ms": "skipped: unknown, since the result is not valid", "ErrorRate below 1%": "skipped: unknown, since the result is not valid",
		}},
		"hostile": {hostile, map[string]string{"LatencyP99 below 50ms": "failure: LatencyP99 is 99.007ms, must be below 50ms"}},
	} {
		t.Run(name, func(t *testing.T) {
			type outcome struct {
				Message string `xml:"message,attr"`
			}
			var document struct {
				XMLName xml.Name `xml:"testsuites"`
				Suites  []struct {
					Tests, Failures, Skipped int    `xml:",attr"`
					Name                     string `xml:"name,attr"`
					Cases                    []struct {
						Name             string `xml:"name,attr"`
						Failure, Skipped *outcome
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			text := strings.NewReplacer(" tests=", " Tests=", " failures=", " Failures=", " skipped=", " Skipped=", "<failure", "<Failure", "</failure", "</Failure",
				"<skipped", "<Skipped", "</skipped", "</Skipped").Replace(written(t, "junit", test.r))
			if err := xml.Unmarshal([]byte(text), &document); err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			s := document.Suites[0]
			got, failures, skipped := map[string]string{}, 0, 0
			for _, c := range s.Cases {
				if c.Failure != nil {
					got[c.Name] = "failure: " + c.Failure.Message
					failures++
				}
				if c.Skipped != nil {
					got[c.Name] = "skipped: " + c.Skipped.Message
					skipped++
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := 1 + len(test.r.Findings) + len(test.r.Thresholds); s.Tests != want || len(s.Cases) != want || s.Failures != failures || s.Skipped != skipped {
				t.Errorf("%d tests, %d failures, %d skipped of %d cases, want %d", s.Tests, s.Failures, s.Skipped, len(s.Cases), want)
			}
		})
	}
}

// TestBenchstat reads measurements back, one of a result with names that mean something in the format.
func TestBenchstat(t *testing.T) {
	hostile := tomcat()
	hostile.Run.Server = "a b/c=d\nBenchmarkX 1 1 ns/op"
	var table bytes.Buffer
	if err := report.WriteTable(&table, "benchstat", append(rows(), report.NewRow("x-8", hostile))); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{written(t, "benchstat", tomcat()): 1, written(t, "benchstat", hostile): 1, written(t, "benchstat", failing()): 0, table.String(): 4} {
		n := 0
		reader := benchfmt.NewReader(strings.NewReader(text), "")
		for reader.Scan() {
			switch record := reader.Result().(type) {
			case *benchfmt.Result:
				n++
				if rate, ok := record.Value("req/s"); !ok || rate < 900 {
					t.Errorf("%s: req/s %v, %v", record.Name, rate, ok)
				}
				if base, parts := record.Name.Parts(); string(base) != "HTTP" || len(parts) < 5 || strings.ContainsAny(record.Name.String(), " \n") {
					t.Errorf("name %q", record.Name)
				}
			case *benchfmt.SyntaxError:
				t.Errorf("%v in:\n%s", record, text)
			}
		}
		if err := reader.Err(); err != nil || n != want {
			t.Errorf("%d results, want %d (%v) in:\n%s", n, want, err, text)
		}
	}
}

// TestMarkdownOfARunIsEscaped checks a report of a result whose texts are markup.
func TestMarkdownOfARunIsEscaped(t *testing.T) {
	r := tomcat()
	const markup = "<script>|`x`[a](http://b) @user #1 *x*\n# h"
	r.Run.Name, r.Run.Server, r.Run.Image = markup, markup, markup
	r.Findings = []result.Finding{{Reason: markup, Severity: result.Warns, Message: markup}}
	r.Thresholds[0].Metric, r.Thresholds[0].Actual = markup, markup
	text := written(t, "markdown", r)
	for _, bad := range []string{"<script", "`x`", "[a](", " @user", "://", "\n# h", " *x*"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in:\n%s", bad, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "script") && strings.Count(line, "|") != 5 {
			t.Errorf("a cell has a bar: %s", line)
		}
	}
}

// TestSiege checks each value by siege's definition: concurrency is the sum of the times divided by the elapsed time.
func TestSiege(t *testing.T) {
	text := written(t, "text", failing())
	_, text, _ = strings.Cut(text, "\nIn siege's terms\n")
	for _, want := range []string{
		"Transactions:           2098 hits\n",     // of 2,132 requests, 34 had no response
		"Availability:           98.41 %\n",       // 2,098 of 2,132
		"Elapsed time:           2.002 secs\n",    //
		"Data transferred:       61.04 MB\n",      // 64,000,000 bytes
		"Response time:          0.050050 secs\n", //
		"Transaction rate:       1048.21 trans/sec\n",
		"Throughput:             30.49 MB/sec\n",
		"Concurrency:            50.01\n", // 100.1 s in 2.0015 s
		"Successful transactions: 2000\n",
		"Failed transactions:    132\n",
		"Longest transaction:    0.100000 secs\n",
		"Shortest transaction:   0.000100 secs\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%.900s", want, text)
		}
	}
}

// TestSampledRequestsOfAnything checks that the list is written of a stored series in which a second has more errors than requests.
func TestSampledRequestsOfAnything(t *testing.T) {
	r := secondly()
	r.Series[1].Requests, r.Series[1].Errors = 1, 600
	for second := int64(2); second < 5; second++ {
		r.Series = append(r.Series, result.Second{Second: second, Requests: 10})
	}
	if lines := strings.Count(written(t, "requests", r), "\n"); lines < 1000 {
		t.Errorf("%d lines, want one for each request", lines)
	}
}

// TestSampledRequests checks that the list has the distribution of the histogram, and seconds of the series.
func TestSampledRequests(t *testing.T) {
	r := secondly()
	var lines [][]string
	for _, line := range strings.Split(strings.TrimSpace(written(t, "requests", r)), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Split(line, "\t"))
		}
	}
	if got := strings.Join(lines[0], " "); got != "starttime seconds ctime dtime ttime wait" || len(lines) != 1001 {
		t.Fatalf("%d lines under %q", len(lines), got)
	}
	last, seconds := 0.0, map[string]int{}
	for i, line := range lines[1:] {
		total, err := strconv.ParseFloat(line[4], 64)
		want := float64(r.Merged.Latencies.Get(result.Total).Percentile((float64(i)+0.5)/10)) / 1000
		if err != nil || total < last || total != want {
			t.Fatalf("line %d: %v ms after %v, want %v", i, total, last, want)
		}
		last = total
		seconds[line[1]]++
	}
	if begin := r.Run.MeasurementTime.Unix(); len(seconds) != 2 || seconds[strconv.FormatInt(begin, 10)] != 500 || seconds[strconv.FormatInt(begin+1, 10)] != 500 {
		t.Errorf("lines by second: %v", seconds)
	}
}
