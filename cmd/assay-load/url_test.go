package main

import (
	"crypto/tls"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// TestURL measures a URL with each flag and compares what the server saw.
func TestURL(t *testing.T) {
	for name, test := range map[string]struct {
		args     []string
		path     string
		requests int64 // without the probe
		line     string
		header   string
		body     string
	}{
		"number":     {args: []string{"-n", "50", "-c", "5"}, path: "/a?b=c", requests: 50, line: "GET /a?b=c"},
		"few":        {args: []string{"-n", "3"}, path: "/", requests: 3, line: "GET /"},
		"no path":    {args: []string{"-n", "10"}, path: "", requests: 10, line: "GET /"},
		"fragment":   {args: []string{"-n", "10"}, path: "/a#b", requests: 10, line: "GET /a"},
		"headers":    {args: []string{"-n", "10", "-H", "X-A: b: c", "-H", "Host: other.example", "-H", "authorization: Bearer x"}, path: "/", requests: 10, line: "GET /", header: "X-A: b: c|Host: other.example|authorization: Bearer x"},
		"body":       {args: []string{"-n", "10", "--data", "hello"}, path: "/", requests: 10, line: "POST /", body: "hello"},
		"method":     {args: []string{"-n", "10", "-X", "delete"}, path: "/", requests: 10, line: "DELETE /"},
		"rate":       {args: []string{"--rate", "50", "-d", "1"}, path: "/", requests: 50, line: "GET /"},
		"slow rate":  {args: []string{"--rate", "2.5", "-d", "2s"}, path: "/", requests: 5, line: "GET /"},
		"rate below": {args: []string{"--rate", "0.5", "-d", "1s"}, path: "/", requests: 1, line: "GET /"},
		"rate of n":  {args: []string{"--rate", "12.5", "-n", "6"}, path: "/", requests: 6, line: "GET /"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			lines := map[string]int64{}
			server := testserver.New(t, func(r testserver.Request) testserver.Answer {
				mu.Lock()
				defer mu.Unlock()
				lines[r.Method+" "+r.Path]++
				for _, want := range strings.Split(test.header, "|") {
					if !strings.Contains(r.Head, want) {
						t.Errorf("%q not found in\n%s", want, r.Head)
					}
				}
				if string(r.Body) != test.body {
					t.Errorf("body %q", r.Body)
				}
				return testserver.OK(5)
			})
			output, errors, code := assayLoad(t, append(test.args, "-o", "json", "http://"+server.Address()+test.path)...)
			if code != command.ExitValid && code != command.ExitNotValid || errors != "" {
				t.Fatalf("exit code %d\n%s", code, errors)
			}
			var r result.Result
			if err := json.Unmarshal([]byte(output), &r); err != nil {
				t.Fatal(err)
			}
			if r.Merged.Succeeded() != test.requests || r.Environment.ConnectedAddress != server.Address() {
				t.Errorf("%d requests to %s", r.Merged.Succeeded(), r.Environment.ConnectedAddress)
			}
			if rate := r.Arrivals; rate != nil && (rate.Due != test.requests || name != "rate below" && rate.TargetRatePerSecond() > 50) {
				t.Errorf("arrivals %+v", *rate)
			}
			if diff := cmp.Diff(map[string]int64{test.line: test.requests + 1}, lines); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestURLPage writes a page and a picture to files, whose names are printed after the verdict.
func TestURLPage(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	for format, want := range map[string]string{"html": "<!doctype html>", "svg=percentiles": "<svg"} {
		directory := filepath.Join(t.TempDir(), "reports")
		output, errors, code := assayLoad(t, "-n", "200", "-H", "Authorization: Bearer secret", "-o", format, "--directory", directory, "http://"+server.Address()+"/")
		files, err := os.ReadDir(directory)
		if err != nil || len(files) != 1 || code != command.ExitValid && code != command.ExitNotValid {
			t.Fatalf("exit code %d, files %v, %v\n%s", code, files, err, errors)
		}
		path := filepath.Join(directory, files[0].Name())
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(strings.ToLower(string(text)), want) || strings.Contains(string(text), "secret") {
			t.Errorf("%s: %.100s, %v", path, text, err)
		}
		if !strings.Contains(output, "VALID") || !strings.Contains(output, " requests/s") || !strings.HasSuffix(output, "Report: "+path+"\n") {
			t.Errorf("output\n%s", output)
		}
	}
	// A page goes to the standard output of "run", as of "kubectl assay report".
	plan := planFile(t, "url: http://%s\nload: {closed: {connections: 2, requestCount: 200}}", server.Address())
	if output, errors, _ := assayLoad(t, "run", plan, "-o", "html"); !strings.HasPrefix(strings.ToLower(output), "<!doctype html>") || !strings.Contains(output, "requestCount: 200") {
		t.Errorf("output %.100s\n%s", output, errors)
	}
}

// TestURLRejected checks command lines that are rejected before a request.
func TestURLRejected(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	url := "http://" + server.Address() + "/"
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`--rate: "0"`:                            {"--rate", "0", url},
		`--rate: "1e3"`:                          {"--rate", "1e3", url},
		`--rate: "100001"`:                       {"--rate", "100001", url},
		"must have at most three decimals":       {"--rate", "0.5001", url},
		"-c: 0 must":                             {"-c", "0", url},
		`-d: "0s" must`:                          {"-d", "0", url},
		`-d: "1500ms" must`:                      {"-d", "1500ms", url},
		"-n: 5 must be at least -c":              {"-n", "5", "-c", "10", url},
		"-n and -d":                              {"-n", "50", "-d", "5s", url},
		"use http://localhost:8080/ or https://": {"localhost:8080/"},
		"URL begins with http://":                {"localhost"},
		"Unix sockets are not supported":         {"unix:/run/x.sock"},
		"must not have credentials":              {"http://user:password@127.0.0.1/"},
		"-k is for URLs that begin with https":   {"-k", url},
		"specify one URL":                        {url, url},
		"specify a URL":                          {"-c", "5"},
		"-c, the number of connections":          {"--vus", "5", url},
		"-n, the number of requests":             {"--iterations", "5", url},
		"no flag for threads":                    {"-t", "4", url},
		"-d, the duration":                       {"-z", "10s", url},
		"with two hyphens":                       {"-duration=10s", url},
		"load.closed.connections of a plan":      {"run", "-c", "5", "plan.yaml"},
		"--directory: mkdir":                     {"-o", "html", "--directory", filepath.Join(file, "x"), url},
		"--directory is for -o html":             {"--directory", t.TempDir(), url},
		"needs --directory":                      {"-o", "script", url},
		"unknown output format":                  {"-o", "xml", url},
	} {
		output, errors, code := assayLoad(t, args...)
		if code != command.ExitUsage || output != "" || !strings.Contains(errors, want) {
			t.Errorf("%v: exit code %d, want %q\n%s%s", args, code, want, output, errors)
		}
	}
	if seen := server.Seen().Requests; seen > 0 {
		t.Errorf("the server saw %d requests", seen)
	}
}

// TestURLOverTLS checks the advice about certificates, which names flags and fields that exist.
func TestURLOverTLS(t *testing.T) {
	own := tlstest.SelfSigned(t)
	server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}}, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	url := "https://" + server.Address() + "/"
	if _, errors, code := assayLoad(t, "-n", "10", url); code != command.ExitFailed || !strings.Contains(errors, "use -k") {
		t.Errorf("exit code %d\n%s", code, errors)
	}
	if output, errors, _ := assayLoad(t, "-n", "10", "-k", url); !strings.Contains(output, "Complete requests:      10\n") {
		t.Errorf("%s%s", output, errors)
	}
	plan := planFile(t, "url: %s\nload: {closed: {connections: 1, requestCount: 10}}", url)
	if _, errors, code := assayLoad(t, "run", plan); code != command.ExitFailed || !strings.Contains(errors, "tls.verification to None") {
		t.Errorf("exit code %d\n%s", code, errors)
	}
	mutual := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}, ClientAuth: tls.RequireAnyClientCert}, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	plan = planFile(t, "url: https://%s/\ntls: {verification: None}\nload: {closed: {connections: 1, requestCount: 10}}", mutual.Address())
	if _, errors, code := assayLoad(t, "run", plan); code != command.ExitFailed || !strings.Contains(errors, "set tls.clientCertificateFile") {
		t.Errorf("exit code %d\n%s", code, errors)
	}
}

