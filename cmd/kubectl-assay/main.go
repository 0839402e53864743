// Command kubectl-assay is a kubectl plugin. If it is on the PATH, "kubectl assay"
// watches BenchmarkRuns and prints their reports.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// version is set by the linker.
var version = "development"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code := exit.Report(streams.ErrOut, plugin.NewCommand(streams, version).ExecuteContext(ctx))
	stop()
	os.Exit(code)
}
