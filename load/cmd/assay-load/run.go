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
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/load/planfile"
	"github.com/assay-dev/assay/load/standalone"
)

func runCommand() *cobra.Command {
	format := "text"
	command := &cobra.Command{
		Use:   "run PLAN",
		Short: "Drive the load of a file, alone, and print what was measured",
		Long: `Drive the load that a YAML file describes, with no manager and no cluster, and print what was measured as a
BenchmarkRun's report does. PLAN is the file, or - for the standard input:

  url: http://127.0.0.1:8080         # scheme, host and port; with a path where there are no load.requests
  host: www.example.org              # the Host header; default the url's host and port
  load:                              # all that a BenchmarkRun's spec.load has
    requests:
      - path: /a.html
        weight: 3
        expect: {bodyBytes: 1024}
      - path: /b
        method: POST
        body: {text: hello}
    connection:
      protocol: HTTP2                # default HTTP1
      streams: 8                     # concurrent requests on each connection, only with HTTP2; default 1
      keepAlive: Enabled             # or Disabled
      timeoutSeconds: 30
    authentication: {scheme: Basic}  # without secretName
    closed:                          # or open, or stages
      connections: 25
      requests: 50000                # or durationSeconds
  warmup: {requests: 20000}          # as spec.warmup; or {steady: {limitSeconds: 60}}
  requestsFile: urls.txt             # instead of load.requests, as load.requestsFrom
  credentialsFolder: secret          # has the files username and password, or token
  tls:                               # where the url begins with https
    serverName: www.example.org      # default the url's host
    protocols: [TLSv1.2, TLSv1.3]
    ciphers: [ECDHE-RSA-AES128-GCM-SHA256]
    verification: Full               # or None
    sessionResumption: Disabled      # or Enabled
    certificateAuthorityFile: ca.pem # default Mozilla's authorities
    clientCertificateFile: client.pem
    clientKeyFile: client.key        # default the same file

Paths are relative to the plan's folder. An interrupt ends the measurement; what was measured so far is printed.

Exit codes:
  0    the result is valid
  1    there is no result: the target doesn't answer, or the load couldn't be carried
  3    the result isn't valid; the report says why
  4    the plan or the command is wrong
  130  interrupted; with a report when the measurement had begun`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &codedError{exitUsage, fmt.Errorf("give one plan, or - for the standard input; see assay-load run --help")}
			}
			if !slices.Contains(report.Names(), format) {
				return &codedError{exitUsage, fmt.Errorf("there is no format %q: use one of %s", format, strings.Join(report.Names(), ", "))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args[0], format) },
	}
	command.Flags().StringVarP(&format, "output", "o", format, "form of the report: "+strings.Join(report.Names(), " or "))
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &codedError{exitUsage, err} })
	return command
}

func run(ctx context.Context, path, format string) error {
	job, err := readPlan(path)
	if err != nil {
		return &codedError{exitUsage, fmt.Errorf("%s: %w", path, err)}
	}
	job.Version = version
	defer job.Clean()
	if err := job.Prepare(ctx); err != nil {
		return fmt.Errorf("%s can't be driven: %w", path, err)
	}
	var watcher standalone.Watcher = standalone.Silent{}
	clear := func() {}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar := standalone.NewBar(os.Stderr)
		watcher, clear = bar, bar.Clear
	}
	return standalone.Drive(job, watcher, nil, func(o standalone.Outcome) int {
		clear()
		if o.Interrupted {
			fmt.Fprintln(os.Stderr, "assay-load: interrupted")
		}
		if o.Err != nil {
			fmt.Fprintln(os.Stderr, "assay-load:", o.Err)
			return code(o, exitFailed)
		}
		if err := print(os.Stdout, func(w io.Writer) error { return report.Write(w, format, o.Result) }); err != nil {
			fmt.Fprintln(os.Stderr, "assay-load:", err)
			return exitFailed
		}
		if !validity.Valid(o.Result.Findings) {
			return code(o, exitNotValid)
		}
		return code(o, exitValid)
	})
}

// code is an exit code unless the load was interrupted.
func code(o standalone.Outcome, code int) int {
	if o.Interrupted {
		return standalone.ExitInterrupted
	}
	return code
}

func readPlan(path string) (*standalone.Job, error) {
	if path == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, err
		}
		return planfile.Read(data, "standard input", "")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	return planfile.Read(data, strings.TrimSuffix(base, filepath.Ext(base)), filepath.Dir(path))
}

// print writes a text in one go.
func print(to io.Writer, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	_, err := text.WriteTo(to)
	return err
}
