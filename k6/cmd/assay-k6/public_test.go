package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/k6/internal/scriptserver"
)

// publicScripts is the directory of scripts in the manner of those that people publish.
const publicScripts = "../../testdata/public"

// exits maps k6's exit codes to those of assay-load.
var exits = map[exitcodes.ExitCode]int{
	0:                              command.ExitValid,
	exitcodes.ThresholdsHaveFailed: command.ExitMissed,
	exitcodes.SetupTimeout:         command.ExitFailed,
	exitcodes.InvalidConfig:        command.ExitUsage,
	exitcodes.ScriptException:      command.ExitUsage,
	exitcodes.ScriptAborted:        command.ExitFailed,
	exitcodes.MarkedAsFailed:       command.ExitNotValid,
}

// special are the scripts of which not everything can or must be the same. docs/k6.md lists the differences.
var special = map[string]struct {
	// stock is the exit code with which k6 ends the script.
	stock exitcodes.ExitCode
	// ours is that of assay-load. It is the one in exits if it is unset.
	ours exitcode
	// finding is what invalidates the result, by one or more reasons: more than 5% of the requests fail, say, for which k6 needs a threshold.
	finding string
	// timed reports whether counts depend on time. They aren't compared.
	timed bool
	// without reports whether Assay has no result.
	without bool
}{
	"abort.js":                      {stock: exitcodes.ScriptAborted, without: true},
	"abort_in_setup.js":             {stock: exitcodes.ScriptAborted, without: true},
	"average_load.js":               {timed: true},
	"batch.js":                      {finding: validity.ReasonErrorsDominate},
	"breakpoint.js":                 {stock: exitcodes.ThresholdsHaveFailed, timed: true, finding: validity.ReasonErrorsDominate},
	"conflict.js":                   {stock: exitcodes.InvalidConfig},
	"console.js":                    {finding: validity.ReasonErrorsDominate},
	"constant_rate.js":              {timed: true},
	"custom_metrics.js":             {finding: validity.ReasonErrorsDominate},
	"drops.js":                      {timed: true, finding: validity.ReasonIterationsDropped},
	"executors.js":                  {timed: true},
	"fail.js":                       {finding: validity.ReasonErrorsDominate + " " + validity.ReasonIterationsFailed},
	"failures.js":                   {finding: validity.ReasonErrorsDominate},
	"handle_summary.js":             {stock: exitcodes.ThresholdsHaveFailed},
	"initialization_throws.js":      {stock: exitcodes.ScriptException},
	"invalid_options.js":            {stock: exitcodes.InvalidConfig},
	"invalid_threshold.js":          {stock: exitcodes.InvalidConfig},
	"mark_failed.js":                {stock: exitcodes.MarkedAsFailed, finding: validity.ReasonScriptMarkedFailed},
	"max_duration.js":               {finding: validity.ReasonIterationsDropped},
	"missing_file.js":               {stock: exitcodes.ScriptException},
	"no_function.js":                {stock: exitcodes.InvalidConfig},
	"ramping_rate.js":               {timed: true},
	"removed_executor.js":           {stock: exitcodes.InvalidConfig},
	"retries.js":                    {finding: validity.ReasonErrorsDominate},
	"setup_throws.js":               {stock: exitcodes.ScriptException, ours: failed, without: true},
	"setup_timeout.js":              {stock: exitcodes.SetupTimeout, without: true},
	"shared_array.js":               {finding: validity.ReasonErrorsDominate},
	"soak.js":                       {timed: true},
	"spike.js":                      {timed: true},
	"system_tags.js":                {finding: validity.ReasonErrorsDominate},
	"tags.js":                       {finding: validity.ReasonErrorsDominate},
	"teardown_throws.js":            {stock: exitcodes.ScriptException, ours: valid},
	"teardown_timeout.js":           {stock: exitcodes.TeardownTimeout, ours: valid},
	"thresholds_crossed.js":         {stock: exitcodes.ThresholdsHaveFailed, finding: validity.ReasonErrorsDominate},
	"thresholds_without_samples.js": {stock: exitcodes.ThresholdsHaveFailed},
	"throw.js":                      {finding: validity.ReasonErrorsDominate + " " + validity.ReasonIterationsFailed},
	"unknown_metric.js":             {stock: exitcodes.InvalidConfig},
	"untrusted.js":                  {finding: validity.ReasonNothingSucceeded},
	"wrong_type.js":                 {stock: exitcodes.InvalidConfig},
}

// exitcode is an exit code of assay-load that exits doesn't have.
type exitcode int

