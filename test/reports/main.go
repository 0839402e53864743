// Command reports repeats the published reports in config/reports at their small size on the local cluster, and
// writes what came out to a directory.
//
// It needs a cluster on which Assay is installed, with the images of the tests, and the programs kubectl and
// kubectl-assay.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: reports [flags]

Applies the resources of config/reports/REPORT/small one file after the other, waits until their
runs have ended, and prints what they are doing. What the commands in the comment of a file print is
written to OUTPUT/REPORT/FILE.md with the machine and the date, and next to it a page (HTML) and the
text report of each run and round. A result that isn't valid is written as well. The tables of
claims in OUTPUT/README.md, and at the head of the pages of files with claims, are written from all
rounds with claims, of which OUTPUT has the JSON.

Examples:
  make reports                                       all of them
  make reports ARGS='-list'                          the files, in their order
  make reports ARGS='-only r1,r3'                    two reports
  make reports ARGS='-only r2/r2-clients-small'      one file of a report

A run that fails, or a round that ends without a result, is not as expected; one that isn't valid is.
It uses the cluster of $KUBECONFIG. Nothing else must use the machine meanwhile.
`

// resourceDirectory holds the reports as resources.
const resourceDirectory = "config/reports"

func main() {
	only := flag.String("only", "", "Reports and files, separated by commas; all if empty.")
	output := flag.String("output", "docs/reports", "Directory for what came out.")
	list := flag.Bool("list", false, "List the files and exit.")
	(&harness.Program{Name: "reports", Help: help, Run: func(ctx context.Context, _ []string) error { return run(ctx, *only, *output, *list) }}).Main()
}

func run(ctx context.Context, only, output string, list bool) error {
	chosen, err := choose(resourceDirectory, only)
	if err != nil {
		return err
	}
	if list {
		for i := range chosen {
			fmt.Println(chosen[i].name())
		}
		return nil
	}
	c, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	return errors.Join(repeatAll(ctx, c, chosen, output), writeClaims(resourceDirectory, output))
}

// repeatAll repeats the files one after the other, each in a namespace of its own.
func repeatAll(ctx context.Context, c *harness.Cluster, chosen []file, output string) error {
	began, failed := time.Now(), 0
	for i := range chosen {
		f := &chosen[i]
		at := time.Now()
		fmt.Printf("%s (%d of %d)\n", f.name(), i+1, len(chosen))
		err := f.repeat(ctx, c, output)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "reports: %s: %s\n", f.name(), err)
			failed++
		}
		fmt.Printf("%s took %s\n\n", f.name(), time.Since(at).Round(time.Second))
	}
	fmt.Printf("%d files in %s\n", len(chosen), time.Since(began).Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d files: %w", failed, harness.ErrMissed)
	}
	return nil
}
