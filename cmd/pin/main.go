// Command pin starts a server on some of the CPUs that its container may use, in a target's pod whose load alternates with that of
// other variants. The server's image doesn't have it: an init container copies it from Assay's. The agent can't do this,
// whose program nobody may read.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/assay-dev/assay/internal/affinity"
	"github.com/assay-dev/assay/internal/selfcopy"
)

const usage = `usage: pin copy FILE
       pin N COMMAND [ARG...]

Copies this program to FILE; or executes COMMAND in place of this program, on the N CPUs
with the highest numbers of those that this process may use. A process that may use no
more than N keeps those that it has. Assay starts both. Don't start them yourself.`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("want at least 2 arguments\n\n%s", usage)
	}
	if args[0] == "copy" {
		return selfcopy.Copy(args[1])
	}
	cpus, err := strconv.Atoi(args[0])
	if err != nil || cpus < 1 {
		return fmt.Errorf("number of CPUs: must be at least 1: %q", args[0])
	}
	return affinity.ExecOnHighest(cpus, args[1:])
}
