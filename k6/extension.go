// Package k6 is an extension of k6 that makes a build of k6 a client of Assay, in an image for clients.image:
//
//	xk6 build --with github.com/assay-dev/assay/k6 --with EXTENSION
//
// It adds the output that measures, and the command "k6 x assay". It has no API.
package k6

import (
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.k6.io/k6/v2/cmd/state"
	"go.k6.io/k6/v2/subcommand"

	"github.com/assay-dev/assay/k6/commandline"
)

func init() {
	subcommand.RegisterExtension("assay", func(*state.GlobalState) *cobra.Command { return commandline.Extension(version()) })
}

// version returns the version of this module.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/assay-dev/assay/k6" {
				return module.Version
			}
		}
	}
	return "dev"
}
