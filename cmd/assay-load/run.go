package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/planfile"
)

func runCommand() *cobra.Command {
	var options command.RunOptions
	run := &cobra.Command{
		Use:   "run PLAN|SCRIPT",
		Short: "Run the load of a YAML file or a k6 script without a cluster and print a report",
		Long: `Run the load that a YAML file describes, or a k6 script, without a cluster, and print the report.

SCRIPT is a file that ends with .js, .mjs or .ts. k6 runs it with all of its options: scenarios, stages,
thresholds, tags. Modules and data are found next to the script, as with k6.

  assay-load run script.js
  assay-load run script.js --url http://127.0.0.1:8080 -e USERS=50 -e K6_VUS=25 -o json

PLAN is the path of the YAML file, or - for the standard input. For example:

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
    client:
      protocol: HTTP2                # default HTTP1
      streams: 8                     # concurrent requests per connection, only with HTTP2; default 1
      keepAlive: Enabled             # or Disabled
      timeoutSeconds: 30
    authentication: {scheme: Basic}  # without secretName
    closed:                          # or open, or stages
      connections: 25
      requestCount: 50000                # or durationSeconds
    warmup: {requestCount: 20000}        # or for example {steady: {timeoutSeconds: 60}}
  requestsFile: urls.txt             # instead of load.requests; replaces load.requestsFrom
  credentialsDirectory: secret          # with the files username and password, or token
  tls:                               # only with an https url
    serverName: www.example.org      # default: host of the url
    protocols: [TLSv1.2, TLSv1.3]
    ciphers: [ECDHE-RSA-AES128-GCM-SHA256]
    groups: [X25519]                 # of the key exchange; default: X25519, P-256, P-384, P-521
    verification: Full               # or None
    sessionResumption: Disabled      # or Enabled
    certificateAuthorityFile: ca.pem # default: Mozilla's root certificates
    clientCertificateFile: client.pem
    clientKeyFile: client.key        # default: clientCertificateFile

All fields, with their types and bounds:

` + planfile.Fields + `
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
				return &command.Error{Code: command.ExitUsage, Err: errors.New("specify one plan or script, or - for a plan from the standard input; see assay-load run --help")}
			}
			if err := options.Check(args[0]); err != nil {
				return &command.Error{Code: command.ExitUsage, Err: err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if command.IsScript(args[0]) || options.Engine == command.EngineK6 {
				return command.HandOver()
			}
			return options.RunPlan(c.Context(), args[0], version, nil)
		},
	}
	options.AddFlags(run)
	return run
}
