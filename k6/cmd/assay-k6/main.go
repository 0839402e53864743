// Command assay-k6 runs k6 scripts for assay-load, which hands over to it: it is k6 with an output that measures
// as Assay's own driver does. Only scripts, and loads by k6, need it.
package main

import (
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/k6/commandline"
)

// version is set by the linker.
var version = "dev"

func main() { command.Execute(commandline.Root(version)) }
