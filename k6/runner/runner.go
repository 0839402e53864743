// Package runner runs k6 in this process, for scripts: built-in loads don't start it.
package runner

import (
	"errors"
	"os"

	"go.k6.io/k6/v2/cmd"
)

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