// The values of exitcode.
const (
	unset exitcode = iota
	valid
	failed
)

// of returns the exit code of assay-load for a script that k6 ends with stock.
func (e exitcode) of(stock exitcodes.ExitCode) int {
	switch e {
	case valid:
		return command.ExitValid
	case failed:
		return command.ExitFailed
	}
	return exits[stock]
}

// tolerated are the findings that so short a load may have on a busy machine.
var tolerated = []string{validity.ReasonClientSaturated, validity.ReasonClientThrottled, validity.ReasonClientStalls, validity.ReasonNodeBusy}

// outcome is what a program did with a script. It is zero, except for Requests, if the program had no result.
type outcome struct {
	Iterations float64
	Checks     map[string]k6metric.Check // by group and name
	Metrics    map[string]float64        // counters, and the values of rates that aren't zero
	Thresholds map[string]bool           // whether they are met, by metric and expression
	Files      map[string]string         // what handleSummary() returned
	Requests   map[string]int            // what the server saw, by method and path
}

// run is an outcome with what only one of the programs has in that form.
type run struct {
	outcome
	code        int
	log         []string
	invalidated []string // the reasons of findings
}

// TestPublicScripts runs each script by stock k6 and by Assay, each with servers of its own, and compares what doesn't
// depend on time.
func TestPublicScripts(t *testing.T) {
	entries, err := os.ReadDir(publicScripts)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !command.IsScript(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(filepath.Join(publicScripts, name))
			if err != nil {
				t.Fatal(err)
			}
			stock, ours, s := runStock(t, path), runOurs(t, path), special[name]
			if stock.code != int(s.stock) {
				t.Errorf("k6 exited with %d, want %d", stock.code, s.stock)
			}
			ours.checkExit(t, s.ours.of(s.stock), s.finding)
			if s.without {
				stock.outcome = outcome{Requests: stock.Requests}
			}
			if s.timed {
				stock.forgetCounts()
				ours.forgetCounts()
			}
			if diff := cmp.Diff(stock.outcome, ours.outcome, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("k6 (-) and Assay (+) differ:\n%s", diff)
			}
			if more := notIn(ours.log, stock.log); len(more) > 0 {
				t.Errorf("k6 doesn't log %q", more)
			}
			if t.Failed() {
				t.Logf("k6 logs %q,\nAssay %q", stock.log, ours.log)
			}
		})
	}
}

// checkExit checks the exit code of assay-load. On a busy machine the result may be invalid as well.
func (r *run) checkExit(t *testing.T, want int, finding string) {
	t.Helper()
	invalidated := slices.DeleteFunc(slices.Clone(r.invalidated), func(reason string) bool { return slices.Contains(tolerated, reason) })
	if got := strings.Join(invalidated, " "); got != finding {
		t.Errorf("the result is invalidated by %q, want %q", got, finding)
	}
	if len(r.invalidated) > 0 {
		want = command.ExitNotValid
	}
	if r.code != want {
		t.Errorf("assay-load exited with %d, want %d", r.code, want)
	}
}

// forgetCounts replaces counts by whether there are any.
func (o *outcome) forgetCounts() {
	o.Iterations, o.Metrics = 0, nil
	for key, c := range o.Checks {
		c.Passes, c.Fails = min(c.Passes, 1), min(c.Fails, 1)
		o.Checks[key] = c
	}
	for path := range o.Requests {
		o.Requests[path] = 1
	}
}

// notIn returns the lines of a log that another one doesn't have as often.
func notIn(log, other []string) (more []string) {
	left := map[string]int{}
	for _, line := range other {
		left[line]++
	}
	for _, line := range log {
		if left[line]--; left[line] < 0 {
			more = append(more, line)
		}
	}
	return more
}

// runProgram runs a program with the addresses of new servers in its environment.
func runProgram(t *testing.T, directory string, args ...string) (r run, output, log string) {
	t.Helper()
	server := scriptserver.New(t)
	process, out, errors := program(t, args...)
	process.Dir = directory
	process.Env = append(process.Env, server.Environment()...)
	_ = process.Run()
	r.code, r.Requests = process.ProcessState.ExitCode(), server.Requests()
	maps.DeleteFunc(r.Requests, func(path string, _ int) bool { return strings.HasPrefix(path, "GET /lib/") }) // Assay loads modules twice
	return r, out.String(), errors.String()
}

