package plugin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// setMeasured adds a finished run that has all that a report can have: phases, seconds and levels.
func setMeasured(t *testing.T, server *apiServer) {
	t.Helper()
	client := result.Client{}
	client.Requests, client.StartedAt, client.EndedAt = 100, 1_000_000, 3_000_000
	for phase := range result.Phases {
		for n := range int64(100) {
			client.Latencies.Of(phase).Record(1000 + n)
		}
	}
	second := result.Second{Seconds: 1, Requests: 100}
	second.SetLatency(client.Latencies.Get(result.Total))
	level := result.Level{TargetConnections: 5, End: 2, Measure: client.Measure, ServerCPU: result.Unknown}
	r := &result.Result{
		SchemaVersion: result.SchemaVersion, Run: result.Run{Namespace: "default", Name: "tomcat", UID: "uid-1", Load: result.LoadClosed},
		Series: []result.Second{second}, Levels: []result.Level{level},
	}
	for range 2 {
		client.ByRequest = append(client.ByRequest, result.RequestMetrics{Requests: 50})
	}
	r.AddClients([]result.Client{client})
	r.AddRequests([]string{"GET /a", "GET /b"})
	summary := &result.ScriptSummary{}
	summary.AddFile("../../out/a.json", []byte("{}"))
	summary.AddFile("stdout", []byte("\x1b[1mdone"))
	summary.AddOmitted("large", 1<<30)
	r.Script = &result.Script{Summary: summary}
	data, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	config, reference := wrapper.Artifact("default", "tomcat-result", artifact.Key, data)
	run := succeeded(valid)
	run.Status.Artifact = reference
	server.SetRun(run)
	server.SetConfigMap(config)
}

// documented matches a command in the documentation, up to where a shell takes over.
var documented = regexp.MustCompile("kubectl assay ((?:report|table) [^`>|\n]*)")

// TestDocumentedFormats runs each command of the documentation's table of formats, which has every format.
func TestDocumentedFormats(t *testing.T) {
	docs, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, formats, found := strings.Cut(string(docs), "\n## What each format is for\n")
	formats, _, end := strings.Cut(formats, "\n## ")
	if !found || !end {
		t.Fatal("docs/formats.md has no section on what each format is for")
	}
	server := startAPIServer(t)
	b := connectors()
	round1 := conclude(t, b, 1.2)
	server.SetBenchmark(b)
	t.Chdir(t.TempDir())
	ran := map[string]bool{}
	for _, match := range documented.FindAllStringSubmatch(formats, -1) {
		if strings.Contains(match[1], "benchmark/") { // the server has one ConfigMap at a time
			server.SetConfigMap(round1)
		} else {
			setMeasured(t, server)
		}
		command := strings.NewReplacer("benchmark/NAME", "benchmark/connectors", "NAME", "tomcat").Replace(strings.TrimRight(match[1], ` \`))
		start(t, server, strings.Fields(command)...).wantEnd(t, exit.Success, "")
		ran[command] = true
	}
	for _, set := range []struct {
		command string
		names   []string
	}{{"report tomcat", report.Names()}, {"report benchmark/connectors", round.Formats.Names()}} {
		for _, name := range set.names {
			switch {
			case name == "text", name == "csv" && slices.Contains(set.names, "csv=levels"), strings.HasPrefix(name, "hgrm"): // as the default, or as other parts
			case !ran[set.command+" -o "+name]:
				t.Errorf("the documentation has no command %s -o %s", set.command, name)
			}
		}
	}
}

func TestReportDirectory(t *testing.T) {
	server := startAPIServer(t)
	setMeasured(t, server)
	directory := t.TempDir()
	for _, arguments := range [][]string{{"report", "tomcat"}, {"report", "tomcat", "-o", "csv=series"}, {"report", "benchmark/connectors", "-o", "script"}} {
		start(t, server, append(arguments, "--directory", directory)...).wantEnd(t, exit.Unknown, "--directory needs the report of a run with -o script")
	}
	start(t, server, "report", "tomcat", "-o", "csv=foo").wantEnd(t, exit.Unknown, `unknown part "foo" of output format csv: use one of levels, percentiles, requests, series`)
}

// TestReportScriptFiles checks that the files of handleSummary() are written below the directory alone.
func TestReportScriptFiles(t *testing.T) {
	server := startAPIServer(t)
	setMeasured(t, server)
	directory := filepath.Join(t.TempDir(), "files")
	start(t, server, "report", "tomcat", "-o", "script").wantEnd(t, exit.Unknown, "")
	for range 2 { // the second finds the files of the first
		start(t, server, "report", "tomcat", "-o", "script", "--directory", directory).wantEnd(t, exit.Success,
			filepath.Join(directory, "out/a.json")+"\n", "stdout\n", "large (1073741824 bytes) was not kept")
	}
	for name, want := range map[string]string{"out/a.json": "{}", "stdout": "\x1b[1mdone"} {
		if data, err := os.ReadFile(filepath.Join(directory, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	// Files of somebody else stay, and nothing is written beside them.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "stdout"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, server, "report", "tomcat", "-o", "script", "--directory", other).wantEnd(t, exit.Unknown, filepath.Join(other, "stdout")+" exists with another content, so that nothing was written")
	if data, err := os.ReadFile(filepath.Join(other, "stdout")); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 1 {
		t.Errorf("written beside another's file: %v, %v", left, err)
	}
	outside := t.TempDir()
	if err := os.RemoveAll(filepath.Join(directory, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(directory, "out")); err != nil {
		t.Fatal(err)
	}
	start(t, server, "report", "tomcat", "-o", "script", "--directory", directory).wantEnd(t, exit.Unknown, "")
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("written outside of the directory: %v, %v", left, err)
	}
}
