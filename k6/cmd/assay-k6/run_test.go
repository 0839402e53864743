package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// scriptFile writes a script and the module and the data that it uses to a temporary directory. It
// returns the script's path.
func scriptFile(t *testing.T, script string) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range map[string]string{
		"shop.js": script, "lib/paths.js": `export function path(n) { return '/shop/' + n }`, "data/users.json": `["a","b"]`,
	} {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(directory, "shop.js")
}

// TestRunScript runs a script with a module, data, environment variables, setup(), teardown(), metrics
// and thresholds.
func TestRunScript(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	path := scriptFile(t, `
import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
import { path } from './lib/paths.js';
const users = JSON.parse(open('./data/users.json')), price = new Trend('price');
export const options = { vus: 1, iterations: 101, thresholds: { checks: ['rate==1'], price: ['max<2', 'min==0'] } };
export function setup() { http.post(__ENV.BASE_URL + '/setup'); return { n: users.length } }
export default function (data) {
  check(http.get(__ENV.ASSAY_TARGET_URL + path(data.n) + __ENV.SUFFIX), { 'is 200': (r) => r.status === 200 });
  price.add(__ITER % 3);
}
export function teardown(data) { http.del('http://' + __ENV.ASSAY_TARGET_HOST + ':' + __ENV.ASSAY_TARGET_PORT + '/teardown/' + data.n); console.log('cleaned up') }
`)
	output, errors, code := assayK6(t, "run", path, "--url", "http://"+server.Address(), "-e", "SUFFIX=/x=y", "-e", "K6_VUS=4", "-o", "json")
	// So short a load may be invalid on a slow machine, but it misses a threshold.
	if code != command.ExitMissed && code != command.ExitNotValid || !strings.Contains(errors, "cleaned up") || strings.Contains(errors, "Completed") {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	for path, n := range map[string]int64{"/setup": 1, "/shop/2/x=y": 101, "/teardown/2": 1} {
		if got := server.Seen().Paths[path]; got != n {
			t.Errorf("%s was requested %d times, want %d", path, got, n)
		}
	}
	if !r.Run.Standalone || r.Run.Load != result.LoadScript || r.Run.Name != "shop" || r.Run.Server != "http://"+server.Address() || r.Environment.TargetAddress != server.Address() {
		t.Errorf("run %+v, environment %+v", r.Run, r.Environment)
	}
	var sum int64
	for _, s := range r.Series {
		sum += s.Counts.Requests
	}
	if r.Merged.Requests != 101 || sum != 101 || r.Script == nil || r.Script.Iterations != 101 || r.Script.VirtualUsers != 4 {
		t.Fatalf("%d requests, %d in the series, script %+v", r.Merged.Requests, sum, r.Script)
	}
	if m := r.Script.Metric("price"); m == nil || m.Samples != 101 || m.Max != 2 {
		t.Errorf("price %+v", m)
	}
	met := map[string]bool{}
	for _, outcome := range r.Thresholds {
		met[outcome.Metric+" "+outcome.Bound] = outcome.Met
	}
	if len(met) != 3 || !met["checks rate==1"] || met["price max<2"] || !met["price min==0"] {
		t.Errorf("thresholds %+v", r.Thresholds)
	}
}

// TestRunScriptText checks the text report of a script with URLs of its own.
func TestRunScriptText(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	path := scriptFile(t, `
import http from 'k6/http';
export const options = { iterations: 20, thresholds: { http_reqs: ['count==20'] } };
export default function () { if (__ENV.BASE_URL) { throw new Error('not unset') }; http.get('http://`+server.Address()+`/') }
`)
	output, errors, code := assayK6(t, "run", path)
	if code != command.ExitValid && code != command.ExitNotValid {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	for _, want := range []string{"shop: load on the servers of the script\n", "count==20", "Complete requests:      20\n", "Iterations:             20\n", "http_req_duration"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q not found in the report:\n%s", want, output)
		}
	}
}

// TestRunScriptReadsTheEnvironment checks that k6 reads its options from the environment, as without Assay, and that -e
// overrides it.
func TestRunScriptReadsTheEnvironment(t *testing.T) {
	path, directory := scriptFile(t, `export default function () {}`), t.TempDir()
	process, output, errors := program(t, "run", path, "-e", "K6_VUS=2", "-o", "json")
	process.Dir = directory
	process.Env = append(process.Env, "K6_VUS=3", "K6_ITERATIONS=7", "K6_OUT=csv=samples.csv")
	_ = process.Run()
	var r result.Result
	if err := json.Unmarshal(output.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	if r.Script.Iterations != 7 || r.Script.VirtualUsers != 2 {
		t.Errorf("%d iterations of %d virtual users", r.Script.Iterations, r.Script.VirtualUsers)
	}
	if samples, err := os.ReadFile(filepath.Join(directory, "samples.csv")); err != nil || !strings.Contains(string(samples), "iteration_duration") {
		t.Errorf("%v, samples %s", err, samples)
	}
}

// TestRunScriptPage writes the page of a script into a directory.
func TestRunScriptPage(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	path := scriptFile(t, `
import http from 'k6/http';
export const options = { iterations: 20 };
export default function () { http.get('http://`+server.Address()+`/') }
`)
	directory := t.TempDir()
	output, errors, _ := assayK6(t, "run", path, "-o", "html", "--directory", directory)
	pages, err := filepath.Glob(filepath.Join(directory, "shop-*.html"))
	if err != nil || len(pages) != 1 || !strings.Contains(output, "VALID") || !strings.HasSuffix(output, "Report: "+pages[0]+"\n") {
		t.Fatalf("pages %v, %v\n%s%s", pages, err, output, errors)
	}
	if text, err := os.ReadFile(pages[0]); err != nil || !strings.Contains(string(text), "Virtual users") {
		t.Errorf("page %.100s, %v", text, err)
	}
}

// TestRunScriptFails runs scripts without a result, and invalid command lines.
func TestRunScriptFails(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		args   []string
		code   int
		want   string
	}{
		"syntax":         {script: `export default function () { let = ; }`, code: command.ExitUsage, want: "Unexpected token"},
		"option":         {script: `export const options = { vus: -1 }; export default function () {}`, code: command.ExitUsage, want: "VUs"},
		"setup":          {script: `export function setup() { throw new Error('no shop') }; export default function () {}`, code: command.ExitFailed, want: "no shop"},
		"abort":          {script: `import exec from 'k6/execution'; export default function () { exec.test.abort('enough') }`, code: command.ExitFailed, want: "enough"},
		"URL":            {args: []string{"--url", "127.0.0.1:8080"}, code: command.ExitUsage, want: "--url"},
		"URL with path":  {args: []string{"--url", "http://a.example/x"}, code: command.ExitUsage, want: "nothing after the port"},
		"variable":       {args: []string{"-e", "USERS"}, code: command.ExitUsage, want: `"USERS" must be of the form NAME=VALUE`},
		"format":         {args: []string{"-o", "csv"}, code: command.ExitUsage, want: "csv=series"},
		"unknown format": {args: []string{"-o", "xml"}, code: command.ExitUsage, want: "xml"},
	} {
		t.Run(name, func(t *testing.T) {
			output, errors, code := assayK6(t, append([]string{"run", scriptFile(t, tc.script)}, tc.args...)...)
			if code != tc.code || output != "" || !strings.Contains(errors, tc.want) {
				t.Errorf("exit code %d, want %d\n%s%s", code, tc.code, output, errors)
			}
		})
	}
	if _, errors, code := assayK6(t, "run", "missing.js"); code != command.ExitUsage || !strings.Contains(errors, "missing.js") {
		t.Errorf("missing script: exit code %d\n%s", code, errors)
	}
}

// TestRunScriptInterrupted sends a signal in the middle of the load. The report covers the time until
// then, and teardown() runs.
func TestRunScriptInterrupted(t *testing.T) {
	responded := make(chan struct{})
	var requests atomic.Int64
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		if requests.Add(1) == 3 { // one of the two users has the response to its first
			close(responded)
		}
		return testserver.OK(64)
	})
	path := scriptFile(t, `
import http from 'k6/http';
export const options = { vus: 2, duration: '1h' };
export default function () { http.get(__ENV.BASE_URL + '/') }
export function teardown() { http.get(__ENV.BASE_URL + '/teardown') }
`)
	process, output, errs := program(t, "run", path, "--url", "http://"+server.Address(), "-o", "json")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	<-responded
	if err := process.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if code := process.ProcessState.ExitCode(); code != standalone.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var r result.Result
	if err := json.Unmarshal(output.Bytes(), &r); err != nil {
		t.Fatalf("%s: %s", err, errs)
	}
	server.Stop()
	found := false
	for _, f := range r.Findings {
		found = found || f.Reason == "Interrupted"
	}
	if seen := server.Seen(); !found || seen.Paths["/teardown"] != 1 || r.Merged.Requests == 0 {
		t.Errorf("findings %+v, %d requests, the server saw %v", r.Findings, r.Merged.Requests, seen.Paths)
	}
}

