package report_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
)

// benchstat writes files and returns what the real benchstat says of them.
func benchstat(t *testing.T, files map[string][]byte, arguments ...string) string {
	t.Helper()
	directory := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(directory, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, argument := range arguments {
		if files[argument] != nil {
			arguments[i] = filepath.Join(directory, argument)
		}
	}
	command := exec.CommandContext(t.Context(), "go", append([]string{"tool", "benchstat"}, arguments...)...)
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil || complaints.Len() > 0 {
		t.Fatalf("benchstat: %v: %s", err, complaints.String())
	}
	return out.String()
}

// TestBenchstatComparesRuns compares ten repetitions of two servers, of which the second is 20 percent slower.
func TestBenchstatComparesRuns(t *testing.T) {
	files := map[string][]byte{}
	for name, slower := range map[string]float64{"nio.txt": 1, "apr.txt": 1.2} {
		var rows []report.Row
		for n := range 10 {
			r := tomcat()
			r.Findings = nil
			row := report.NewRow(strings.TrimSuffix(name, ".txt"), r)
			row.Merged.RequestsPerSecond = (1000 + float64(n)) / slower
			rows = append(rows, row)
		}
		var b bytes.Buffer
		if err := report.WriteTable(&b, "benchstat", rows); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	out := benchstat(t, files, "-col", "/connector@(nio apr)", "nio.txt", "apr.txt")
	for _, want := range []string{"HTTP/file=", "req/s", "-16.67% (p=0.000 n=10)", "p99-sec"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// TestBenchstatReadsRounds compares the cells of the golden report of a round, whose runs are repetitions.
func TestBenchstatReadsRounds(t *testing.T) {
	golden, err := os.ReadFile("round/testdata/connectors.benchstat.golden")
	if err != nil {
		t.Fatal(err)
	}
	out := benchstat(t, map[string][]byte{"round.txt": golden}, "-col", "/connector@(nio nio2)", "-filter", "/connector:(nio OR nio2)", "round.txt")
	for _, want := range []string{"Connectors", "p99-sec", "req/s", "(p=0.000 n="} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}
