// Package carrier runs k6 as the carrier of a load: k6's scenario has a few
// virtual users, each of which calls Assay's Go module and there carries its
// share of the connections. k6 counts nothing of it; what is measured is the
// recorder's.
package carrier

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"go.k6.io/k6/v2/cmd"
)

// Load is what the virtual users carry.
type Load interface {
	// Carry is called by each virtual user, and carries its share until the load
	// ends or the context does: k6's interrupts reach only JavaScript.
	Carry(ctx context.Context) error
	// Ended is called when k6 has ended its test, with its error or nil, before it
	// exits; it may hold that up.
	Ended(err error)
}

// load is what this process carries. k6 makes its modules and outputs itself,
// so that it can't be handed to them.
var load Load

//go:embed carrier.js
var script string

// Run has k6 carry a load by a number of virtual users. It doesn't return: k6
// exits the process, with 0 when the load was carried to its end.
func Run(l Load, users int) error {
	load = l
	if err := feed(fmt.Sprintf("const users = %d;\n%s", users, script)); err != nil {
		return fmt.Errorf("hand k6 its script: %w", err)
	}
	K6("run", "-", "--quiet", "--no-color", "--address", "", "--out", outputName,
		"--no-usage-report", "--no-thresholds", "--summary-mode=disabled", "--no-setup", "--no-teardown")
	return nil
}

// K6 runs k6's own command line. It doesn't return: k6 exits the process.
func K6(args ...string) {
	os.Args = append([]string{"k6"}, args...)
	cmd.Execute()
}

// KeepToItself has k6 leave the internet alone: by default it reports its use
// and fetches extensions that a script asks for.
func KeepToItself() error {
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

// feed makes a text the standard input, from where k6 reads a script without a
// file system to write it to. A pipe holds far more than it has.
func feed(text string) error {
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
