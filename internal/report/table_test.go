package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/golden"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// fails returns a result with one client whose requests failed in one way, and one whose
// requests succeeded, as in R1's test 1.
func fails() *result.Result {
	r := tomcat()
	r.Run.Name, r.Run.KeepAlive = "one-failed", false
	r.Clients[1].Requests++
	r.Clients[1].Errors[result.ErrorException] = 1
	r.AddClients(r.Clients)
	return r
}

// rows returns rows with everything that a table can show.
func rows() []report.Row {
	slow, mixed, none := failing(), forwarding(), nothing()
	slow.Run.Name, none.Run.Name = "tomcat-jsse", "unanswered"
	slow.Clients[0].Errors = result.ErrorCounts{}
	slow.Clients[0].Errors[result.ErrorLength] = 66
	mixed.Run.Requests = []result.Request{{Path: "/a", Weight: 7, Length: 100}, {Path: "/b", Weight: 2, Length: 1_024_000}, {Path: "/c.jsp", Weight: 2, Length: -1}}
	return []report.Row{
		report.NewRow("Tomcat NIO", tomcat()),
		report.NewRow("Tomcat NIO", fails()),
		report.NewRow("Tomcat NIO + JSSE", slow),
		report.NewRow("HTTPD Event with Tomcat NIO", mixed),
		{
			Namespace: "default", Name: "tomcat-apr", Connector: "Tomcat APR + OpenSSL", Requests: []result.Request{{Path: "/a", Weight: 1, Length: 5_242_880}},
			Connections: 500, TLS: &report.RowTLS{Protocol: "TLSv1.2"}, NoResult: `no result: it ended as TargetCrashed: exit code 137, "killed"`,
		},
		report.NewRow("", none),
	}
}

func TestTableGolden(t *testing.T) {
	for _, format := range report.TableNames() {
		t.Run(format, func(t *testing.T) {
			var got bytes.Buffer
			if err := report.WriteTable(&got, format, rows()); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", "table."+format+".golden"), got.String())
		})
	}
}

// narrow is a terminal with a number of columns.
type narrow struct {
	bytes.Buffer
	columns int
}

func (w *narrow) Columns() int { return w.columns }

// TestTableDropsColumns checks that a narrow terminal gets a table without what decides nothing, and blocks of lines only if that isn't enough.
func TestTableDropsColumns(t *testing.T) {
	for columns, want := range map[int][]string{
		260: {"run", "connector", "file", "options", "requests/s per client", "total", "p50/p99/max ms per client", "merged", "failed per client", "target CPU %", "CPU µs/request of target/clients", "valid"},
		170: {"run", "connector", "file", "options", "total", "merged", "failed per client", "target CPU %", "CPU µs/request of target/clients", "valid"},
		66:  {"run", "total", "merged", "failed per client", "valid"},
		40:  {"tomcat-nio"},
	} {
		out := narrow{columns: columns}
		if err := report.WriteTable(&out, "text", rows()[:1]); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "\n")
		if got := regexp.MustCompile(" {2,}").Split(head, -1); !slices.Equal(got, want) {
			t.Errorf("on %d columns: %q, want %q", columns, got, want)
		}
	}
}

