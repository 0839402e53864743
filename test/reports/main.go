// Command reports repeats the published reports in config/reports at their small size on the local cluster, and
// writes what came out to a directory.
//
// It needs a cluster on which Assay is installed, with the images of the tests, and the programs kubectl and
// kubectl-assay.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/assay-dev/assay/test/local"
)

const help = `Usage: reports [flags]

Applies the resources of config/reports/REPORT/small one file after the other, waits until their
runs have ended, and prints what they are doing. What the commands in the comment of a file print is
written to OUTPUT/REPORT/FILE.md with the machine and the date, and next to it a page (HTML) and the
text report of each run, or the page of each round. A result that isn't valid is written as well.

Examples:
  make reports                                       all of them
  make reports ARGS='-list'                          the files, in their order
  make reports ARGS='-only r1,r3'                    two reports
  make reports ARGS='-only r2/r2-clients-small'      one file of a report

Exit codes:
  0    every run and every round has ended with a result, valid or not
  1    one of them failed
  2    the command line is invalid, or the cluster can't be reached
  130  interrupted

It uses the cluster of $KUBECONFIG. Nothing else must use the machine meanwhile.

Flags:
`

// resourceDirectory holds the reports as resources.
const resourceDirectory = "config/reports"

func main() {
	os.Exit(run())
}

func run() int {
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	only := flag.String("only", "", "Reports and files, separated by commas; all if empty.")
	output := flag.String("output", "docs/reports", "Directory for what came out.")
	list := flag.Bool("list", false, "List the files and exit.")
	flag.Parse()
	chosen, err := choose(resourceDirectory, *only)
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("there are no arguments: %v", flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reports:", err)
		return 2
	}
	if *list {
		for i := range chosen {
			fmt.Println(chosen[i].name())
		}
		return 0
	}
	c, err := local.Connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reports:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return repeatAll(ctx, c, chosen, *output)
}

// repeatAll repeats the files one after the other, each in a namespace of its own, and returns the exit code.
func repeatAll(ctx context.Context, c *local.Cluster, chosen []file, output string) int {
	began, code := time.Now(), 0
	for i := range chosen {
		f := &chosen[i]
		at := time.Now()
		fmt.Printf("%s (%d of %d)\n", f.name(), i+1, len(chosen))
		err := f.repeat(ctx, c, output)
		if ctx.Err() != nil {
			return 130
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "reports: %s: %s\n", f.name(), err)
			code = 1
		}
		fmt.Printf("%s took %s\n\n", f.name(), time.Since(at).Round(time.Second))
	}
	fmt.Printf("%d files in %s\n", len(chosen), time.Since(began).Round(time.Second))
	return code
}
