package readers

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// measured returns a result with seconds, percentiles and the given texts from users.
func measured(text string) *result.Result {
	r := &result.Result{
		Run:         result.Run{Namespace: text, Name: text, Server: text, Image: text, Load: result.LoadClosed, Connections: 5, MeasurementTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Environment: result.Environment{TargetCPULimit: 1000, ClientCPULimit: 1000, Backends: []result.BackendEnvironment{{Name: text, CPULimit: 1000}}},
		Findings:    []result.Finding{{Reason: text, Severity: result.Invalidates, Message: text}},
	}
	c := result.Client{}
	c.StartedAt, c.EndedAt = 1_000_000, 11_000_000
	for second := range int64(10) {
		h := result.NewHistogram()
		for n := range int64(100) {
			h.Record(1000 + 37*n*(second+1))
			c.Latencies.Of(result.Total).Record(1000 + 37*n*(second+1))
			c.Latencies.Of(result.Waiting).Record(900)
		}
		s := result.Second{Second: second, Seconds: 1, Requests: 100, ClientCPU: 300_000}
		s.SetLatency(h)
		used := result.ServerUsage{UserCPU: 500_000 + 1000*second, Resident: 1 << 20}
		s.SetServer(&used, true)
		s.SetBackend(text, &used, true)
		r.Series = append(r.Series, s)
	}
	c.Requests = 1000
	r.AddClients([]result.Client{c})
	return r
}

// plot runs gnuplot in a directory of its own and returns the picture. gnuplot must have nothing to complain of.
func plot(t *testing.T, directory string, script io.Reader, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "gnuplot", arguments...)
	var out, complaints bytes.Buffer
	command.Dir, command.Stdin, command.Stdout, command.Stderr = directory, script, &out, &complaints
	if err := command.Run(); err != nil || complaints.Len() > 0 {
		t.Fatalf("gnuplot: %v: %s", err, complaints.String())
	}
	return out.String()
}

// texts returns the texts of a picture. It fails unless the picture is well-formed and has the given number of curves
// at least.
func texts(t *testing.T, picture string, curves int) string {
	t.Helper()
	var all strings.Builder
	decoder, paths := xml.NewDecoder(strings.NewReader(picture)), 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture isn't well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.CharData:
			all.Write(token)
		case xml.StartElement:
			if token.Name.Local == "path" {
				paths++
			}
		}
	}
	if paths < curves {
		t.Errorf("%d paths, want %d curves", paths, curves)
	}
	return all.String()
}

// TestGnuplotDrawsReports runs the script in both of its forms, with texts that gnuplot might run.
func TestGnuplotDrawsReports(t *testing.T) {
	for name, text := range map[string]string{
		"plain":       "tomcat",
		"quotes":      `x'; system("touch ran"); y='`,
		"backquotes":  "`touch ran`",
		"line breaks": "x\nsystem('touch ran')\n",
		"backslash":   `x\`,
		"macro":       `@x $y {/Symbol z} %d`,
		"data":        "END_OF_DATA\nsystem('touch ran')",
		"double":      `x"; system("touch ran"); y="`,
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(text)
			directory := t.TempDir()
			var script bytes.Buffer
			if err := report.Write(&script, "gnuplot", r); err != nil {
				t.Fatal(err)
			}
			piped := texts(t, plot(t, directory, &script), 9)
			files, err := report.GnuplotFiles(r)
			if err != nil || len(files) != 4 {
				t.Fatalf("%d files: %v", len(files), err)
			}
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(directory, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if fromFiles := texts(t, plot(t, directory, nil, "report.gp"), 9); fromFiles != piped {
				t.Errorf("from files the picture has %q, else %q", fromFiles, piped)
			}
			for _, want := range []string{"p99", "successful", "99.9%", "total time"} {
				if !strings.Contains(piped, want) {
					t.Errorf("no %q in the picture", want)
				}
			}
			// A script for ab's list of requests: the column of total times, by rank.
			list := "set terminal svg\nplot 'requests.dat' using 9 with lines\n"
			texts(t, plot(t, directory, strings.NewReader(list)), 1)
			if _, err := os.Stat(filepath.Join(directory, "ran")); err == nil {
				t.Error("gnuplot ran a command")
			}
		})
	}
}
