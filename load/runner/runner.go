// Package runner runs a load inside k6. It starts k6 with a scenario of a few
// virtual users, each of which calls the load through Assay's k6 module. k6's own
// metrics are discarded: package recorder measures the load.
package runner

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"go.k6.io/k6/v2/cmd"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"
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
	return errors.Join(os.Setenv("K6_AUTO_EXTENSION_RESOLUTION", "false"), os.Setenv("K6_NO_USAGE_REPORT", "true"))
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

const (
	// moduleName is the name by which scripts import the module.
	moduleName = "k6/x/assay"
	// outputName is the name of the output in k6's --out flag.
	outputName = "assay"
)

func init() {
	modules.Register(moduleName, module{})
	output.RegisterExtension(outputName, func(output.Params) (output.Output, error) { return endNotifier{}, nil })
}

// module implements modules.Module.
type module struct{}

// instance is the module of one virtual user.
type instance struct{ vu modules.VU }

// NewModuleInstance implements modules.Module. k6 calls it for each virtual user.
func (module) NewModuleInstance(vu modules.VU) modules.Instance { return instance{vu} }

// Exports implements modules.Instance. It returns the functions that scripts can import.
func (i instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"run": i.run}}
}

// run runs the virtual user's shares of the load. An error becomes a JavaScript exception.
func (i instance) run() {
	if load == nil {
		common.Throw(i.vu.Runtime(), errors.New(moduleName+" works only in `assay-load client`, `run` and `ab`"))
	}
	if err := load.RunShares(i.vu.Context()); err != nil {
		common.Throw(i.vu.Runtime(), err)
	}
}

// endNotifier is a k6 output that discards all samples and calls load.Ended when
// the test has ended.
type endNotifier struct{}

// Description implements output.Output.
func (endNotifier) Description() string { return outputName }

// Start implements output.Output. k6 calls it before it creates virtual users.
func (endNotifier) Start() error { return nil }

// AddMetricSamples implements output.Output. It discards k6's own metrics.
func (endNotifier) AddMetricSamples([]metrics.SampleContainer) {}

// Stop implements output.Output. k6 calls StopWithTestError instead.
func (n endNotifier) Stop() error { return n.StopWithTestError(nil) }

// StopWithTestError implements output.WithStopWithTestError. k6 calls it when the
// test has ended, with the test's error.
func (endNotifier) StopWithTestError(err error) error {
	if load != nil {
		load.Ended(err)
	}
	return nil
}