// TestOutOfDescriptors runs loads in a process that may have 100 descriptors, at a server that keeps every request waiting. A closed load of
// more connections is refused. An open load, of which nobody knows how many connections it needs, has the finding.
func TestOutOfDescriptors(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		answer := testserver.OK(5)
		if r.Number > 0 {
			answer.Delay = 700 * time.Millisecond
		}
		return answer
	})
	run := func(args ...string) (output, errors string, code int) {
		command, out, errs := program(t, mainVariable, "1")
		command.Path = "/bin/sh"
		command.Args = append([]string{"sh", "-c", `ulimit -n 100; exec "$0" "$@"`, os.Args[0]}, args...)
		_ = command.Run()
		return out.String(), errs.String(), command.ProcessState.ExitCode()
	}
	url := "http://" + server.Address() + "/"
	if output, errors, code := run("-c", "200", "-n", "1000", url); code != command.ExitFailed || output != "" || !strings.Contains(errors, "for 200 connections, but this process may have only 100") {
		t.Errorf("exit code %d\n%s%s", code, output, errors)
	}
	if seen := server.Seen().Requests; seen > 1 {
		t.Errorf("the server saw %d requests", seen)
	}
	output, errors, code := run("--rate", "400", "-d", "1s", "-o", "json", url)
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatalf("%s\n%s", err, errors)
	}
	found := map[string]string{}
	for _, f := range r.Findings {
		found[f.Reason] = f.Message
	}
	if code != command.ExitNotValid || !strings.Contains(found["ClientLimited"], "EMFILE") || !strings.Contains(found["ErrorsDominate"], "see ClientLimited") {
		t.Errorf("exit code %d, findings %v", code, found)
	}
}