// TestFailedAsTheReportsWriteIt compares failures of two clients with the form of R1's
// table.
func TestFailedAsTheReportsWriteIt(t *testing.T) {
	for _, tc := range []struct {
		first, second map[result.ErrorKind]int64
		want          string
	}{
		{nil, nil, "0"},
		{nil, map[result.ErrorKind]int64{result.ErrorException: 1}, "0, 1 (exception)"},
		{map[result.ErrorKind]int64{result.ErrorLength: 25}, map[result.ErrorKind]int64{result.ErrorLength: 31}, "25, 31 (length)"},
		{map[result.ErrorKind]int64{result.ErrorLength: 25}, map[result.ErrorKind]int64{result.ErrorTimeout: 1}, "25 (length), 1 (timeout)"},
		{map[result.ErrorKind]int64{result.ErrorLength: 1, result.ErrorTimeout: 2}, nil, "3 (2 timeout, 1 length), 0"},
	} {
		r := tomcat()
		for i, errors := range []map[result.ErrorKind]int64{tc.first, tc.second} {
			for kind, n := range errors {
				r.Clients[i].Errors[kind] = n
				r.Clients[i].Requests += n
			}
		}
		r.AddClients(r.Clients)
		var table bytes.Buffer
		if err := report.WriteTable(&table, "markdown", []report.Row{report.NewRow("Tomcat NIO", r)}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(table.String(), "| "+tc.want+" |") {
			t.Errorf("want %q in:\n%s", tc.want, &table)
		}
	}
}

// TestTableHasTheReportsFigures checks that a row has the metrics of the report, and that
// percentiles of all clients are not averages.
func TestTableHasTheReportsFigures(t *testing.T) {
	r := tomcat()
	for n := range int64(1000) { // the second client is slower
		r.Clients[1].Latencies.Of(result.Total).Record(1000 * (n + 1))
		r.Clients[1].Requests++
	}
	r.AddClients(r.Clients)
	row := report.NewRow("Tomcat NIO", r)
	total := r.Merged.Latencies.Get(result.Total)
	want := report.RowLatency{P50: total.Percentile(50), P99: total.Percentile(99), Max: total.Max()}
	if diff := cmp.Diff(want, *row.Merged.Latency); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if row.Merged.RequestsPerSecond != r.RequestsPerSecond() {
		t.Errorf("%v requests/s, want %v", row.Merged.RequestsPerSecond, r.RequestsPerSecond())
	}
	for i := range r.Clients {
		own := r.Clients[i].Latencies.Get(result.Total)
		want := report.RowLatency{P50: own.Percentile(50), P99: own.Percentile(99), Max: own.Max()}
		if diff := cmp.Diff(want, *row.Clients[i].Latency); diff != "" {
			t.Errorf("client %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestTableForPrograms checks that CSV and JSON can be parsed, whatever the texts.
func TestTableForPrograms(t *testing.T) {
	var document bytes.Buffer
	if err := report.WriteTable(&document, "csv", rows()); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&document).ReadAll()
	if err != nil || len(records) != len(rows())+1 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	for _, record := range records[1:] {
		if record[1] == "tomcat-apr" && record[len(record)-1] != rows()[4].NoResult {
			t.Errorf("the reason is %q", record[len(record)-1])
		}
	}
	document.Reset()
	if err := report.WriteTable(&document, "json", rows()); err != nil {
		t.Fatal(err)
	}
	var read struct{ Runs []report.Row }
	if err := json.Unmarshal(document.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows(), read.Runs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNothingInTablesObeyedByTerminals checks tables whose texts all contain control
// sequences and line breaks.
func TestNothingInTablesObeyedByTerminals(t *testing.T) {
	poisoned := rows()
	poison(reflect.ValueOf(poisoned))
	for _, format := range report.TableNames() {
		t.Run(format, func(t *testing.T) {
			var got bytes.Buffer
			if err := report.WriteTable(&got, format, poisoned); err != nil {
				t.Fatal(err)
			}
			for _, c := range got.String() {
				if c != '\n' && !unicode.IsPrint(c) {
					t.Fatalf("%q in the table", c)
				}
			}
			if format != "json" && strings.Contains(got.String(), "\nFORGED") {
				t.Error("a text from outside stands on a line of its own")
			}
		})
	}
}

func TestUnknownTableFormat(t *testing.T) {
	err := report.WriteTable(&bytes.Buffer{}, "yaml", rows())
	if err == nil || !strings.Contains(err.Error(), "csv, json, junit, markdown, text") {
		t.Errorf("error %v, want one that names the formats", err)
	}
}

// terminal is an output with a number of columns.
type terminal struct {
	bytes.Buffer
	columns int
}

func (w *terminal) Columns() int { return w.columns }

// TestTableOnTerminals checks that a line of the table of runs is never wider than the terminal, but for those of notes.
func TestTableOnTerminals(t *testing.T) {
	rows := rows()
	for _, columns := range []int{80, 120} {
		out := terminal{columns: columns}
		if err := report.WriteTable(&out, "text", rows); err != nil {
			t.Fatal(err)
		}
		blocks, _, _ := strings.Cut(out.String(), "\n[1]")
		if n := strings.Count(blocks, "requests/s per client"); n != len(rows) {
			t.Errorf("on %d columns: %d of %d rows are blocks\n%s", columns, n, len(rows), blocks)
		}
	}
}

// TestTableOfARequest has rows of single requests.
func TestTableOfARequest(t *testing.T) {
	r := reporttest.Paged()
	m := r.Request("checkout")
	m.Errors[result.ErrorStatus] = 3
	m.Requests += 3
	row := report.NewRow("Tomcat NIO", r)
	row.Only(r, "checkout")
	if row.Merged.Requests != m.Requests || row.Merged.Latency.P99 != m.Total().Percentiles[percentile.P99] || len(row.Requests) != 1 || row.Clients != nil {
		t.Errorf("%+v", row)
	}
	unknown := report.NewRow("Tomcat NIO", r)
	unknown.Only(r, "none")
	var text bytes.Buffer
	if err := report.WriteTable(&text, "text", []report.Row{row, unknown}); err != nil {
		t.Fatal(err)
	}
	rate, _ := r.Metric("RequestsPerSecond", "checkout")
	for _, want := range []string{" " + number.Significant(rate) + " ", "3 (status)", `no metrics of a request "none"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, format := range report.TableNames() {
		if err := report.WriteTable(io.Discard, format, []report.Row{row, unknown}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
