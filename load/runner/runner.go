// Package runner runs a load inside k6. It starts k6 with a scenario of a few
// virtual users, each of which calls the load through Assay's k6 module. k6's own
// metrics are discarded: package recorder measures the load.
package runner

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"go.k6.io/k6/v2/cmd"
)

// Load is a load that k6's virtual users run.
type Load interface {
	// RunShares runs one virtual user's part of the load. Each virtual user calls it once. It
	// returns when the load ends or ctx is done: k6 can interrupt JavaScript, but not Go code.
	RunShares(ctx context.Context) error
	// Ended reports that k6's test has ended, with its error or nil. k6 calls it
	// before it exits and waits for it to return.
	Ended(err error)
}

// load is the load of this process. It is a variable because k6 creates modules
// and outputs itself, so they can't be passed a value.
var load Load

//go:embed runner.js
var script string

// Run runs l with the given number of virtual users. It returns only if k6 can't
// be started: k6 exits the process, with code 0 if its test ended without an error.
func Run(l Load, users int) error {
	load = l
	if err := setStdin(fmt.Sprintf("const users = %d;\n%s", users, script)); err != nil {
		return fmt.Errorf("pass k6 its script: %w", err)
	}
	K6("run", "-", "--quiet", "--no-color", "--address", "", "--out", outputName,
		"--no-usage-report", "--no-thresholds", "--summary-mode=disabled", "--no-setup", "--no-teardown")
	return nil
}

// K6 runs k6's command line with args. It doesn't return: k6 exits the process.
func K6(args ...string) {
	os.Args = append([]string{"k6"}, args...)
	cmd.Execute()
}

// StayOffline sets the environment variables that keep k6 from reporting its
// usage and from downloading the extensions that a script imports.
func StayOffline() error {
	for _, setting := range [][2]string{
		{"K6_AUTO_EXTENSION_RESOLUTION", "false"},
		{"K6_NO_USAGE_REPORT", "true"},
	} {
		if err := os.Setenv(setting[0], setting[1]); err != nil {
			return fmt.Errorf("set %s: %w", setting[0], err)
		}
	}
	return nil
}

// setStdin makes text the standard input of this process, from which k6 reads its script, so that
// no writable file system is needed. The text must fit into a pipe's buffer, 64 KiB on Linux.
func setStdin(text string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := write.WriteString(text); err != nil {
		return err
	}
	os.Stdin = read
	return write.Close()
}