// TestRunScriptAborts runs a script whose threshold ends its load: exit code 2, as in a cluster and by k6, and handleSummary() has the
// threshold as missed. Its files are written below a directory, and none outside of it.
func TestRunScriptAborts(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	path := scriptFile(t, `
import http from 'k6/http';
export const options = { vus: 1, duration: '1h', thresholds: { http_reqs: [{ threshold: 'count<10', abortOnFail: true }] } };
export default function () { http.get(__ENV.BASE_URL + '/'); if (__ITER > 2000) { while (true) {} } }
export function handleSummary(data) {
  const ok = data.metrics.http_reqs.thresholds['count<10'].ok;
  return { 'reports/summary.txt': 'met: ' + ok, '../outside.txt': 'no', stdout: 'hello' };
}
`)
	directory := filepath.Join(t.TempDir(), "files")
	output, errors, code := assayK6(t, "run", path, "--url", "http://"+server.Address(), "-o", "json", "--directory", directory)
	if code != command.ExitMissed {
		t.Fatalf("exit code %d\n%s%.2000s", code, errors, output)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	if a := r.Script.Abort; a == nil || a.Metric != "http_reqs" || a.Bound != "count<10" || a.End < 1 || len(r.Thresholds) != 1 || r.Thresholds[0].Met {
		t.Errorf("abort %+v, thresholds %+v", a, r.Thresholds)
	}
	for _, f := range r.Findings {
		if f.Severity == result.Invalidates {
			t.Errorf("finding %+v", f)
		}
	}
	text, err := os.ReadFile(filepath.Join(directory, "reports", "summary.txt"))
	if err != nil || string(text) != "met: false" {
		t.Errorf("summary %q, %v\n%s", text, err, errors)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(directory), "outside.txt")); err == nil {
		t.Error("a file was written outside of the directory")
	}
}