// runStock runs a script by k6 itself.
func runStock(t *testing.T, path string) run {
	t.Helper()
	directory := t.TempDir()
	r, output, log := runProgram(t, directory, "k6", "run", "--quiet", "--no-color", "--log-format", "json", "--summary-export", "export.json", path)
	for line := range strings.Lines(log) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		r.log = append(r.log, logged(strings.TrimSuffix(entry.Level, "ing"), entry.Msg))
	}
	data, err := os.ReadFile(filepath.Join(directory, "export.json"))
	if err != nil {
		return r // no result
	}
	var export struct {
		Metrics map[string]struct {
			Count, Rate *float64 // of a counter
			Passes      float64  // of a rate
			Thresholds  map[string]bool
		}
		RootGroup group `json:"root_group"`
	}
	if err := json.Unmarshal(data, &export); err != nil {
		t.Fatal(err)
	}
	r.Checks, r.Metrics, r.Thresholds, r.Files = map[string]k6metric.Check{}, map[string]float64{}, map[string]bool{}, map[string]string{}
	export.RootGroup.collect(r.Checks)
	for name, m := range export.Metrics {
		if m.Count != nil && m.Rate != nil {
			r.addMetric(name, *m.Count)
		}
		r.addMetric(name, m.Passes)
		for source, crossed := range m.Thresholds {
			r.Thresholds[name+" "+source] = !crossed
		}
	}
	r.Iterations = r.Metrics["iterations"]
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), "handleSummary") {
		return r
	}
	if output != "" {
		r.Files["stdout"] = output
	}
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(filepath.Join(directory, f.Name())); err != nil {
			t.Fatal(err)
		} else if f.Name() != "export.json" {
			r.Files[f.Name()] = string(text)
		}
	}
	return r
}

// addMetric adds the value of a counter or a rate if it isn't zero and doesn't depend on time.
func (o *outcome) addMetric(name string, value float64) {
	if value != 0 && !strings.HasPrefix(name, "data_") {
		o.Metrics[name] = value
	}
}

// group is one of k6's groups in its summary.
type group struct {
	Path   string
	Groups map[string]group
	Checks map[string]k6metric.Check
}

// collect adds the checks of a group and of those within it to all.
func (g group) collect(all map[string]k6metric.Check) {
	for _, c := range g.Checks {
		all[g.Path+" "+c.Name] = k6metric.Check{Group: g.Path, Name: c.Name, Passes: c.Passes, Fails: c.Fails}
	}
	for _, inner := range g.Groups {
		inner.collect(all)
	}
}

// logLine matches a line of assay-load's log.
var logLine = regexp.MustCompile(`(?m)^time=\S+ level=(\S+) msg=("(?:[^"\\]|\\.)*"|\S+)`)

// runOurs runs a script by "assay-load run", which hands over to this program.
func runOurs(t *testing.T, path string) run {
	t.Helper()
	r, output, log := runProgram(t, t.TempDir(), "run", "-o", "json", path)
	for _, m := range logLine.FindAllStringSubmatch(log, -1) {
		message, err := strconv.Unquote(m[2])
		if err != nil {
			message = m[2]
		}
		r.log = append(r.log, logged(strings.ToLower(m[1]), message))
	}
	if output == "" {
		return r // no result
	}
	var full result.Result
	if err := json.Unmarshal([]byte(output), &full); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	r.Iterations = float64(full.Script.Iterations)
	r.Checks, r.Metrics, r.Thresholds, r.Files = map[string]k6metric.Check{}, map[string]float64{}, map[string]bool{}, map[string]string{}
	for _, c := range full.Script.Checks {
		r.Checks[c.Group+" "+c.Name] = c
	}
	for _, m := range full.Script.Metrics {
		if m.Kind == k6metric.Counter || m.Kind == k6metric.Rate {
			r.addMetric(m.Name, m.Sum)
		}
	}
	for _, threshold := range full.Thresholds {
		r.Thresholds[threshold.Metric+" "+threshold.Bound] = threshold.Met
	}
	if full.Script.Summary != nil {
		for _, f := range full.Script.Summary.Files {
			r.Files[f.Name] = string(f.Content)
		}
	}
	for _, f := range full.Findings {
		if f.Severity == result.Invalidates {
			r.invalidated = append(r.invalidated, f.Reason)
		}
	}
	return r
}

// address matches the servers' addresses, which differ.
var address = regexp.MustCompile(`127\.0\.0\.1:\d{4,5}`)

// position matches where test.abort() was called. k6's API reports it for setup() as well.
var position = regexp.MustCompile(`^(test aborted: .*) at \w+ \(file:.*\)$`)

// logged returns an entry of a log in a form that both programs have.
func logged(level, message string) string {
	return level + ": " + address.ReplaceAllString(position.ReplaceAllString(message, "$1"), "ADDRESS")
}
