package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/load/planfile"
	"github.com/assay-dev/assay/load/standalone"
)

func runCommand() *cobra.Command {
	format := "text"
	var options scriptOptions
	command := &cobra.Command{
		Use:   "run PLAN|SCRIPT",
		Short: "Run the load of a YAML file or a k6 script without a cluster and print a report",
		Long: `Run the load that a YAML file describes, or a k6 script, without a cluster, and print the report.

SCRIPT is a file that ends with .js, .mjs or .ts. k6 runs it with all of its options: scenarios, stages,
thresholds, tags. Modules and data are found next to the script, as with k6.

  assay-load run script.js
  assay-load run script.js --url http://127.0.0.1:8080 -e USERS=50 -e K6_VUS=25 -o json

PLAN is the path of the YAML file, or - for the standard input. All fields:

  url: http://127.0.0.1:8080         # scheme, host and port; with a path only if load.requests isn't set
  host: www.example.org              # Host header; default: host and port of the url
  load:                              # all fields of a BenchmarkRun's spec.load
    requests:
      - path: /a.html
        weight: 3
        expect: {bodyBytes: 1024}
      - path: /b
        method: POST
        body: {text: hello}
    connection:
      protocol: HTTP2                # default HTTP1
      streams: 8                     # concurrent requests per connection, only with HTTP2; default 1
      keepAlive: Enabled             # or Disabled
      timeoutSeconds: 30
    authentication: {scheme: Basic}  # without secretName
    closed:                          # or open, or stages
      connections: 25
      requests: 50000                # or durationSeconds
    warmup: {requests: 20000}        # or for example {steady: {timeoutSeconds: 60}}
  requestsFile: urls.txt             # instead of load.requests; replaces load.requestsFrom
  credentialsDirectory: secret          # with the files username and password, or token
  tls:                               # only with an https url
    serverName: www.example.org      # default: host of the url
    protocols: [TLSv1.2, TLSv1.3]
    ciphers: [ECDHE-RSA-AES128-GCM-SHA256]
    verification: Full               # or None
    sessionResumption: Disabled      # or Enabled
    certificateAuthorityFile: ca.pem # default: Mozilla's root certificates
    clientCertificateFile: client.pem
    clientKeyFile: client.key        # default: clientCertificateFile

File paths are relative to the directory of PLAN. Ctrl-C ends the measurement and prints a report of what was
measured so far. A script's teardown() is run before. The second Ctrl-C exits at once.

Exit codes:
  0    the result is valid and meets the script's thresholds, if any
  1    no result: the target did not respond, the load failed, or the script called test.abort()
  2    the result is valid, but misses a threshold of the script
  3    the result isn't valid, whatever the thresholds; the report says why
  4    the plan, the script or the command line is invalid
  130  interrupted; the report is printed if the measurement had begun`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &codedError{exitUsage, fmt.Errorf("specify one plan or script, or - for a plan from the standard input; see assay-load run --help")}
			}
			if err := report.CheckFormat(format, report.Names()); err != nil {
				return &codedError{exitUsage, err}
			}
			if err := options.check(args[0]); err != nil {
				return &codedError{exitUsage, err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if isScript(args[0]) {
				return runScript(args[0], format, options)
			}
			return run(c.Context(), args[0], format)
		},
	}
	command.Flags().StringVarP(&format, "output", "o", format, "output format: "+report.Usage(report.Names())+"; csv has the levels of a load with stages")
	options.addFlags(command)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &codedError{exitUsage, err} })
	return command
}

func run(ctx context.Context, path, format string) error {
	job, err := readPlan(path)
	if path == "-" {
		path = stdinName
	}
	if err != nil {
		return &codedError{exitUsage, fmt.Errorf("%s: %w", path, err)}
	}
	if report.NeedsLevels(format) && job.Stages == nil { // before there is a load whose result would be lost
		return &codedError{exitUsage, fmt.Errorf("%s: the output format %s is for loads with stages; use csv=series or csv=percentiles", path, format)}
	}
	job.Version = version
	defer job.Clean()
	if err := job.Prepare(ctx); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	bar := standalone.NewBar(io.Discard)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar = standalone.NewBar(os.Stderr)
	}
	return standalone.Drive(job, bar, nil, func(o standalone.Outcome) int {
		bar.Clear()
		return finish(o, format)
	})
}

// finish prints the report of an outcome and returns the exit code.
func finish(o standalone.Outcome, format string) int {
	if o.Interrupted {
		fmt.Fprintln(os.Stderr, "assay-load: interrupted")
	}
	if o.Err != nil {
		fmt.Fprintln(os.Stderr, "assay-load:", o.Err)
		if session.FailureKindOf(o.Err) == session.FailureScriptInvalid {
			return code(o, exitUsage)
		}
		return code(o, exitFailed)
	}
	if err := print(os.Stdout, func(w io.Writer) error { return report.Write(w, format, o.Result) }); err != nil {
		fmt.Fprintln(os.Stderr, "assay-load:", err)
		return exitFailed
	}
	switch {
	case !validity.Valid(o.Result.Findings):
		return code(o, exitNotValid)
	case slices.ContainsFunc(o.Result.Thresholds, func(t result.ThresholdOutcome) bool { return !t.Met }):
		return code(o, exitMissed)
	}
	return code(o, exitValid)
}

// code returns standalone.ExitInterrupted if the load was interrupted, and code otherwise.
func code(o standalone.Outcome, code int) int {
	if o.Interrupted {
		return standalone.ExitInterrupted
	}
	return code
}

// stdinName is the name of a plan from the standard input.
const stdinName = "standard input"

func readPlan(path string) (*standalone.Job, error) {
	if path == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, err
		}
		return planfile.Read(data, stdinName, "")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	return planfile.Read(data, strings.TrimSuffix(base, filepath.Ext(base)), filepath.Dir(path))
}

// print writes the text with a single write, and only if there was no error.
func print(to io.Writer, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	_, err := text.WriteTo(to)
	return err
}