// TestRunScriptThrows runs scripts of which all iterations, or few, throw.
func TestRunScriptThrows(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(64) })
	for name, tc := range map[string]struct {
		condition string
		thrown    int64
		severity  result.Severity
	}{
		"all":  {"true", 50, result.Invalidates},
		"some": {"__ITER % 10 == 0", 5, result.Invalidates},
		"one":  {"__ITER == 7", 1, result.Warns},
		"none": {"false", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := scriptFile(t, `
import http from 'k6/http';
export const options = { vus: 1, iterations: 50 };
export default function () { http.get(__ENV.BASE_URL + '/'); console.error('no exception'); if (`+tc.condition+`) { throw new Error('by the script') } }
`)
			output, errors, code := assayK6(t, "run", path, "--url", "http://"+server.Address(), "-o", "json")
			var r result.Result
			if err := json.Unmarshal([]byte(output), &r); err != nil {
				t.Fatalf("exit code %d: %s\n%s", code, err, errors)
			}
			var severity result.Severity
			for _, f := range r.Findings {
				if f.Reason == "IterationsFailed" {
					severity = f.Severity
					if !strings.Contains(f.Message, "by the script") {
						t.Errorf("message %s", f.Message)
					}
				}
			}
			if r.Script.Iterations != 50 || r.Script.ThrownIterations != tc.thrown || severity != tc.severity || tc.severity == result.Invalidates && code != command.ExitNotValid {
				t.Errorf("%d iterations, %d threw, finding %q, exit code %d", r.Script.Iterations, r.Script.ThrownIterations, severity, code)
			}
		})
	}
}
